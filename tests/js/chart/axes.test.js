import assert from "node:assert/strict";
import { test } from "node:test";

import { createScale, intensityTicks, rateTicks } from "../../../static/js/chart/axes.js";

const BOX = { width: 600, height: 400, margin: { l: 80, r: 20, t: 10, b: 40 } };
/** @param {number} a @param {number} b */
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

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
