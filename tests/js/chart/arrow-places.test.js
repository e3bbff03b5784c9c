import assert from "node:assert/strict";
import { test } from "node:test";

import {
  arrowScale,
  legs,
  memoryShare,
  placeOf,
  radiusOf,
  roofAt,
} from "../../../static/js/chart/arrow-places.js";
import { changeRow, rowSide } from "../comparisons.js";

const V1 = { gflops: 100_000, gbs: 1000, memory: "HBM" };
const V2 = { gflops: 200_000, gbs: 1000, memory: "HBM" };
const NONE = { gflops: null, gbs: null, memory: null };
const BOX = { width: 600, height: 400, margin: { l: 60, r: 10, t: 10, b: 40 } };

/** @param {number} x @param {number} y */
const near = (x, y) => assert.ok(Math.abs(x - y) < 1e-12, `${x}, ${y}`);

test("a side lies at its intensity and rate, or nowhere", () => {
  assert.deepEqual(placeOf(rowSide({ flop: 1e6, bytes: 1e4, timeUs: 10 })), { x: 2, y: 2 });
  for (const given of [{ flop: null }, { flop: 0 }, { bytes: null }, { bytes: 0 }, { timeUs: 0 }])
    assert.equal(placeOf(rowSide(given)), null);
  assert.equal(placeOf(null), null);
});

test("the first leg runs along the roof of A: its slope below the ridge, flat above it", () => {
  const { along, peaks } = legs({ x: 0, y: 1 }, { x: 1, y: 3 }, { a: V1, b: V1 });
  assert.deepEqual(along, { x: 1, y: 2 });
  assert.deepEqual(peaks, along, "the same device has no leg of peaks");
  const flat = legs({ x: 3, y: 1 }, { x: 4, y: 1.5 }, { a: V1, b: V1 });
  assert.deepEqual(flat.along, { x: 4, y: 1 });
  const over = legs({ x: 1, y: 0 }, { x: 3, y: 1 }, { a: V1, b: V1 });
  near(over.along.y, 1);
});

test("the second leg is what the other device's roof brings", () => {
  const { along, peaks, end } = legs({ x: 3, y: 4 }, { x: 3, y: 4.1 }, { a: V1, b: V2 });
  assert.deepEqual(along, { x: 3, y: 4 });
  near(peaks.y, 4 + Math.log10(2));
  assert.deepEqual(end, { x: 3, y: 4.1 });
});

test("without roofs one leg leads from A to B", () => {
  const end = { x: 3, y: 4 };
  assert.deepEqual(legs({ x: 1, y: 1 }, end, { a: NONE, b: V1 }).along, end);
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

test("ops without FLOPs are held against the memory of their own side", () => {
  const side = rowSide({ flop: 0, bytes: 5e6, timeUs: 10 });
  assert.equal(memoryShare(side, V1), 0.5);
  assert.equal(memoryShare(side, NONE), null);
  assert.equal(memoryShare(rowSide(), V1), null, "this one has FLOPs");
});
