import assert from "node:assert/strict";
import { test } from "node:test";

import { createScale } from "../../../static/js/chart/axes.js";
import {
  CONFIG,
  dragFigure,
  font,
  layout,
  logAxis,
  power,
  words,
} from "../../../static/js/chart/looks.js";
import { PAINT } from "../builders.js";

const scale = createScale(
  [
    [0, 2],
    [0, 3],
  ],
  { width: 300, height: 200, margin: { l: 40, r: 10, t: 5, b: 30 } },
);

test("a chart talks to no other host and has no buttons of its own", () => {
  assert.equal(CONFIG.showSendToCloud, false);
  assert.equal(CONFIG.displayModeBar, false);
});

test("labels lose what could start markup", () => {
  assert.equal(words('<a href="x">R&D</a>'), 'a href="x"RD/a');
});

test("the plot that is dragged has the ranges of the drawing, and shows nothing", () => {
  const { data, layout: shown } = dragFigure(scale, "pan");
  assert.deepEqual([shown.xaxis.range, shown.yaxis.range], [scale.xRange, scale.yRange]);
  assert.deepEqual([shown.xaxis.tickvals, shown.annotations, shown.shapes], [[], [], []]);
  assert.equal(shown.dragmode, "pan");
  assert.deepEqual(
    data.map(({ x, y }) => [x, y]),
    [[[null], [null]]],
  );
});

test("axes are logarithmic, with ticks where they are told", () => {
  const axis = logAxis(
    PAINT,
    scale.xRange,
    { values: [1, 10], labels: ["1", "10"] },
    { fixedrange: true },
  );
  assert.deepEqual(
    [axis.type, axis.range, axis.ticktext, axis.fixedrange],
    ["log", [0, 2], ["1", "10"], true],
  );
  assert.deepEqual(power([0, 1, 2]), [1, 10, 100]);
});

test("the frame has the size and the margins of its scale", () => {
  const ticks = { values: [], labels: [] };
  const axes = { xaxis: logAxis(PAINT, [0, 2], ticks), yaxis: logAxis(PAINT, [0, 3], ticks) };
  const found = layout({ scale, axes, dragmode: "pan", shapes: [], annotations: [] }, PAINT);
  assert.deepEqual(
    [found.width, found.height, found.margin, found.dragmode],
    [300, 200, scale.margin, "pan"],
  );
  assert.deepEqual(font(PAINT, 12, "--ink"), { family: "sans", size: 12, color: "--ink" });
});
