import assert from "node:assert/strict";
import { test } from "node:test";

import {
  automaticRange,
  createScale,
  intensityTicks,
  rateTicks,
} from "../../../static/js/chart/axes.js";
import {
  edgeNotes,
  logPlace,
  markerSize,
  nearest,
  packDiscs,
  placePoints,
  thinOut,
} from "../../../static/js/chart/points.js";
import {
  attainable,
  flatPlaces,
  mainMemory,
  ridge,
  roofLines,
  slantedLabels,
  usedRoofs,
  visibleRoofs,
} from "../../../static/js/chart/roofs.js";

const HBM = { id: "hbm", label: "HBM", gibs: 931.3, gbs: 1000 };
const VMEM = { id: "vmem_read", label: "VMEM read", gibs: 9313, gbs: 10_000 };
const PEAK = { id: "peak", label: "Compute", gflops: 100_000 };
const ROOFS = { memory: [HBM, VMEM], compute: [PEAK] };
const BOX = { width: 600, height: 400, margin: { l: 80, r: 20, t: 10, b: 40 } };
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("the slanted roof uses bytes of ten to the nine", () => {
  near(10 ** attainable(0, HBM, PEAK), 1000);
  near(10 ** attainable(5, HBM, PEAK), 100_000);
  const corner = ridge(HBM, PEAK);
  near(10 ** corner.x, 100);
  near(10 ** corner.y, 100_000);
});

test("an unknown peak leaves the other roof", () => {
  near(attainable(1, HBM, null), 4);
  near(attainable(1, null, PEAK), 5);
  assert.equal(attainable(1, null, null), Infinity);
  assert.equal(ridge(HBM, null), null);
});

test("roofs in use are those that bound an op, and the axis's own", () => {
  const used = (...levels) => ({ levels: new Set(levels), compute: new Set() });
  assert.deepEqual(visibleRoofs(ROOFS, "auto", used("vmem_read"), "bottleneck").memory, [VMEM]);
  assert.deepEqual(visibleRoofs(ROOFS, "auto", used("hbm"), "vmem_read").memory, [HBM, VMEM]);
  assert.deepEqual(visibleRoofs(ROOFS, "auto", used(), "bottleneck").memory, [HBM]);
  assert.deepEqual(visibleRoofs(ROOFS, "auto", used(), "joined").memory, [HBM, VMEM]);
  assert.deepEqual(visibleRoofs(ROOFS, "all", used(), "bottleneck"), ROOFS);
  assert.deepEqual(visibleRoofs(ROOFS, "none", used("hbm"), "hbm"), { memory: [], compute: [] });
  assert.equal(mainMemory(ROOFS.memory, "vmem_read"), VMEM);
});

test("of several compute roofs the main one and those in use are shown", () => {
  const compute = [
    PEAK,
    { ...PEAK, id: "vector_fp32", gflops: 8000 },
    { ...PEAK, id: "matrix_int8", gflops: 200_000 },
  ];
  const rows = [
    { bound: 0, unit: 1 },
    { bound: 1, unit: null },
  ];
  const used = usedRoofs(rows, {
    bounds: [{}, { level: "hbm" }],
    boundOf: (row) => row.bound,
    computeOf: (row) => row.unit,
  });
  assert.deepEqual(
    visibleRoofs({ memory: [HBM], compute }, "auto", used, "bottleneck").compute,
    compute.slice(0, 2),
  );
});

test("labels of flat roofs never overlap; one without room is left out", () => {
  const labels = [
    { roof: "main", y: 100, width: 150 },
    { roof: "near", y: 108, width: 100 },
    { roof: "far", y: 200, width: 100 },
    { roof: "crowded", y: 104, width: 300 },
  ];
  assert.deepEqual(flatPlaces(labels, { left: 80, right: 580 }), [
    { roof: "main", right: 580 },
    { roof: "near", right: 420 },
    { roof: "far", right: 580 },
  ]);
});

test("lines reach past both edges, the flat one starts at the leftmost ridge", () => {
  const lines = roofLines(ROOFS, [-2, 4]);
  for (const { kind, points } of lines) {
    if (kind === "slanted") {
      assert.ok(points[0][0] <= -2);
      near(points[1][0] - points[0][0], points[1][1] - points[0][1]);
    } else {
      near(points[0][0], 1);
      assert.ok(points[1][0] >= 4);
    }
  }
  const [alone] = roofLines({ memory: [HBM], compute: [] }, [-2, 4]);
  assert.ok(alone.points[1][0] >= 4);
});

test("labels of close lines do not share a place", () => {
  const close = { ...VMEM, gbs: 1100, id: "other" };
  const scale = createScale(
    [
      [-2, 4],
      [0, 6],
    ],
    BOX,
  );
  const labels = slantedLabels(
    roofLines({ memory: [HBM, close], compute: [PEAK] }, scale.xRange),
    scale,
    () => 100,
  );
  assert.equal(labels.length, 2);
  assert.ok(Math.abs(labels[0].x - labels[1].x) > 0.5);
});

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
