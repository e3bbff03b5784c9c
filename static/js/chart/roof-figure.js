// Roofs as Plotly draws them: lines, ridges, labels and the two tinted regions. Pure.

import { peakBandwidth, peakRate, significant } from "../text/format.js";
import { font, power, words } from "./looks.js";
import {
  attainable,
  flatPlaces,
  LABEL_AWAY,
  roofLines,
  slantedLabels,
  sustainedPoints,
} from "./roofs.js";

/** @import { Annotation, Shape, Trace } from "../types/plotly.js" */
/** @import { ComputeRoof, MemoryRoof, Roofs } from "../types/page-data.js" */
/** @import { Place, Scale } from "./axes.js" */
/** @import { Paint } from "./looks.js" */
/** @import { FlatLine, Height, Slope, SlantedLine } from "./roofs.js" */

/**
 * @typedef {object} RoofChart
 * @property {Roofs} shown
 * @property {MemoryRoof | null} main that distances are read against
 * @property {ComputeRoof | null} flat that distances are read against
 * @property {Place | null} corner main ridge
 * @property {Scale} scale
 * @property {Place | null} [program] its star, which names of distances and roofs leave in sight
 * @property {readonly { px: number, py: number }[]} [points] that labels keep clear of, in pixels
 */

const LETTER = 0.56; // of the font's size: width of a letter
const LEAST_REGION = 110; // pixels that the name of a region needs
const BEFORE_LINE = 60; // pixels that a label may begin before its line
const STAR = 8; // pixels of the radius of the program's star
/** Height and width of the words at the foot of the ridge. */
export const FOOT = 34;
export const FOOT_WIDTH = 112;
const LEAST_APART = 18; // pixels between the name of a distance and that of a compute roof

/**
 * @param {RoofChart} chart
 * @param {Paint} paint
 * @param {{ small: boolean }} options `small`: few words, no distance lines
 * @returns {{ traces: Trace[], annotations: Annotation[], shapes: Shape[] }}
 */
export function roofParts(chart, paint, { small }) {
  const lines = roofLines(chart.shown, chart.scale.xRange);
  const hasRoof = lines.length > 0;
  const size = small ? 11 : 12;
  const corner = hasRoof ? chart.corner : null;
  const distances = hasRoof && !small ? distanceLines(chart, paint) : NO_DISTANCES;
  return {
    traces: [
      ...distances.traces,
      ...lines.map((line) => lineTrace(line, chart.shown, paint)),
      ...lines.flatMap((line) => sustainedTrace(line, paint)),
      ridgeTrace(lines, paint),
    ],
    annotations: [
      ...distances.annotations,
      ...slantLabels(lines, chart, size, paint),
      ...flatLabels(chart, paint, { small, size }),
      ...(corner && !small ? regionLabels(corner, chart.scale, paint) : []),
    ],
    shapes: corner ? regionShapes(corner, chart.scale, paint) : [],
  };
}

/** @type {{ traces: Trace[], annotations: Annotation[] }} */
const NO_DISTANCES = { traces: [], annotations: [] };

/**
 * Further compute roofs are thinner than the main one.
 * @param {MemoryRoof | ComputeRoof} roof
 * @param {Roofs} shown
 */
const isFurther = (roof, shown) => "gflops" in roof && roof !== shown.compute[0];

/**
 * @param {SlantedLine | FlatLine} line
 * @param {Roofs} shown
 * @param {Paint} paint
 * @returns {Trace}
 */
const lineTrace = ({ roof, points }, shown, paint) => ({
  name: roof.label,
  x: power(points.map(([x]) => x)),
  y: power(points.map(([, y]) => y)),
  mode: "lines",
  line: {
    color: paint.colour(roof.token),
    width: isFurther(roof, shown) ? 1.2 : 2,
    dash: roof.dash,
  },
  hoverinfo: "skip",
});

/**
 * A thin line below a roof: what programs reach of it at best.
 * @param {SlantedLine | FlatLine} line
 * @param {Paint} paint
 * @returns {Trace[]}
 */
function sustainedTrace(line, paint) {
  const { roof } = line;
  if (roof.sustained === null) return [];
  const points = sustainedPoints(line, roof.sustained.ratio);
  return [
    {
      name: `${roof.label}, reached at best`,
      x: power(points.map(([x]) => x)),
      y: power(points.map(([, y]) => y)),
      mode: "lines",
      line: { color: paint.colour(roof.token), width: 0.8, dash: "1px,2px" },
      hoverinfo: "skip",
    },
  ];
}

/** @param {(SlantedLine | FlatLine)[]} lines @param {Paint} paint @returns {Trace} */
function ridgeTrace(lines, paint) {
  const corners = lines.flatMap(({ corner }) => corner ?? []);
  return {
    name: "ridge points",
    x: power(corners.map(({ x }) => x)),
    y: power(corners.map(({ y }) => y)),
    mode: "markers",
    hoverinfo: "skip",
    marker: {
      symbol: "circle",
      size: 8,
      color: paint.colour("--surface"),
      line: { color: paint.colour("--ink"), width: 1.6 },
    },
  };
}

/**
 * Where a roof of these two parts is bent, and past both edges; log10.
 * @param {Slope | null} memory
 * @param {Height | null} compute
 * @param {Scale} scale
 */
export function roofPlaces(memory, compute, { xRange }) {
  const bend = memory && compute ? [Math.log10(compute.gflops) - Math.log10(memory.gbs)] : [];
  return [xRange[0] - 3, ...bend, xRange[1] + 3].sort((a, b) => a - b);
}

/**
 * Dotted lines at a tenth and a hundredth of the roof, so that distance can be read.
 * @param {RoofChart} chart
 * @param {Paint} paint
 */
function distanceLines(chart, paint) {
  const { main, flat, scale } = chart;
  const xs = roofPlaces(main, flat, scale);
  return {
    traces: DISTANCES.map((share) => {
      const ys = xs.map((x) => attainable(x, main, flat) + Math.log10(share));
      return distanceTrace(distanceName(share), xs, ys, paint);
    }),
    annotations: distancePlaces(chart).map(({ name, end }) =>
      distanceLabel(name, scale.xRange[1], end, paint),
    ),
  };
}

const DISTANCES = [0.1, 0.01];
/** @param {number} share */
const distanceName = (share) => `${share * 100} % of roof`;

/**
 * The names of these lines at the right edge, where no compute roof is near.
 * @param {RoofChart} chart
 */
export function distancePlaces({ shown, main, flat, scale, corner, program }) {
  const [low, high] = scale.yRange;
  const right = scale.width - scale.margin.r;
  const foot = scale.height - scale.margin.b - FOOT;
  const roof = attainable(scale.xRange[1], main, flat);
  return DISTANCES.map((share) => ({
    name: distanceName(share),
    end: roof + Math.log10(share),
    width: widthOf(distanceName(share), 11),
  })).filter(
    ({ end, width }) =>
      end > low &&
      end < high &&
      !(program && isOver(program, scale, right - width, end)) &&
      !(corner && scale.toY(end) > foot && scale.toX(corner.x) + FOOT_WIDTH > right - width) &&
      shown.compute.every(
        ({ gflops }) => Math.abs(scale.toY(end) - scale.toY(Math.log10(gflops))) >= LEAST_APART,
      ),
  );
}

/**
 * Whether the star lies on a text that reaches from `left` to the right edge, on the height `y` (log10).
 * @param {Place} star
 * @param {Scale} scale
 * @param {number} left
 * @param {number} y
 */
const isOver = (star, scale, left, y) =>
  scale.toX(star.x) > left - STAR && Math.abs(scale.toY(y) - 8 - scale.toY(star.y)) < 8 + STAR;

/**
 * @param {string} name
 * @param {number[]} xs
 * @param {number[]} ys
 * @param {Paint} paint
 * @returns {Trace}
 */
const distanceTrace = (name, xs, ys, paint) => ({
  name,
  x: power(xs),
  y: power(ys),
  mode: "lines",
  hoverinfo: "skip",
  line: { color: paint.colour("--line-2"), width: 1, dash: "1px,4px" },
});

/**
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {Paint} paint
 * @returns {Annotation}
 */
const distanceLabel = (text, x, y, paint) => ({
  x,
  y,
  text,
  xanchor: "right",
  yanchor: "bottom",
  showarrow: false,
  xshift: -3,
  font: font(paint, 11, "--ink-3"),
});

/** @param {MemoryRoof} roof */
const memoryText = (roof) => `${words(roof.label)} ${peakBandwidth(roof.gbs)}`;

/**
 * @param {(SlantedLine | FlatLine)[]} lines
 * @param {Pick<RoofChart, "scale" | "points">} chart
 * @param {number} size of the font
 */
export function slantLabelPlaces(lines, { scale, points }, size) {
  const width = (/** @type {MemoryRoof} */ roof) => memoryText(roof).length * size * LETTER + 8;
  return slantedLabels(lines, scale, width, points).map((label) => ({
    ...label,
    text: memoryText(label.roof),
  }));
}

/**
 * @param {(SlantedLine | FlatLine)[]} lines
 * @param {RoofChart} chart
 * @param {number} size of the font
 * @param {Paint} paint
 * @returns {Annotation[]}
 */
function slantLabels(lines, chart, size, paint) {
  return slantLabelPlaces(lines, chart, size).map(({ roof, x, y, angle, below }) => {
    const radians = (angle * Math.PI) / 180;
    const away = below ? -LABEL_AWAY : LABEL_AWAY;
    return {
      x,
      y,
      text: memoryText(roof),
      showarrow: false,
      textangle: angle,
      font: font(paint, size, roof.token),
      xshift: away * Math.sin(radians),
      yshift: away * Math.cos(radians),
    };
  });
}

/**
 * Where the labels of flat roofs stand, in pixels: right end, line, width. A name that is wider than
 * its line is left out.
 * @param {RoofChart} chart
 * @param {{ small: boolean, size: number }} options
 */
export function flatLabelPlaces({ shown: { compute }, scale, corner, program }, { small, size }) {
  const right = scale.width - scale.margin.r;
  const labels = (small ? compute.slice(0, 1) : compute)
    .map((roof) => {
      const y = Math.log10(roof.gflops);
      const start = corner && !small ? scale.toX(corner.x - corner.y + y) - BEFORE_LINE : 0;
      const left = small ? 0 : Math.max(scale.margin.l, start);
      const named = `${words(roof.label)} ${peakRate(roof.gflops)}`;
      const width = widthOf(named, size);
      const isHiding = program && isOver(program, scale, right - width, y);
      const isNamed = !small && !isHiding && width <= right - left;
      const text = isNamed ? named : peakRate(roof.gflops);
      return { roof, text, left, y: scale.toY(y), width: widthOf(text, size) };
    })
    .filter(({ y }) => y > scale.margin.t && y < scale.height - scale.margin.b);
  return flatPlaces(labels, right).map(({ label: { left: _, ...label }, right: end }) => ({
    ...label,
    right: end,
  }));
}

/** Pixels of a text. @param {string} text @param {number} size of the font */
const widthOf = (text, size) => text.length * size * LETTER + 4;

/**
 * @param {RoofChart} chart
 * @param {Paint} paint
 * @param {{ small: boolean, size: number }} options
 */
function flatLabels(chart, paint, { small, size }) {
  const { shown, scale } = chart;
  const edge = scale.width - scale.margin.r;
  return flatLabelPlaces(chart, { small, size }).map(({ roof, text, right }) => {
    const place = { x: scale.xRange[1], shift: right - edge - 3 };
    return flatLabel(roof, text, place, paint, { isMain: roof === shown.compute[0], size });
  });
}

/**
 * @param {ComputeRoof} roof
 * @param {string} text
 * @param {{ x: number, shift: number }} place `shift`: pixels from there
 * @param {Paint} paint
 * @param {{ isMain: boolean, size: number }} options
 * @returns {Annotation}
 */
const flatLabel = (roof, text, { x, shift }, paint, { isMain, size }) => ({
  x,
  y: Math.log10(roof.gflops),
  text,
  showarrow: false,
  xanchor: "right",
  yanchor: "bottom",
  xshift: shift,
  yshift: isMain ? 2 : 1,
  bgcolor: paint.colour("--label-bg"),
  font: font(paint, isMain ? size : size - 1, roof.token),
  borderpad: 0,
});

/** @param {Place} corner @param {Scale} scale @param {Paint} paint */
function regionLabels(corner, scale, paint) {
  if (corner.x <= scale.xRange[0] || corner.x >= scale.xRange[1]) return [];
  /**
   * @param {string} text
   * @param {"left" | "right"} xanchor
   * @param {number} yshift
   * @param {string} token
   * @returns {Annotation}
   */
  const label = (text, xanchor, yshift, token) => ({
    x: corner.x,
    y: 0,
    yref: "paper",
    text,
    showarrow: false,
    xanchor,
    yanchor: "bottom",
    xshift: xanchor === "left" ? 5 : -5,
    yshift,
    font: font(paint, 11, token),
  });
  const before = [label("← memory-bound", "right", 2, "--ink-2")];
  const after = [
    label("compute-bound →", "left", 2, "--ink-2"),
    label(`ridge ${significant(10 ** corner.x)} FLOP/B`, "left", 18, "--ink"),
  ];
  return [
    ...((corner.x - scale.xRange[0]) * scale.perX > LEAST_REGION ? before : []),
    ...((scale.xRange[1] - corner.x) * scale.perX > LEAST_REGION ? after : []),
  ];
}

/** @param {Place} corner @param {Scale} scale @param {Paint} paint @returns {Shape[]} */
function regionShapes(corner, scale, paint) {
  const left = Math.min(scale.xRange[0], corner.x) - 3;
  const right = Math.max(scale.xRange[1], corner.x) + 3;
  return [
    region(left, corner.x, "--region-mem", paint),
    region(corner.x, right, "--region-cmp", paint),
    {
      type: "line",
      x0: 10 ** corner.x,
      x1: 10 ** corner.x,
      y0: 10 ** (scale.yRange[0] - 3),
      y1: 10 ** corner.y,
      line: { color: paint.colour("--line-2"), width: 1, dash: "2px,3px" },
      layer: "below",
    },
  ];
}

/**
 * @param {number} x0 log10
 * @param {number} x1 log10
 * @param {string} token
 * @param {Paint} paint
 * @returns {Shape}
 */
const region = (x0, x1, token, paint) => ({
  type: "rect",
  xref: "x",
  yref: "paper",
  x0: 10 ** x0,
  x1: 10 ** x1,
  y0: 0,
  y1: 1,
  fillcolor: paint.colour(token),
  line: { width: 0 },
  layer: "below",
});
