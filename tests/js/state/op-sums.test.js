import assert from "node:assert/strict";
import { test } from "node:test";

import { groupFilter } from "../../../static/js/state/group-keys.js";
import { sumOf } from "../../../static/js/state/op-sums.js";
import { createModel } from "../../../static/js/state/model.js";
import { pageWith } from "../builders.js";

/** @import { OpTuple } from "../builders.js" */

/** @type {OpTuple[]} */
const OPS = [
  ["mm.1", "fusion", "HBM", "known", 0.25, 1, 10],
  ["mm.2", "fusion", "HBM", "known", 0.26, 1, 10],
  ["mm.3", "fusion", "HBM", "known", 0.325, 1, 10],
  ["call", "custom", "Unknown", "unknown", 0.1],
  ["while", "while", "Unknown", "known", 0.05, 1, 10],
  ["IDLE", "IDLE", "Unknown", "idle", 0.015],
];
const TIMES = [100, 104, 130, 40, 20, 6];

function model() {
  const page = pageWith(OPS);
  const { columns } = page.ops;
  columns.self_time_per_core_us = TIMES;
  // Three layers of equal work: the same FLOPs, at the rate that the time makes.
  columns.total_time_us = TIMES;
  columns.flop_rate_gflops = TIMES.map((us, i) => (i === 3 || i === 5 ? null : 1000 / us));
  columns.roofline_efficiency_ratio = [0.5, 0.5, 2, null, null, null];
  page.ops.groups = {
    names: ["net", "layer_0", "layer_1", "layer_2", "head", "IDLE", "dot", "forward"],
    containers: [4],
    module: [[0], [0], [0], [0, 4], [0, 4], [5]],
    layer: [[0, 1], [0, 2], [0, 3], [0, 4], [0, 4], [5]],
    source: [[], [], [], [], [], [5]],
    kernel: [[6], [6], [6], [], [], [5]],
    dtype: [[], [], [], [], [], [5]],
    phase: [[7], [7], [7], [], [], [5]],
  };
  return createModel(page);
}

test("a sum says of which share of the time its work is known, and its intensity is of ops that say both", () => {
  const seen = model();
  seen.ops.columns.memory_bandwidth_gibs = [1, null, 1, null, null, null].map((gib, i) =>
    gib === null ? null : (gib * 1e6) / (TIMES[i] * 2 ** 30),
  );
  const view = seen.view("in");
  const rows = [0, 1, 3].flatMap((op) => view.byOp.get(op) ?? []);
  const sum = sumOf(seen, view, rows);
  assert.equal(sum.time, 244);
  assert.ok(Math.abs(sum.share - 0.61) < 1e-9);
  assert.ok(Math.abs((sum.flop ?? 0) - 2e6) < 1);
  assert.ok(Math.abs(sum.flopKnown - 204 / 244) < 1e-9);
  assert.ok(Math.abs((sum.bytes ?? 0) - 1) < 1e-9);
  assert.ok(Math.abs((sum.intensity ?? 0) - 1e6) < 1, "FLOPs and bytes of the first op alone");
  assert.ok(Math.abs(sum.intensityKnown - 100 / 244) < 1e-9);
  assert.equal(sumOf(seen, view, rows.slice(2)).flop, null);
});

test("the work of a container is not counted twice, and the share of the roof is at most 1", () => {
  const made = model();
  const view = made.view("in");
  const { flop, flopKnown, efficiency } = sumOf(made, view, view.rows);
  assert.ok(Math.abs(Number(flop) - 3e6) < 1);
  assert.ok(flopKnown < 1);
  assert.ok(Math.abs(Number(efficiency) - (100 * 0.5 + 104 * 0.5 + 130) / 334) < 1e-12);
});

test("a group filters to its operations", () => {
  const made = model();
  const view = made.view("in");
  const isIn = groupFilter(made, view, "layer", "net › layer_1");
  assert.deepEqual(
    view.rows.filter(isIn).map(({ name }) => name),
    ["mm.2"],
  );
});
