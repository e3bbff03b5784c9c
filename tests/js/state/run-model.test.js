import assert from "node:assert/strict";
import { test } from "node:test";

import { lowerMedian, readRun, unpack } from "../../../static/js/state/run-model.js";
import { packed, runData } from "../runs.js";

test("a packed column keeps what is not known apart from zero", () => {
  assert.deepEqual([...unpack(packed([0, 1.5, null]))], [0, 1.5, NaN]);
});

test("the lower median is the value of a host", () => {
  assert.equal(lowerMedian([4, 1, null, 3, 2]), 2);
  assert.equal(lowerMedian([null]), null);
});

test("hosts have their chips, verdicts and critical steps", () => {
  const { hosts, medians, representative } = readRun(runData());
  const [a, , slow, d, broken] = hosts;
  assert.deepEqual(
    slow.chips.map(({ name, isSlow }) => [name, isSlow]),
    [
      ["tpu 0", true],
      ["tpu 1", false],
    ],
  );
  assert.deepEqual([slow.kind, slow.critical, slow.slowSteps], ["slow chip", 2, 2]);
  assert.equal(slow.deviations[0].name, "mul");
  assert.deepEqual([a.kind, d.ratio, d.chips[0].ratio], ["", null, null]);
  assert.deepEqual([broken.state, broken.reason, broken.work], ["unreadable", "cut off", null]);
  assert.deepEqual([medians.work, medians.wait, medians.ratio], [100, 8, 1]);
  assert.equal(representative, "a");
});

test("operations and steps name their slowest hosts, and unknown work stays unknown", () => {
  const { ops, steps, totalOps } = readRun(runData());
  assert.deepEqual([ops[0].worst, ops[1].worst, ops[1].gflops, totalOps], ["c", "b", null, 7]);
  assert.deepEqual(
    steps.map(({ critical }) => critical),
    ["c", "c", "b"],
  );
});
