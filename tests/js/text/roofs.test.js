import assert from "node:assert/strict";
import { test } from "node:test";

import { createModel } from "../../../static/js/state/model.js";
import {
  isOver,
  isPeakOf,
  isWhatIf,
  unheldReader,
  unheldUnit,
} from "../../../static/js/text/roofs.js";
import { computeRoof, pageWith, workUnit } from "../builders.js";

test("a hair above the roof is rounding", () => {
  assert.ok(!isOver(1.0004));
  assert.ok(isOver(1.001));
  assert.ok(!isOver(null));
});

test("peaks that mean nothing here are known as such", () => {
  const page = pageWith([["a", "fusion", "HBM", "known", 1, 10, 100]]);
  page.units.push(workUnit("matrix_int8", "int8"));
  const keys = ["compute", "hbm", "dram", "matrix_int8", "lds", "matrix_fp4"];
  assert.deepEqual(
    keys.map((key) => isPeakOf(page, key)),
    [true, true, true, true, false, false],
  );
});

test("without a choice there is no what-if", () => {
  assert.equal(isWhatIf({ dev: null, peaks: {} }), false);
  assert.equal(isWhatIf({ dev: null, peaks: { hbm: 1 } }), true);
});

/**
 * Two ops split by unit: one on fp32, which has a roof, one on int8 and a little int4, which have
 * none.
 */
function opened() {
  const page = pageWith([
    ["fp32", "fusion", "Compute", "known", 0.5, 10, 100],
    ["int8", "fusion", "Unknown", "known", 0.5, 10, 100],
    ["none", "fusion", "Unknown", "no_flops", 0, 10, 0],
  ]);
  page.units.push(
    workUnit("vector_fp32", "fp32"),
    workUnit("matrix_int4", "int4"),
    workUnit("matrix_int8", "int8"),
  );
  page.roofs.compute = [computeRoof(1000, { id: "vector_fp32", unit: "vector_fp32" })];
  Object.assign(page.ops.columns, {
    compute_unit: [0, null, null],
    vector_fp32_flop_rate_gflops: [100, 0, 0],
    matrix_int4_flop_rate_gflops: [0, 10, 0],
    matrix_int8_flop_rate_gflops: [0, 90, 0],
  });
  const model = createModel(page);
  return { model, view: model.view("in") };
}

test("work on a unit without a peak is held against no flat roof", () => {
  const { model, view } = opened();
  assert.deepEqual(view.rows.map(unheldReader(model, view)), [false, true, false]);
});

test("the unit used most of those without a peak is named", () => {
  const { model, view } = opened();
  assert.deepEqual(
    view.rows.map((row) => unheldUnit(model, view, row)),
    [null, "int8", null],
  );
});

test("without a split by unit all work is held against the main roof", () => {
  const model = createModel(pageWith([["a", "fusion", "Compute", "known", 1, 10, 100]]));
  assert.deepEqual(model.view("in").rows.map(unheldReader(model, model.view("in"))), [false]);
});
