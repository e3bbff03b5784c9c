// Log axes: ticks, automatic range, pixel positions. Pure. Ranges are log10.

import { bandwidth, flopRate, significant } from "../text/format.js";

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
/** @param {Range} range GB/s @param {number} pixels length of the axis */
export const bandwidthTicks = (range, pixels) =>
  logTicks(range, pixels, 72, (value) => bandwidth(value, 1));

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
