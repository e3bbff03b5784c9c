import assert from "node:assert/strict";
import { test } from "node:test";

import {
  automaticRange,
  createScale,
  intensityTicks,
  rateTicks,
  shareRange,
  shareTicks,
  withoutStrays,
} from "../../../static/js/chart/axes.js";

const BOX = { width: 600, height: 400, margin: { l: 80, r: 20, t: 10, b: 40 } };
/** @param {number} a @param {number} b */
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("the automatic range follows the time, or all ops", () => {
  const dots = [
    { x: 1, y: 4, weight: 0.995 },
    { x: 1, y: -4, weight: 0.005 },
  ];
  const corner = { x: 2, y: 5 };
  const [, byTime] = automaticRange(dots, [corner], "time");
  const [, all] = automaticRange(dots, [corner], "all");
  assert.ok(byTime[0] > -4 && all[0] < -4);
  assert.ok(byTime[1] > 5, "the roof is always inside");
  assert.deepEqual(automaticRange([], [], "time").length, 2);
});

test("pixels and values are each other's inverse", () => {
  const scale = createScale(
    [
      [-2, 4],
      [0, 6],
    ],
    BOX,
  );
  near(scale.fromX(scale.toX(1.25)), 1.25);
  near(scale.fromY(scale.toY(2.5)), 2.5);
  near(scale.toX(-2), 80);
  near(scale.toY(0), 360);
});

test("ticks are decades, and 1, 2, 5 on a short range", () => {
  assert.deepEqual(intensityTicks([-1, 3], 600).labels, ["0.1", "1", "10", "100", "1,000"]);
  assert.deepEqual(
    rateTicks([4.6, 5.4], 300).labels.map((label) => label.replace(/\u00a0/g, " ")),
    ["50 TFLOP/s", "100 TFLOP/s", "200 TFLOP/s"],
  );
  assert.ok(intensityTicks([-12, 12], 300).values.length <= 8);
});

test("heights as shares of roofs are fitted to nearly all of the time, with the roof in sight", () => {
  const dots = [
    { x: 1, y: -0.3, weight: 0.98 },
    { x: 2, y: -0.7, weight: 0.01 },
    { x: 5, y: -3, weight: 0.01 },
  ];
  const [, byTime] = shareRange(dots, "time");
  near(byTime[0], -0.8);
  near(byTime[1], 0.2);
  near(shareRange(dots, "all")[1][0], -3.1);
  near(shareRange([{ x: 1, y: 4, weight: 1 }], "time")[1][1], 0.8);
  near(shareRange(dots, "time", { x: 3, y: -0.4 })[0][1], 3.22); // the program is never cut off
  assert.deepEqual(shareTicks([-1, 0.2], 300).labels.slice(-1), ["100\u202f%"]);
});

test("a few dots far below all others are left out of the range", () => {
  /** @param {number[]} weights */
  const kept = (weights) =>
    withoutStrays([4, -3, 3.5, -2.5].map((y, i) => ({ x: 0, y, weight: weights[i] })))
      .map(({ y }) => y)
      .sort((a, b) => b - a);
  assert.deepEqual(kept([0.6, 0.002, 0.395, 0.003]), [4, 3.5]);
  assert.deepEqual(kept([0.6, 0.02, 0.35, 0.03]), [4, 3.5, -2.5, -3]);
  assert.deepEqual(withoutStrays([]), []);
});
