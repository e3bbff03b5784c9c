import assert from "node:assert/strict";
import { test } from "node:test";

import { markerSize, nearest, packDiscs } from "../../../static/js/chart/points.js";

/** @param {number} a @param {number} b */
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("marker area is the share of time, the same for every shape", () => {
  near((markerSize(0.04, "circle", "time") / markerSize(0.01, "circle", "time")) ** 2, 4);
  assert.equal(markerSize(0.5, "circle", "equal"), markerSize(0.001, "circle", "equal"));
});

test("packed discs do not hide each other while there is room", () => {
  const discs = Array.from({ length: 10 }, () => ({ x: 100, radius: 3 }));
  const { offsets, crowded } = packDiscs(discs, 45);
  assert.equal(crowded, 0);
  for (let i = 0; i < offsets.length; i += 1) {
    for (let j = 0; j < i; j += 1) assert.ok(Math.abs(offsets[i] - offsets[j]) > 5);
  }
  assert.ok(
    packDiscs(
      Array.from({ length: 100 }, () => ({ x: 0, radius: 4 })),
      45,
    ).crowded > 0,
  );
});

test("the pointer finds the small disc on top of a large one", () => {
  const large = { px: 100, py: 100, radius: 30 };
  const small = { px: 112, py: 100, radius: 4 };
  assert.equal(nearest([large, small], 112, 100), small);
  assert.equal(nearest([large, small], 85, 100), large);
  assert.equal(nearest([small], 200, 100), null);
});
