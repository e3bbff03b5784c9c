import assert from "node:assert/strict";
import { test } from "node:test";

import { createScale } from "../../../static/js/chart/axes.js";
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
import { computeRoof, memoryRoof, there } from "../builders.js";

const HBM = memoryRoof(1000);
const VMEM = memoryRoof(10_000, { id: "vmem_read", label: "VMEM read" });
const PEAK = computeRoof(100_000);
const ROOFS = { memory: [HBM, VMEM], compute: [PEAK] };
const BOX = { width: 600, height: 400, margin: { l: 80, r: 20, t: 10, b: 40 } };
/** @param {number} a @param {number} b */
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("the slanted roof uses bytes of ten to the nine", () => {
  near(10 ** attainable(0, HBM, PEAK), 1000);
  near(10 ** attainable(5, HBM, PEAK), 100_000);
  const corner = there(ridge(HBM, PEAK));
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
  /** @param {...string} levels */
  const used = (...levels) => ({
    levels: new Set(levels),
    compute: new Set(),
    isUnheld: false,
  });
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
    isUnheld: () => false,
  });
  assert.deepEqual(
    visibleRoofs({ memory: [HBM], compute }, "auto", used, "bottleneck").compute,
    compute.slice(0, 2),
  );
});

test("labels of flat roofs never overlap; one without room is left out", () => {
  const left = 80;
  const labels = [
    { roof: "main", y: 100, width: 150, left },
    { roof: "near", y: 108, width: 100, left },
    { roof: "far", y: 200, width: 100, left: 400 },
    { roof: "crowded", y: 104, width: 300, left },
    { roof: "late", y: 300, width: 100, left: 490 },
  ];
  assert.deepEqual(
    flatPlaces(labels, 580).map(({ label, right }) => [label.roof, right]),
    [
      ["main", 580],
      ["near", 420],
      ["far", 580],
    ],
  );
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

test("a label that would hide another one is left out", () => {
  const close = { ...VMEM, gbs: 1100, id: "other" };
  const short = { ...BOX, width: 260, height: 200 };
  const scale = createScale(
    [
      [-2, 4],
      [0, 6],
    ],
    short,
  );
  const between = { ...VMEM, gbs: 1050, id: "between" };
  const memory = [HBM, between, close];
  const lines = roofLines({ memory, compute: [PEAK] }, scale.xRange);
  assert.deepEqual(
    slantedLabels(lines, scale, () => 100).map(({ roof, below }) => [roof.id, below]),
    [
      ["other", false],
      ["between", true],
    ],
  );
  assert.equal(slantedLabels(lines, scale, () => 40).length, 3);
});

test("a label lies where it covers the fewest points", () => {
  const scale = createScale(
    [
      [-2, 4],
      [0, 6],
    ],
    BOX,
  );
  const lines = roofLines({ memory: [HBM], compute: [PEAK] }, scale.xRange);
  const [free] = slantedLabels(lines, scale, () => 100);
  const turn = (free.angle * Math.PI) / 180;
  const at = {
    px: scale.toX(free.x) + 11 * Math.sin(turn),
    py: scale.toY(free.y) - 11 * Math.cos(turn),
  };
  const [moved] = slantedLabels(lines, scale, () => 100, [at]);
  assert.ok(Math.abs(moved.x - free.x) > 0.5 && !moved.below);
});

test("a label that would lie on the ticks is left out", () => {
  const scale = createScale(
    [
      [-2, 4],
      [3, 6],
    ],
    BOX,
  );
  const close = { ...VMEM, gbs: 1.17e6, id: "other" };
  const steep = { ...VMEM, gbs: 1.86e6, id: "steep" };
  const lines = roofLines({ memory: [close, steep], compute: [PEAK] }, scale.xRange);
  assert.deepEqual(
    slantedLabels(lines, scale, () => 100).map(({ roof }) => roof.id),
    ["other"],
  );
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
