import assert from "node:assert/strict";
import { test } from "node:test";

import { createScale } from "../../../static/js/chart/axes.js";
import {
  boxFrom,
  isInside,
  landmarks,
  opGeometry,
  opPlaces,
  pannedBy,
  rangeBehind,
  rectangleOf,
  zoomedBy,
  zoomFrom,
} from "../../../static/js/chart/op-geometry.js";
import { createModel } from "../../../static/js/state/model.js";
import { DEFAULTS } from "../../../static/js/state/query.js";
import { pageWith, programPoint, there } from "../builders.js";

/** @import { ViewState } from "../../../static/js/types/view-state.js" */

const BOX = { width: 600, height: 400, margin: { l: 80, r: 20, t: 10, b: 40 } };
const scale = createScale(
  [
    [0, 2],
    [1, 5],
  ],
  BOX,
);

function model() {
  const page = pageWith([
    ["fusion.1", "fusion", "HBM", "known", 0.6, 10, 5000],
    ["fusion.2", "fusion", "Compute", "known", 0.4, 1000, 90_000],
    ["copy.1", "copy", "HBM", "no_flops", 0.1],
  ]);
  page.ops.columns.attainable_gflops = [10_000, 100_000, null];
  page.views.in.program = [programPoint({ bottleneck_intensity: 100, flop_rate_gflops: 20_000 })];
  return createModel(page);
}

/** @param {Partial<ViewState>} [state] */
function geometry(state = {}) {
  const found = model();
  return opGeometry(found, { ...DEFAULTS, ...state }, BOX, new Set(found.view("in").rows));
}

test("an op has a place if it has FLOPs and bytes", () => {
  const place = opPlaces(model(), model().view("in"), DEFAULTS);
  const [first, , copy] = model().view("in").rows;
  assert.deepEqual(place(first), [1, Math.log10(5000)]);
  assert.equal(place(copy), null);
});

test("points, roofs and the program's star lie inside the automatic range", () => {
  const { points, program, corner, scale: found } = geometry();
  assert.equal(points.length, 2);
  for (const point of points) assert.ok(isInside(point, found));
  assert.deepEqual(program, { x: 2, y: Math.log10(20_000) });
  assert.ok(there(corner).x > found.xRange[0] && there(corner).x < found.xRange[1]);
});

test("a zoom is the range, and leaves out what it does not hold", () => {
  const { scale: found, points } = geometry({ zoom: [0, 1.5, 2, 4] });
  assert.deepEqual(
    [found.xRange, found.yRange],
    [
      [0, 1.5],
      [2, 4],
    ],
  );
  assert.deepEqual(
    points.map(({ edge, pinned }) => [edge, pinned]),
    [
      [null, false],
      ["above", false],
    ],
  );
});

test("at its bound an op is held against what it can attain there", () => {
  const { points, roofOf } = geometry();
  assert.ok(Math.abs(roofOf(points[0]) - 4) < 1e-9);
  assert.equal(geometry({ roofs: "none" }).roofOf(points[0]), Infinity);
});

test("ridge points and the star can be pointed at", () => {
  const { ridges, star } = landmarks(geometry());
  assert.deepEqual(
    ridges.map(({ ridge }) => ridge?.roof.id),
    ["hbm"],
  );
  assert.equal(star?.ridge, null);
});

test("a drag along one axis names that axis; one that changes nothing does not zoom", () => {
  assert.deepEqual(zoomFrom({ "xaxis.range[0]": 0.5, "xaxis.range[1]": 1 }, scale), [0.5, 1, 1, 5]);
  assert.equal(zoomFrom({}, scale), null);
});

test("zooming keeps the middle, moving keeps the size", () => {
  assert.deepEqual(zoomedBy(scale, 0.5), [0.5, 1.5, 2, 4]);
  const kept = { x: scale.toX(0.5), y: scale.toY(1) };
  const [x0, x1, y0, y1] = zoomedBy(scale, 0.5, kept);
  assert.ok(Math.abs((0.5 - x0) / (x1 - x0) - 0.25) < 1e-9, "the place under the pointer stays");
  assert.ok(Math.abs(x1 - x0 - 1) < 1e-9 && Math.abs(y1 - y0 - 2) < 1e-9);
  assert.deepEqual(pannedBy(scale, 0.5, -0.25), [1, 3, 0, 4]);
});

test("a selected area and its rectangle are each other's inverse; it is cut at the axes", () => {
  const rectangle = rectangleOf([0.5, 1, 2, 3], scale);
  const box = boxFrom(rectangle, scale).map((value) => Math.round(value * 1e9) / 1e9);
  assert.deepEqual(box, [0.5, 1, 2, 3]);
  const cut = rectangleOf([-9, 9, -9, 9], scale);
  assert.deepEqual(cut, { x: 80, y: 10, width: 500, height: 350 });
});

test("as shares of roofs all roofs are one line, and points stand at their efficiency", () => {
  const found = model();
  found.ops.columns.roofline_efficiency_ratio = [0.5, 0.9, null];
  found.views.in.program[0].roofline_efficiency_ratio = 0.6;
  const drawn = opGeometry(found, { ...DEFAULTS, y: "share" }, BOX, new Set(found.view("in").rows));
  assert.deepEqual(drawn.shown, { memory: [], compute: [] });
  assert.deepEqual(
    drawn.points.map(({ y }) => Number((10 ** y).toFixed(6))),
    [0.5, 0.9],
  );
  assert.equal(drawn.roofOf(drawn.points[0]), 0);
  assert.equal(drawn.program?.y, Math.log10(0.6));
  assert.ok(drawn.scale.yRange[1] > 0);
});

test("a plot that was moved and stretched shows another range", () => {
  const moved = rangeBehind({ a: 1, d: 1, e: -250, f: 0 }, scale);
  assert.deepEqual([moved.xRange, moved.yRange], [[1, 3], scale.yRange]);
  const stretched = rangeBehind({ a: 2, d: 0.5, e: 0, f: 0 }, scale);
  assert.deepEqual(
    [stretched.xRange, stretched.yRange],
    [
      [0, 1],
      [-3, 5],
    ],
  );
});
