// The Plotly figure of the small roofline: the whole program, its average step and its steps. Pure.

import { intensityTicks, rateTicks } from "./axes.js";
import { font, layout, logAxis, power } from "./looks.js";
import { gapWords } from "./program-geometry.js";
import { roofParts } from "./roof-figure.js";

/** @import { Annotation, Figure, Shape, Trace } from "../types/plotly.js" */
/** @import { Scope } from "../types/page-data.js" */
/** @import { Paint } from "./looks.js" */
/** @import { ProgramGeometry, ProgramPlace, RoofGap } from "./program-geometry.js" */

/** @type {Record<Scope, string>} */
export const SCOPE_SYMBOLS = {
  total: "star",
  total_hw: "star-open",
  average: "diamond",
  phase: "square",
  step: "circle",
};
/** @type {Record<Scope, number>} */
const SCOPE_SIZES = { total: 14, total_hw: 14, average: 11, phase: 11, step: 10 };
const MOST_NAMED = 3; // a few outliers can be named; many would hide each other's names, and the list has them

/**
 * @param {ProgramGeometry} chart
 * @param {Paint} paint
 * @returns {Figure}
 */
export function programFigure(chart, paint) {
  const { scale, places, total } = chart;
  const roofs = roofParts(chart, paint, { small: true });
  const shapes = total ? [gapLine(total, paint)] : [];
  const outliers = places.filter(({ point }) => point.is_outlier);
  const parts = {
    scale,
    axes: axesOf(chart, paint),
    dragmode: /** @type {const} */ (false),
    shapes: [...roofs.shapes, ...shapes],
    annotations: [
      ...roofs.annotations,
      ...(total ? [gapLabel(total, chart, paint)] : []),
      ...(outliers.length <= MOST_NAMED ? outliers : []).map((place) => stepLabel(place, paint)),
    ],
  };
  return { data: [...roofs.traces, placesTrace(places, paint)], layout: layout(parts, paint) };
}

/** @param {ProgramGeometry} chart @param {Paint} paint */
function axesOf({ scale }, paint) {
  const title = { text: "FLOP per byte", standoff: 4, font: font(paint, 11.5, "--axis") };
  const [xTicks, yTicks] = [
    intensityTicks(scale.xRange, scale.plotWidth),
    rateTicks(scale.yRange, scale.plotHeight),
  ];
  return {
    xaxis: logAxis(paint, scale.xRange, xTicks, { fixedrange: true, title }),
    yaxis: logAxis(paint, scale.yRange, yTicks, { fixedrange: true }),
  };
}

/** @param {RoofGap} gap @param {Paint} paint @returns {Shape} */
const gapLine = (gap, paint) => ({
  type: "line",
  x0: 10 ** gap.x,
  x1: 10 ** gap.x,
  y0: 10 ** gap.y,
  y1: 10 ** gap.roof,
  line: { color: paint.colour("--ink-2"), width: 1, dash: "3px,3px" },
});

/**
 * @param {RoofGap} gap
 * @param {ProgramGeometry} chart
 * @param {Paint} paint
 * @returns {Annotation}
 */
function gapLabel(gap, { scale }, paint) {
  const { isLeft, lines } = gapWords(gap, scale);
  return {
    x: gap.x,
    y: (gap.y + gap.roof) / 2,
    text: lines.join("<br>"),
    align: isLeft ? "right" : "left",
    showarrow: false,
    xanchor: isLeft ? "right" : "left",
    xshift: isLeft ? -5 : 5,
    bgcolor: paint.colour("--label-bg"),
    font: font(paint, 11, "--ink-2"),
  };
}

/** @param {ProgramPlace} place @param {Paint} paint @returns {Annotation} */
const stepLabel = ({ x, y, point }, paint) => ({
  x,
  y,
  text: `step ${stepNumber(point.label)}`,
  showarrow: false,
  yanchor: "top",
  yshift: -7,
  font: font(paint, 11, "--ink-2"),
});

/** @param {ProgramPlace[]} places @param {Paint} paint @returns {Trace} */
const placesTrace = (places, paint) => ({
  name: "program",
  meta: "program",
  x: power(places.map(({ x }) => x)),
  y: power(places.map(({ y }) => y)),
  mode: "markers",
  hoverinfo: "skip",
  marker: {
    opacity: 1,
    symbol: places.map(({ point }) => SCOPE_SYMBOLS[point.scope]),
    size: places.map(({ point }) => SCOPE_SIZES[point.scope]),
    color: places.map(({ point }) =>
      point.scope === "step" ? stepColour(point.order ?? 1, paint) : paint.colour("--star"),
    ),
    line: {
      color: places.map(({ point }) => paint.colour(point.is_outlier ? "--warn" : "--halo")),
      width: places.map(({ point }) => (point.is_outlier ? 2 : 1)),
    },
  },
});

/**
 * Colours of both ends, mixed: the order of the steps in one hue.
 * @param {number} order 0 to 1
 * @param {Paint} paint
 */
export function stepColour(order, paint) {
  const from = channels(paint.colour("--step-0"));
  const to = channels(paint.colour("--step-1"));
  return `rgb(${[0, 1, 2].map((i) => Math.round(from[i] + (to[i] - from[i]) * order)).join(",")})`;
}

/** Red, green and blue of "rgb(…)". @param {string} colour */
const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);

/**
 * A step's label comes from the file; only digits reach Plotly, which reads markup in text.
 * @param {string} label
 */
function stepNumber(label) {
  return label.replace(/[^\d]/g, "").slice(0, 12) || "?";
}
