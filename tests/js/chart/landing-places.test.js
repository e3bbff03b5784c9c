import assert from "node:assert/strict";
import { test } from "node:test";

import { lineBetween, movesOf } from "../../../static/js/chart/landing-places.js";

/** Ten pixels a decade, upwards. */
const scale = /** @type {any} */ ({
  toX: (/** @type {number} */ x) => 10 * x,
  toY: (/** @type {number} */ y) => -10 * y,
});
/** @param {string} name */
const point = (name) =>
  /** @type {any} */ ({ x: 1, y: 2, px: 10, py: -20, radius: 3, row: { name } });
const halved = { name: "a", time_ratio: 0.1, flop_ratio: 1, bytes_ratio: 0.01, level: "hbm" };

test("fewer bytes move a point right, less time moves it up", () => {
  const [move] = movesOf([halved], [point("a"), point("b")], scale, "bottleneck");
  assert.deepEqual(move.to, { px: 30, py: -30, radius: 3 });
});

test("on the axis of another memory a point only moves up", () => {
  const [move] = movesOf([halved], [point("a")], scale, "l2");
  assert.deepEqual(move.to, { px: 10, py: -30, radius: 3 });
});

test("fewer FLOPs move a point left, and its rate falls with them", () => {
  const landing = { name: "a", time_ratio: 0.1, flop_ratio: 0.1, bytes_ratio: 1, level: "hbm" };
  const [move] = movesOf([landing], [point("a")], scale, "hbm");
  assert.deepEqual(move.to, { px: 0, py: -20, radius: 3 });
});

test("a line leads from rim to rim, and is left out where marks touch", () => {
  const at = (/** @type {number} */ px) => ({ px, py: 0, radius: 2 });
  assert.deepEqual(lineBetween(at(0), at(10)), [2, 0, 8, 0]);
  assert.equal(lineBetween(at(0), at(4)), null);
});
