// Log axes: ticks, automatic range, pixel positions. Pure. Ranges are log10.

import { bandwidth, flopRate, percent, significant } from "../text/format.js";

/**
 * @typedef {[low: number, high: number]} Range log10
 * @typedef {{ x: number, y: number }} Place log10 of intensity and FLOP rate
 * @typedef {{ l: number, r: number, t: number, b: number }} Margin pixels
 * @typedef {{ width: number, height: number, margin: Margin }} ChartBox pixels
 */

/**
 * Whole decades inside a range, thinned when they would stand closer than `apart` pixels.
 * @param {Range} range
 * @param {number} pixels
 * @param {number} apart
 */
function decades([low, high], pixels, apart) {
  const first = Math.ceil(low - 1e-9);
  const every = Math.max(1, Math.ceil((apart * (high - low)) / Math.max(1, pixels)));
  const found = [];
  for (let exponent = first; exponent <= high + 1e-9; exponent += 1) {
    if (exponent % every === 0) found.push(exponent);
  }
  return found;
}

/**
 * Ticks at decades; on a short range at 1, 2 and 5, or at 1 and 3.
 * @param {Range} range
 * @param {number} pixels length of the axis
 * @param {number} apart least distance of two labels in pixels
 * @param {(value: number) => string} label
 */
function logTicks(range, pixels, apart, label) {
  let exponents = decades(range, pixels, apart);
  const perDecade = pixels / (range[1] - range[0]);
  const parts = perDecade * 0.3 > apart ? [1, 2, 5] : [1, 3];
  if (exponents.length < 3 && perDecade * 0.47 > apart) {
    const steps = [];
    for (let e = Math.floor(range[0]); e <= range[1]; e += 1)
      for (const m of parts) steps.push(e + Math.log10(m));
    exponents = steps.filter((e) => e >= range[0] && e <= range[1]);
  }
  const values = exponents.map((e) => 10 ** e);
  return { values, labels: values.map(label) };
}

/** @param {number} value */
const plain = (value) => significant(value, 1);

/** @param {Range} range @param {number} pixels length of the axis */
export const intensityTicks = (range, pixels) => logTicks(range, pixels, 52, plain);
/** @param {Range} range GFLOP/s @param {number} pixels length of the axis */
export const rateTicks = (range, pixels) =>
  logTicks(range, pixels, 26, (value) => flopRate(value, 1));
/** @param {Range} range shares of roofs @param {number} pixels length of the axis */
export const shareTicks = (range, pixels) =>
  logTicks(range, pixels, 26, (value) => percent(value, value < 0.01 ? 1 : 0));
/** @param {Range} range GB/s @param {number} pixels length of the axis */
export const bandwidthTicks = (range, pixels) =>
  logTicks(range, pixels, 72, (value) => bandwidth(value, 1));

/**
 * @typedef {object} Dot a point to be drawn
 * @property {number} x log10 of the intensity
 * @property {number} y log10 of the FLOP rate
 * @property {number} weight
 */

/** The dots that matter most: together this share of the weight. @param {readonly Dot[]} dots @param {number} [share] */
function heaviest(dots, share = 0.99) {
  const total = dots.reduce((sum, dot) => sum + dot.weight, 0);
  let sum = 0;
  return [...dots]
    .sort((a, b) => b.weight - a.weight)
    .filter((dot) => {
      const wanted = sum <= total * share;
      sum += dot.weight;
      return wanted;
    });
}

const STRAY_SHARE = 0.01; // of the weight that strays make together at most
const STRAY_GAP = 1; // decades below the next dot

/**
 * Dots without a few that lie far below all others: these would take a decade or more from the rest. The server
 * leaves out the same ones.
 * @param {readonly Dot[]} dots
 */
export function withoutStrays(dots) {
  const ordered = [...dots].sort((a, b) => a.y - b.y);
  const total = ordered.reduce((sum, dot) => sum + dot.weight, 0);
  let [below, first] = [0, 0];
  for (const [i, dot] of ordered.entries()) {
    if (i > 0 && below <= STRAY_SHARE * total && dot.y - ordered[i - 1].y >= STRAY_GAP) first = i;
    below += dot.weight;
  }
  return ordered.slice(first);
}

/**
 * A range around values, at least so many decades long.
 * @param {readonly number[]} values
 * @param {[before: number, after: number]} room
 * @param {number} least
 * @returns {Range}
 */
export function spread(values, [before, after], least) {
  let low = Math.min(...values) - before;
  let high = Math.max(...values) + after;
  const missing = least - (high - low);
  if (missing > 0) {
    low -= missing / 2;
    high += missing / 2;
  }
  return [low, high];
}

/**
 * The automatic range: the ops (those that make 99 % of the time, or all) together with the roofs'
 * corners, since a point without its roof says nothing.
 * @param {readonly Dot[]} dots
 * @param {readonly Place[]} corners ridges of the main roofs, log10
 * @param {"time" | "all"} fit
 * @returns {[Range, Range]}
 */
export function automaticRange(dots, corners, fit) {
  const kept = fit === "all" ? dots : withoutStrays(heaviest(dots));
  const xs = kept.map((dot) => dot.x);
  const ys = kept.map((dot) => dot.y);
  for (const corner of corners) {
    xs.push(corner.x - 0.4, corner.x + 0.9);
    ys.push(corner.y - 2, corner.y);
  }
  if (xs.length === 0)
    return [
      [-1, 3],
      [0, 5],
    ];
  return [spread(xs, [0.2, 0.22], 2), spread(ys, [0.3, 0.34], 2)];
}

const SHARE_FIT = 0.985; // of the time
const MOST_ABOVE = 0.6; // decades above the roof that are worth their room

/**
 * The range where heights are shares of roofs: those of nearly all of the time, the roof at 100 %, and the program.
 * @param {readonly Dot[]} dots
 * @param {"time" | "all"} fit
 * @param {Place | null} [program]
 * @returns {[Range, Range]}
 */
export function shareRange(dots, fit, program = null) {
  const kept = fit === "all" ? dots : withoutStrays(heaviest(dots, SHARE_FIT));
  if (kept.length === 0)
    return [
      [-1, 3],
      [-1, 0.3],
    ];
  const ys = kept.map((dot) => Math.min(MOST_ABOVE, dot.y));
  return [
    spread(
      [...kept, ...(program ? [program] : [])].map((dot) => dot.x),
      [0.2, 0.22],
      2,
    ),
    [Math.min(-0.5, ...ys) - 0.1, Math.max(0, ...ys) + 0.2],
  ];
}

/**
 * A range that keeps part of its length free above a line: its label stands there.
 * @param {Range} range
 * @param {number} line
 * @param {number} part of the length
 * @returns {Range}
 */
export function withHeadroom([low, high], line, part) {
  return [low, Math.max(high, (line - part * low) / (1 - part))];
}

/**
 * Where values of a log plot lie in CSS pixels of its box.
 * @param {[Range, Range]} range
 * @param {ChartBox} box
 */
export function createScale([xRange, yRange], { width, height, margin }) {
  const plotWidth = Math.max(1, width - margin.l - margin.r);
  const plotHeight = Math.max(1, height - margin.t - margin.b);
  const perX = plotWidth / (xRange[1] - xRange[0]);
  const perY = plotHeight / (yRange[1] - yRange[0]);
  return {
    xRange,
    yRange,
    plotWidth,
    plotHeight,
    perX,
    perY,
    margin,
    width,
    height,
    /** @param {number} x */
    toX: (x) => margin.l + (x - xRange[0]) * perX,
    /** @param {number} y */
    toY: (y) => margin.t + (yRange[1] - y) * perY,
    /** @param {number} px */
    fromX: (px) => xRange[0] + (px - margin.l) / perX,
    /** @param {number} py */
    fromY: (py) => yRange[1] - (py - margin.t) / perY,
  };
}

/** @typedef {ReturnType<typeof createScale>} Scale */
