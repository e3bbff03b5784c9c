import assert from "node:assert/strict";
import { test } from "node:test";

import { criticalHosts, digitsOf, stepScale } from "../../../static/js/chart/step-places.js";
import { readRun } from "../../../static/js/state/run-model.js";
import { runData } from "../runs.js";

const { steps } = readRun(runData());
const BOX = { left: 100, right: 300, top: 0, bottom: 100 };

test("steps lie in their order, all of them inside the box", () => {
  const { toX, toY, ticks } = stepScale(steps, BOX);
  assert.deepEqual([0, 1, 2].map(toX), [100, 200, 300]);
  for (const { least, most } of steps) assert.ok(toY(least) <= 100 && toY(most) >= 0);
  assert.ok(ticks.length >= 3);
  assert.ok(ticks.every((us) => toY(us) >= 0 && toY(us) <= 100));
});

test("steps without any spread have an axis", () => {
  const flat = [{ ...steps[0], least: 100, middle: 100, p95: 100, most: 100 }];
  const { toX, toY } = stepScale(flat, BOX);
  assert.equal(toX(0), 200);
  assert.equal(toY(100), 50, "in the middle");
});

test("ticks are written with as many digits as tell them apart", () => {
  assert.equal(digitsOf([9_800, 10_000, 10_200]), 3);
  assert.equal(digitsOf([122_500, 123_000, 123_500]), 4);
});

test("hosts that are critical most often come first", () => {
  assert.deepEqual(criticalHosts(steps, 4), [
    { name: "c", count: 2 },
    { name: "b", count: 1 },
  ]);
  assert.equal(criticalHosts(steps, 1).length, 1);
});
