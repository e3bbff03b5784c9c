import assert from "node:assert/strict";
import { test } from "node:test";

import { createModel } from "../../../static/js/state/model.js";
import { isSamePeak, peakRows, valueOf } from "../../../static/js/state/peak-rows.js";
import { computeRoof, level, memoryRoof, pageWith, workUnit } from "../builders.js";

const own = () => pageWith([["fusion.1", "fusion", "HBM", "known", 1, 10, 100]]);

test("the main peak comes first, then the memories, then further units", () => {
  const page = own();
  page.roofs.compute.push(computeRoof(8000, { id: "vector_fp32", unit: "vector_fp32" }));
  page.units.push(workUnit("vector_fp32", "Vector fp32"), workUnit("matrix_int8", "Matrix int8"));
  const rows = peakRows(createModel(page));
  assert.deepEqual(
    rows.map(({ key, kind }) => [key, kind]),
    [
      ["compute", "gflops"],
      ["hbm", "gbs"],
      ["vector_fp32", "gflops"],
      ["matrix_int8", "gflops"],
    ],
  );
  assert.deepEqual([rows[3].label, rows[3].roof], ["Matrix int8", null]);
});

test("units and levels without a peak can be given one: compute and the main memory always, others if used", () => {
  const page = own();
  page.levels.push(level("l2", "L2"), level("l1", "L1"));
  page.roofs = { compute: [], memory: [] };
  page.ops.columns.l2_bandwidth_gibs = [5];
  page.ops.columns.l1_bandwidth_gibs = [0];
  const rows = peakRows(createModel(page));
  assert.deepEqual(
    rows.map(({ key }) => key),
    ["compute", "hbm", "l2"],
  );
  assert.ok(rows.every(({ roof }) => roof === null));
});

test("a value is in the unit it is set in", () => {
  const model = createModel(own());
  assert.equal(valueOf(model, "compute"), 100_000);
  assert.equal(valueOf(model, "hbm"), 1000);
  assert.equal(valueOf(model, "lds"), null);
});

test("six digits are the same peak", () => {
  assert.ok(isSamePeak(1638, 1637.99));
  assert.ok(!isSamePeak(1638, 1600));
  assert.ok(!isSamePeak(1638, null));
  assert.equal(memoryRoof(1638).gbs, 1638);
});
