import assert from "node:assert/strict";
import { test } from "node:test";

import { opFigure } from "../../../static/js/chart/op-figure.js";
import { opGeometry } from "../../../static/js/chart/op-geometry.js";
import { createModel } from "../../../static/js/state/model.js";
import { DEFAULTS } from "../../../static/js/state/query.js";
import { pageWith, PAINT, programPoint } from "../builders.js";

const BOX = { width: 600, height: 400, margin: { l: 80, r: 20, t: 10, b: 40 } };

function chart() {
  const page = pageWith([
    ["fusion.1", "fusion", "HBM", "known", 0.6, 10, 5000],
    ["tiny", "copy", "HBM", "known", 0.001, 1e-6, 1e-6],
  ]);
  page.x_axes[0].label = "<b>HBM</b>";
  page.views.in.program = [programPoint({ bottleneck_intensity: 100, flop_rate_gflops: 20_000 })];
  const model = createModel(page);
  return opGeometry(model, DEFAULTS, BOX, new Set(model.view("in").rows));
}

test("the page's figure has roofs and axes; points are drawn by the page itself", () => {
  const { data, layout } = opFigure(chart(), PAINT, { dragmode: "zoom" });
  assert.ok(!data.some(({ name }) => name === "ops" || name === "program"));
  assert.ok(data.some(({ name }) => name === "HBM"));
  assert.equal(layout.xaxis.title?.text, "Operational intensity, FLOP per byte of bHBM/b");
  assert.equal(layout.dragmode, "zoom");
});

test("a picture has the points too: hidden ones faint, those off the chart at its edge", () => {
  const { data } = opFigure(chart(), PAINT, {
    dragmode: false,
    isShown: ({ name }) => name !== "fusion.1",
  });
  const ops = data.find(({ name }) => name === "ops");
  const edge = data.find(({ name }) => name === "ops beyond the edge");
  assert.deepEqual([ops?.marker?.opacity, ops?.x.length], [[0.1], 1]);
  assert.deepEqual([edge?.marker?.symbol, edge?.marker?.opacity], [["triangle-down-open"], [1]]);
  assert.equal(data.find(({ name }) => name === "program")?.x[0], 100);
});
