import assert from "node:assert/strict";
import { test } from "node:test";

import { createModel } from "../../../static/js/state/model.js";
import { clocksOf } from "../../../static/js/text/clock-words.js";
import { pageWith, plain, there } from "../builders.js";

/** @import { Get } from "../../../static/js/text/op-facts.js" */

const model = createModel(
  pageWith([], {
    clocks: [
      {
        id: "compute",
        label: "Compute",
        kind: "compute",
        token: "--roof-compute",
        dash: "solid",
        column: "compute_clock_us",
      },
      {
        id: "hbm",
        label: "HBM",
        kind: "memory",
        token: "--roof-hbm",
        dash: "solid",
        column: "hbm_clock_us",
      },
    ],
  }),
);

/** @param {Record<string, number | null>} values of four cores together */
const clocks = (values) =>
  clocksOf(model, /** @type {Get} */ ((/** @type {string} */ id) => values[id] ?? null));
const OP = { total_time_us: 400, total_time_per_core_us: 100 };

test("each clock is per core, the longest is marked, the measured time lies beside them", () => {
  const times = {
    ...OP,
    compute_clock_us: 80,
    hbm_clock_us: 200,
    t_min_us: 200,
    t_max_us: 280,
    above_t_max_us: 120,
  };
  const found = there(clocks(times));
  assert.deepEqual(
    found.times.map(({ clock, us, isLongest }) => [clock.id, us, isLongest]),
    [
      ["compute", 20, false],
      ["hbm", 50, true],
    ],
  );
  assert.deepEqual([found.measured, found.longest], [100, 100]);
  assert.equal(
    plain(found.sentence),
    "At best 50.0 µs, if all of it overlaps; 70.0 µs if nothing does. It took 30.0 µs longer than that: latency, or work that was not counted.",
  );
});

test("between both times, below them, and at the ridge", () => {
  const base = {
    ...OP,
    compute_clock_us: 300,
    hbm_clock_us: 310,
    t_max_us: 610,
    above_t_max_us: 0,
  };
  assert.match(
    there(clocks({ ...base, t_min_us: 310, at_ridge: 1 })).sentence,
    /lies between\. At the ridge:/,
  );
  assert.match(there(clocks({ ...base, t_min_us: 500 })).sentence, /is less than that\.$/);
});

test("without a known bound there are no clocks", () => {
  assert.equal(clocks({ ...OP, t_min_us: null, t_max_us: null }), null);
});
