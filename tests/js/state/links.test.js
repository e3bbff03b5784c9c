import assert from "node:assert/strict";
import { test } from "node:test";

import { createModel, JOINED } from "../../../static/js/state/model.js";
import { peakRows } from "../../../static/js/state/peak-rows.js";
import { level, memoryRoof, pageWith } from "../builders.js";

/** A collective that does some FLOPs, as many as given, and one op that HBM binds. @param {number} gflops */
function page(gflops) {
  const found = pageWith([
    ["all-reduce", "all-reduce", "HBM", "transfer", 0.5, 10, gflops],
    ["fusion", "fusion", "HBM", "known", 0.5, 10, 100],
  ]);
  found.levels.push({ ...level("ici", "ICI"), is_link: true });
  found.x_axes.splice(-1, 0, { id: "ici", label: "ICI", column: "ici_intensity" });
  found.bounds.push({ ...found.bounds[0], id: "ICI", label: "ICI", kind: "slanted", level: "ici" });
  found.roofs.memory.push(memoryRoof(100, { id: "ici", label: "ICI" }));
  found.ops.columns.bound_by[0] = found.bounds.length - 1;
  found.ops.columns.roofline_efficiency_ratio = [0.5, 0.5];
  found.ops.columns.ici_bandwidth_gibs = [50, 0];
  found.ops.columns.ici_intensity = [1, null];
  found.ops.columns.hbm_intensity = [10, 10];
  return found;
}

test("a link can be chosen as the x axis, and is not one of the memories that are joined", () => {
  const axes = createModel(page(7)).x_axes.map(({ id }) => id);
  assert.ok(axes.includes("ici"));
  assert.ok(!axes.includes(JOINED));
});

test("the peak of a link that is not known can be entered", () => {
  const own = page(0);
  own.roofs.memory.pop();
  own.ops.columns.ici_bandwidth_gibs = [null, 0];
  const rows = peakRows(createModel(own));
  assert.deepEqual(
    rows.map(({ key, roof }) => [key, roof === null]),
    [
      ["compute", false],
      ["hbm", false],
      ["ici", true],
    ],
  );
});
