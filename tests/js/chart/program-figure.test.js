import assert from "node:assert/strict";
import { test } from "node:test";

import {
  programFigure,
  SCOPE_SYMBOLS,
  stepColour,
} from "../../../static/js/chart/program-figure.js";
import { programGeometry } from "../../../static/js/chart/program-geometry.js";
import { createModel } from "../../../static/js/state/model.js";
import { pageWith, PAINT, plain, programPoint } from "../builders.js";

/** @import { ProgramPoint } from "../../../static/js/types/page-data.js" */

const BOX = { width: 300, height: 250, margin: { l: 70, r: 10, t: 8, b: 38 } };
const SHADES = {
  ...PAINT,
  colour: (/** @type {string} */ token) =>
    token === "--step-1" ? "rgb(100, 200, 0)" : "rgb(0, 0, 50)",
};
const place = { bottleneck_intensity: 50, flop_rate_gflops: 20_000, bound_by: 1 };
const TOTAL = programPoint({ ...place, attainable_gflops: 50_000, roofline_efficiency_ratio: 0.4 });
const MODEL = createModel(pageWith([]));
/** @param {string} label @param {Partial<ProgramPoint>} [extra] */
const step = (label, extra) => programPoint({ ...place, scope: "step", label, order: 0, ...extra });

/** @param {ProgramPoint[]} points */
const figure = (points) => programFigure(programGeometry(MODEL, points, MODEL.roofs, BOX), SHADES);
/** @param {ProgramPoint[]} points */
const texts = (points) => figure(points).layout.annotations.map(({ text }) => plain(text));

test("the gap to the roof is a line with its share", () => {
  assert.ok(texts([TOTAL]).includes("40 % of roof"));
  const lines = figure([TOTAL]).layout.shapes.filter(({ type }) => type === "line");
  assert.ok(Math.abs(lines[1].y1 - 50_000) < 1e-6);
});

test("the share of a program near the right edge is two lines on the left of the gap", () => {
  const { annotations } = figure([{ ...TOTAL, bottleneck_intensity: 1e9 }]).layout;
  const label = annotations.find(({ text }) => text.endsWith("of roof"));
  assert.equal(label?.xanchor, "right");
  assert.equal(plain(label?.text ?? ""), "40 %<br>of roof");
});

test("each scope has its symbol; an outlier is framed", () => {
  const marker = figure([
    TOTAL,
    step("0"),
    step("1", { is_outlier: true, flop_rate_gflops: 900 }),
  ]).data.at(-1)?.marker;
  assert.deepEqual(marker?.symbol, [SCOPE_SYMBOLS.step, SCOPE_SYMBOLS.step, SCOPE_SYMBOLS.total]);
  assert.deepEqual([...new Set(/** @type {number[]} */ (marker?.line?.width))].sort(), [1, 2]);
});

test("a few outliers are named by their digits only: labels come from files", () => {
  const odd = (/** @type {number} */ i) =>
    step(`<b>${i}</b>`, { is_outlier: true, flop_rate_gflops: 10 ** i });
  assert.ok(texts([odd(2), odd(3)]).includes("step 2"));
  assert.ok(!texts([odd(1), odd(2), odd(3), odd(4)]).some((text) => text.startsWith("step")));
});

test("the colour of a step is its place between both ends", () => {
  assert.equal(stepColour(0, SHADES), "rgb(0,0,50)");
  assert.equal(stepColour(0.5, SHADES), "rgb(50,100,25)");
  assert.equal(stepColour(1, SHADES), "rgb(100,200,0)");
});
