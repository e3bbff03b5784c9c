// Where marks lie on a roofline with one roof of compute and one of memory. Pure.

import { createScale, spread, withHeadroom } from "./axes.js";

/** @import { RunRoofs as Roofs } from "../types/run.js" */
/** @import { ChartBox, Place, Range, Scale } from "./axes.js" */

/** @typedef {{ timeUs: number, flop: number | null, bytes: number | null } | null} Placed */

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
