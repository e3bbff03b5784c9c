import assert from "node:assert/strict";
import { test } from "node:test";

import { causeOf, isOver } from "../../../static/js/metrics/above-roof.js";
import { pageWith } from "../builders.js";

const { columns } = pageWith([
  ["gemm", "fusion", "Compute", "known", 0.5],
  ["copy-start", "copy", "HBM", "known", 0.5],
]).ops;
columns.compute_cause = ["estimate", "estimate"];
columns.memory_cause = ["asynchronous", "asynchronous"];

test("a hair above the roof is rounding", () => {
  assert.ok(!isOver(1.0004));
  assert.ok(isOver(1.001));
  assert.ok(!isOver(null));
});

test("the cause is that of what binds: counts of FLOPs, or of bytes", () => {
  assert.equal(causeOf(columns, 0, { bound_by: 1, roofline_efficiency_ratio: 2 }), "estimate");
  assert.equal(causeOf(columns, 1, { bound_by: 2, roofline_efficiency_ratio: 3 }), "asynchronous");
});

test("a profile without causes gives none", () => {
  const without = { ...columns, compute_cause: undefined };
  assert.equal(causeOf(without, 0, { bound_by: 1, roofline_efficiency_ratio: 2 }), null);
});

test("below its roof an op needs no cause", () => {
  assert.equal(causeOf(columns, 0, { bound_by: 1, roofline_efficiency_ratio: 0.9 }), null);
});
