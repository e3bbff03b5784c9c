// Where points of a finding would land: moved by what is left of their time, FLOPs and bytes. Pure.

/** @import { Row } from "../types/model.js" */
/** @import { Scale } from "./axes.js" */

/**
 * @typedef {object} Landing what a lever leaves of an op, each from 0 to 1
 * @property {string} name
 * @property {number} time_ratio
 * @property {number} flop_ratio
 * @property {number} bytes_ratio
 * @property {string} level whose bytes these are
 *
 * @typedef {{ x: number, y: number, px: number, py: number, radius: number, row: Row }} Drawn a point of the chart, log10 and pixels
 * @typedef {{ from: Drawn, to: { px: number, py: number, radius: number } }} Move
 */

/**
 * The moves of drawn points; of names that several ops share, all move.
 * @param {readonly Landing[]} landings
 * @param {Iterable<Drawn>} points
 * @param {Scale} scale
 * @param {string} axis whose bytes the x axis counts: a level, "bottleneck" or "total"
 * @returns {Move[]}
 */
export function movesOf(landings, points, scale, axis) {
  const byName = new Map(landings.map((one) => [one.name, one]));
  const moves = [];
  for (const from of points) {
    const landing = byName.get(from.row.name);
    if (!landing) continue;
    const { time_ratio, flop_ratio, bytes_ratio, level } = landing;
    const isCounted = ["bottleneck", "total", level].includes(axis);
    const x = from.x + Math.log10(flop_ratio / (isCounted ? bytes_ratio : 1));
    const y = from.y + Math.log10(flop_ratio / time_ratio);
    moves.push({ from, to: { px: scale.toX(x), py: scale.toY(y), radius: from.radius } });
  }
  return moves;
}

/**
 * The line between two marks, from rim to rim; null where they touch.
 * @param {{ px: number, py: number, radius: number }} from
 * @param {{ px: number, py: number, radius: number }} to
 * @returns {[number, number, number, number] | null}
 */
export function lineBetween(from, to) {
  const [dx, dy] = [to.px - from.px, to.py - from.py];
  const distance = Math.hypot(dx, dy);
  if (distance <= from.radius + to.radius) return null;
  const [ux, uy] = [dx / distance, dy / distance];
  return [
    from.px + ux * from.radius,
    from.py + uy * from.radius,
    to.px - ux * to.radius,
    to.py - uy * to.radius,
  ];
}
