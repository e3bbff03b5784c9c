import assert from "node:assert/strict";
import { test } from "node:test";

import { createModel } from "../../../static/js/state/model.js";
import { chosenRoofs } from "../../../static/js/metrics/peaks.js";
import { withRoofs } from "../../../static/js/metrics/whatif.js";
import { whatIfVerdict } from "../../../static/js/text/whatif-words.js";
import { plainText } from "../../../static/js/text/sentences.js";
import { pageWith, plain, programPoint } from "../builders.js";

/** @import { Segment } from "../../../static/js/types/page-data.js" */
/** @import { PeaksByKey } from "../../../static/js/types/view-state.js" */

function page() {
  const base = pageWith([["matmul", "fusion", "Compute", "known", 0.5]]);
  base.bounds = [base.bounds[2], base.bounds[0], base.bounds[1]];
  Object.assign(base.ops.columns, {
    bound_by: [1],
    self_time_per_core_us: [500],
    flop_rate_gflops: [50_000],
    operational_intensity: [200],
    memory_bandwidth_gibs: [232.83],
    hbm_bandwidth_gibs: [232.83],
    hbm_intensity: [200],
    saving_per_core_us: [250],
    roofline_efficiency_ratio: [0.5],
  });
  const total = programPoint({
    flop_rate_gflops: 40_000,
    operational_intensity: 200,
    memory_bandwidth_gibs: 186.26,
    hbm_bandwidth_gibs: 186.26,
    hbm_intensity: 200,
  });
  for (const view of Object.values(base.views))
    Object.assign(view, { program: [total], total_time_per_core_us: 1000 });
  return withRoofs(base, base.roofs);
}

/** @param {Segment[]} segments */
const said = (segments) => plain(plainText(segments));

/** @param {PeaksByKey} peaks */
function verdict(peaks) {
  const own = page();
  const { roofs } = chosenRoofs(own, null, { dev: null, peaks });
  const model = createModel(withRoofs(own, roofs));
  const found = whatIfVerdict({
    model,
    ownModel: createModel(own),
    infeed: "in",
    device: null,
    peaks,
  });
  return { headline: said(found.headline), lead: said(found.lead) };
}

test("the headline says under which peaks, and what changed", () => {
  const { headline, lead } = verdict({ hbm: 300 });
  assert.equal(
    headline,
    "With HBM at 300 GB/s, the program is HBM-bound at 67 % of the roof; by the profile’s own peaks it is compute-bound at 40 %",
  );
  assert.match(
    lead,
    /^1 operation, 50 % of the time, is bound by something else\. Reaching every roof would save 83\.3 µs per core \(own peaks: 250 µs\)/,
  );
});

test("the same bound is only compared by its share", () => {
  const { headline, lead } = verdict({ compute: 160_000 });
  assert.equal(
    headline,
    "With compute at 160 TFLOP/s, the program is compute-bound at 25 % of the roof instead of 40 %",
  );
  assert.match(lead, /^No operation changes what binds it\./);
});
