import assert from "node:assert/strict";
import { test } from "node:test";

import { createScale } from "../../../static/js/chart/axes.js";
import {
  edgeNotes,
  logPlace,
  markerSize,
  nearest,
  packDiscs,
  placePoints,
  thinOut,
} from "../../../static/js/chart/points.js";

const BOX = { width: 600, height: 400, margin: { l: 80, r: 20, t: 10, b: 40 } };
/** @param {number} a @param {number} b */
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

/** @param {string} name @param {number} share */
const row = (name, share) => ({ name, share });

test("points off the chart stay as counted marks on its edge", () => {
  const scale = createScale(
    [
      [0, 2],
      [0, 2],
    ],
    BOX,
  );
  const dots = [
    { row: row("in", 0.5), x: 1, y: 1 },
    { row: row("low", 0.1), x: 1, y: -3 },
    { row: row("far", 0.1), x: 9, y: 1 },
  ];
  const points = placePoints(dots, scale, () => "circle", "time", true);
  assert.deepEqual(
    points.map((point) => point.edge),
    [null, "below", "right"],
  );
  for (const point of points)
    assert.ok(point.px >= 80 && point.px <= 580 && point.py >= 10 && point.py <= 360);
  assert.deepEqual(edgeNotes(points), {
    left: "",
    right: "▷ 1 right",
    above: "",
    below: "▽ 1 below",
  });
  const zoomed = placePoints(dots, scale, () => "circle", "time", false);
  assert.ok(zoomed.every((point) => !point.pinned) && zoomed.length === 3);
});

test("an op without FLOPs, bytes or cost has no place", () => {
  assert.equal(logPlace(0, 0), null);
  assert.equal(logPlace(null, 5), null);
  assert.deepEqual(logPlace(10, 100), [1, 2]);
});

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

test("ten thousand steps on a few spots need a few marks, a few steps keep one each", () => {
  const places = Array.from({ length: 10_000 }, (_, i) => ({ px: i % 5, py: (i % 7) / 10 }));
  assert.ok(thinOut(places, 300).length <= 14);
  assert.equal(thinOut(places.slice(0, 50), 300).length, 50);
  assert.ok(
    thinOut(
      Array.from({ length: 10_000 }, (_, i) => ({ px: i % 100, py: Math.floor(i / 100) })),
      300,
    ).length <= 300,
  );
});
