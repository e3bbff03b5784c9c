import assert from "node:assert/strict";
import { test } from "node:test";

import { arrowScale, placeOf, radiusOf, roofAt } from "../../../static/js/chart/roof-places.js";
import { changeRow, rowSide } from "../comparisons.js";

const V1 = { gflops: 100_000, gbs: 1000, memory: "HBM", unit: null };
const V2 = { gflops: 200_000, gbs: 1000, memory: "HBM", unit: null };
const NONE = { gflops: null, gbs: null, memory: null, unit: null };
const BOX = { width: 600, height: 400, margin: { l: 60, r: 10, t: 10, b: 40 } };

/** @param {number} x @param {number} y */
const near = (x, y) => assert.ok(Math.abs(x - y) < 1e-12, `${x}, ${y}`);

test("a side lies at its intensity and rate, or nowhere", () => {
  assert.deepEqual(placeOf(rowSide({ flop: 1e6, bytes: 1e4, timeUs: 10 })), { x: 2, y: 2 });
  for (const given of [{ flop: null }, { flop: 0 }, { bytes: null }, { bytes: 0 }, { timeUs: 0 }])
    assert.equal(placeOf(rowSide(given)), null);
  assert.equal(placeOf(null), null);
});

test("a roof is its slope below the ridge and flat above it", () => {
  assert.equal(roofAt(V1, 1), 4);
  assert.equal(roofAt(V1, 4), 5);
  assert.equal(roofAt(NONE, 2), null);
});

test("the area of a mark is the time", () => {
  near(radiusOf(25, 100) * 2, radiusOf(100, 100));
  assert.ok(radiusOf(0, 100) > 0);
});

test("the axes hold the arrows and the corners of both roofs", () => {
  const scale = arrowScale([changeRow("p0")], { a: V1, b: V2 }, BOX);
  assert.ok(scale.xRange[0] < 2 && scale.xRange[1] > Math.log10(200));
  assert.ok(scale.yRange[0] < 2 && scale.yRange[1] > Math.log10(200_000));
  const empty = arrowScale([], { a: NONE, b: NONE }, BOX);
  assert.ok(empty.xRange[1] > empty.xRange[0]);
});
