// The figure of the roofline of operations, as Plotly takes it. Pure. Only our own words enter as text.

import { intensityTicks, rateTicks, shareTicks } from "./axes.js";
import { font, layout, logAxis, power, words } from "./looks.js";
import { roofParts, roofPlaces } from "./roof-figure.js";
import { attainable } from "./roofs.js";

/** @import { Other } from "../types/other-devices.js" */
/** @import { Row } from "../types/model.js" */
/** @import { Annotation, Figure, Layout, Trace } from "../types/plotly.js" */
/** @import { Place, Scale } from "./axes.js" */
/** @import { joinLevels } from "./joined-levels.js" */
/** @import { Paint } from "./looks.js" */
/** @import { Edge, Point } from "./points.js" */
/** @import { RoofChart } from "./roof-figure.js" */

/**
 * @typedef {{ token: string, symbol: string }} Look colour and shape of a point
 *
 * @typedef {object} OpPoints
 * @property {Point[]} points
 * @property {Place | null} program
 * @property {(row: Row) => Look} look
 * @property {string} axisLabel
 * @property {boolean} isShare heights are shares of roofs
 * @property {Other[]} others
 * @property {ReturnType<typeof joinLevels> | null} joined in place of one point per op
 *
 * @typedef {RoofChart & OpPoints} OpFigureParts
 */

/**
 * @param {OpFigureParts} chart
 * @param {Paint} paint
 * @param {object} options
 * @param {Layout["dragmode"]} options.dragmode
 * @param {((row: Row) => boolean) | null} [options.isShown] only for pictures: the page draws the points itself
 * @returns {Figure}
 */
export function opFigure(chart, paint, { dragmode, isShown = null }) {
  const { scale, joined } = chart;
  const roofs = roofParts(chart, paint, { small: false });
  const marks = isShown && !joined ? pointTraces(chart, paint, isShown) : [];
  const own = chart.isShare ? ownRoof(scale, paint) : { traces: [], annotations: [] };
  const { shapes } = roofs;
  const annotations = [...roofs.annotations, ...own.annotations];
  return {
    data: [
      ...otherTraces(chart.others, scale, paint),
      ...roofs.traces,
      ...own.traces,
      ...(joined ? joinedTraces(joined, paint) : marks),
      ...(isShown ? [starTrace(chart.program, paint)] : []),
    ],
    layout: layout({ scale, axes: axesOf(chart, paint), dragmode, shapes, annotations }, paint),
  };
}

/** The roofs of all ops as one line. @param {Scale} scale @param {Paint} paint @returns {{ traces: Trace[], annotations: Annotation[] }} */
const ownRoof = ({ xRange }, paint) => ({
  traces: [
    {
      name: OWN_ROOF,
      x: power([xRange[0] - 3, xRange[1] + 3]),
      y: [1, 1],
      mode: "lines",
      hoverinfo: "skip",
      line: { color: paint.colour("--ink"), width: 2 },
    },
  ],
  annotations: [
    {
      x: xRange[1],
      y: 0,
      text: OWN_ROOF,
      showarrow: false,
      xanchor: "right",
      yanchor: "bottom",
      xshift: -3,
      yshift: 2,
      font: font(paint, 12, "--ink"),
    },
  ],
});

const OWN_ROOF = "each operation’s own roof";
const FULL_TITLE = 400; // px of the plot, from which the whole title has room

/** @param {Pick<OpFigureParts, "scale" | "axisLabel" | "isShare">} chart @param {Paint} paint */
export function axesOf({ scale, axisLabel, isShare }, paint) {
  const heightTicks = isShare ? shareTicks : rateTicks;
  const unit = `FLOP per byte of ${words(axisLabel)}`;
  const text = scale.plotWidth < FULL_TITLE ? unit : `Operational intensity, ${unit}`;
  const title = { text, standoff: 6, font: font(paint, 11.5, "--axis") };
  const ticks = intensityTicks(scale.xRange, scale.plotWidth);
  return {
    xaxis: logAxis(paint, scale.xRange, ticks, { title }),
    yaxis: logAxis(paint, scale.yRange, heightTicks(scale.yRange, scale.plotHeight)),
  };
}

/** @param {Place | null} program @param {Paint} paint @returns {Trace} */
const starTrace = (program, paint) => ({
  name: "program",
  x: program ? power([program.x]) : [],
  y: program ? power([program.y]) : [],
  mode: "markers",
  hoverinfo: "skip",
  marker: {
    symbol: "star",
    size: 17,
    color: paint.colour("--star"),
    line: { color: paint.colour("--halo"), width: 1.5 },
  },
});

/**
 * Roofs of other devices: one broken line each, bent at its own ridge.
 * @param {Other[]} others
 * @param {Scale} scale
 * @param {Paint} paint
 * @returns {Trace[]}
 */
function otherTraces(others, scale, paint) {
  return others
    .filter(({ memory, compute }) => memory || compute)
    .map(({ name, token, dash, memory, compute }) => {
      const xs = roofPlaces(memory, compute, scale);
      return {
        name: words(name),
        x: power(xs),
        y: power(xs.map((x) => attainable(x, memory, compute))),
        mode: "lines",
        hoverinfo: "skip",
        line: { color: paint.colour(token), width: 1.6, dash },
      };
    });
}

/**
 * Every memory level of an op: dots on its line, coloured by level.
 * @param {ReturnType<typeof joinLevels>} joined
 * @param {Paint} paint
 * @returns {Trace[]}
 */
function joinedTraces({ lines, dots }, paint) {
  return [
    {
      name: "joined levels",
      // A null breaks the line: each op has its own.
      x: lines.flatMap(({ x0, x1 }) => [10 ** x0, 10 ** x1, null]),
      y: lines.flatMap(({ y }) => [10 ** y, 10 ** y, null]),
      mode: "lines",
      hoverinfo: "skip",
      line: { color: paint.colour("--ink-3"), width: 1 },
    },
    {
      name: "memory levels",
      x: power(dots.map((dot) => dot.x)),
      y: power(dots.map((dot) => dot.y)),
      mode: "markers",
      hoverinfo: "skip",
      marker: {
        symbol: "circle",
        size: dots.map((dot) => 2 * dot.radius),
        color: dots.map((dot) => paint.colour(dot.token)),
        opacity: 0.85,
        line: { color: paint.colour("--halo"), width: 1 },
      },
    },
  ];
}

/** @type {Record<Edge, string>} */
const EDGE_SYMBOLS = {
  left: "triangle-left-open",
  right: "triangle-right-open",
  above: "triangle-up-open",
  below: "triangle-down-open",
};

/**
 * @param {OpPoints} chart
 * @param {Paint} paint
 * @param {(row: Row) => boolean} isShown
 * @returns {Trace[]}
 */
function pointTraces({ points, look }, paint, isShown) {
  const free = points.filter((point) => !point.pinned);
  const pinned = points.filter((point) => point.pinned);
  /** @param {Point[]} list @param {number} normal */
  const looks = (list, normal) => ({
    color: list.map((point) => paint.colour(look(point.row).token)),
    opacity: list.map((point) => (isShown(point.row) ? normal : 0.1)),
  });
  return [
    {
      ...placesOf("ops", free),
      marker: {
        symbol: free.map((point) => look(point.row).symbol),
        size: free.map((point) => 2 * point.radius),
        ...looks(free, 0.76),
        line: { color: paint.colour("--halo"), width: 1 },
      },
    },
    {
      ...placesOf("ops beyond the edge", pinned),
      marker: {
        symbol: pinned.map(({ edge }) => (edge ? EDGE_SYMBOLS[edge] : "circle-open")),
        size: 8,
        ...looks(pinned, 1),
        line: { width: 1.4 },
      },
    },
  ];
}

/** @param {string} name @param {Point[]} points @returns {Trace} */
const placesOf = (name, points) => ({
  name,
  x: power(points.map((point) => point.x)),
  y: power(points.map((point) => point.y)),
  mode: "markers",
  hoverinfo: "skip",
});
