// Where rows of a comparison lie on the roofline, and the legs of the arrows between. Pure.

import { createScale, spread, withHeadroom } from "./axes.js";

/** @import { Roofs, RowSide } from "../types/comparison.js" */
/** @import { ChartBox, Place, Range, Scale } from "./axes.js" */

/**
 * Legs of an arrow, log10: along A's roof with the intensity (work and traffic), from A's roof to
 * B's (peaks), and up or down to where B is (closeness). Together they lead from A to B.
 * @typedef {object} Legs
 * @property {Place} start
 * @property {Place} along end of the first leg
 * @property {Place} peaks end of the second
 * @property {Place} end
 */

/** @typedef {Pick<RowSide, "timeUs" | "flop" | "bytes"> | null} Placed */

const US_PER_GFLOP = 1e3; // FLOP/us in a GFLOP/s
const LEAST_RADIUS = 2.4;
const MOST_RADIUS = 15;

/** log10 of intensity and GFLOP/s; null without FLOPs, bytes or time. @param {Placed} side @returns {Place | null} */
export function placeOf(side) {
  if (!side || !(side.timeUs > 0) || !side.flop || !side.bytes) return null;
  return {
    x: Math.log10(side.flop / side.bytes),
    y: Math.log10(side.flop / side.timeUs / US_PER_GFLOP),
  };
}

/** The height of a roof at an intensity, log10 of GFLOP/s; null without both peaks. @param {Roofs} roofs @param {number} x log10 */
export function roofAt({ gflops, gbs }, x) {
  if (gflops === null || gbs === null) return null;
  return Math.min(Math.log10(gflops), Math.log10(gbs) + x);
}

/**
 * @param {Place} start
 * @param {Place} end
 * @param {{ a: Roofs, b: Roofs }} roofs
 * @returns {Legs}
 */
export function legs(start, end, { a, b }) {
  const before = roofAt(a, start.x);
  const after = roofAt(a, end.x);
  if (before === null || after === null) return { start, along: end, peaks: end, end };
  const along = { x: end.x, y: start.y + after - before };
  const other = roofAt(b, end.x);
  const peaks = { x: end.x, y: other === null ? along.y : along.y + other - after };
  return { start, along, peaks, end };
}

/** Radius of a mark; its area is the time. @param {number} timeUs @param {number} largestUs */
export const radiusOf = (timeUs, largestUs) =>
  Math.max(LEAST_RADIUS, MOST_RADIUS * Math.sqrt(largestUs > 0 ? timeUs / largestUs : 0));

/**
 * The axes: all hot places, and the corners of both roofs.
 * @param {readonly { a: Placed, b: Placed }[]} rows those that must be seen
 * @param {{ a: Roofs, b: Roofs }} roofs
 * @param {ChartBox} box
 * @returns {Scale}
 */
export function arrowScale(rows, roofs, box) {
  const places = rows.flatMap((row) => [placeOf(row.a), placeOf(row.b)]).filter((one) => !!one);
  const xs = places.map(({ x }) => x);
  const ys = places.map(({ y }) => y);
  let top = -Infinity;
  for (const { gflops, gbs } of [roofs.a, roofs.b]) {
    if (gflops === null || gbs === null) continue;
    const ridge = Math.log10(gflops / gbs);
    xs.push(ridge - 0.4, ridge + 0.9);
    ys.push(Math.log10(gflops) - 2, Math.log10(gflops));
    top = Math.max(top, Math.log10(gflops));
  }
  if (xs.length === 0) xs.push(0, 2);
  if (ys.length === 0) ys.push(0, 4);
  /** @type {[Range, Range]} */
  const range = [spread(xs, [0.25, 0.25], 2), spread(ys, [0.3, 0.3], 2)];
  if (Number.isFinite(top)) range[1] = withHeadroom(range[1], top, 0.14);
  return createScale(range, box);
}

/**
 * A place on the strip of ops without FLOPs: the share of the main memory's peak that a side reaches.
 * @param {RowSide | null} side
 * @param {Roofs} roofs of that side
 * @returns {number | null} a ratio; null where it is not known, or where there are FLOPs
 */
export function memoryShare(side, { gbs }) {
  if (!side || side.flop || !side.bytes || !(side.timeUs > 0) || !gbs) return null;
  return side.bytes / side.timeUs / (gbs * 1e3);
}
