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
  assert.equal(
    causeOf(columns, 0, {
      bound_by: 1,
      roofline_efficiency_ratio: 2,
      memory_utilisation_ratio: null,
    }),
    "estimate",
  );
  assert.equal(
    causeOf(columns, 1, {
      bound_by: 2,
      roofline_efficiency_ratio: 3,
      memory_utilisation_ratio: null,
    }),
    "asynchronous",
  );
});

test("a profile without causes gives none", () => {
  const without = { ...columns, compute_cause: undefined };
  assert.equal(
    causeOf(without, 0, {
      bound_by: 1,
      roofline_efficiency_ratio: 2,
      memory_utilisation_ratio: null,
    }),
    null,
  );
});

test("below its roof an op needs no cause", () => {
  assert.equal(
    causeOf(columns, 0, {
      bound_by: 1,
      roofline_efficiency_ratio: 0.9,
      memory_utilisation_ratio: null,
    }),
    null,
  );
});

test("a transfer is bound by its link, and its bytes in memory are still held against that", () => {
  const moving = { ...columns, cost: columns.cost.with(0, "transfer") };
  const row = { bound_by: 0, roofline_efficiency_ratio: null, memory_utilisation_ratio: 40 };
  assert.equal(causeOf(moving, 0, row), "asynchronous");
});
