// Where each op is drawn: on the chart, on its edge, or in the strip without FLOPs. Pure.

/** @import { Measure } from "../types/page-data.js" */
/** @import { Row } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Range, Scale } from "./axes.js" */

const { log10 } = Math;

/** Factors that give every shape the same area at the same share. */
/** @type {Record<string, number | undefined>} */
const AREA = { circle: 1, square: 0.886, diamond: 0.96, "triangle-up": 1.3, star: 1 };
const EDGE_SIZE = 8;
/** Distance of edge marks from the frame, as a share of the axis. */
const EDGE_INSET = 0.018;

/**
 * Marker diameter in pixels; its area is the share of time.
 * @param {number} share
 * @param {string} symbol
 * @param {ViewState["size"]} mode
 */
export function markerSize(share, symbol, mode, largest = 36) {
  const base = mode === "equal" ? 8 : Math.min(largest, Math.max(5.5, Math.sqrt(share) * 138));
  return base * (AREA[symbol] ?? 1);
}

/**
 * log10 position of an op, null when it has none: no FLOPs, no bytes, or one of them is not known.
 * @param {Measure} intensity
 * @param {Measure} gflops
 * @returns {[number, number] | null}
 */
export function logPlace(intensity, gflops) {
  return intensity !== null && gflops !== null && intensity > 0 && gflops > 0
    ? [log10(intensity), log10(gflops)]
    : null;
}

/**
 * The fields of an op that its place on the chart needs.
 * @typedef {Pick<Row, "share"> & Partial<Pick<Row, "timing">>} Weighted
 *
 * @typedef {"left" | "right" | "above" | "below"} Edge
 */

/**
 * @template {Weighted} [R=Row]
 * @typedef {object} Point a drawn op
 * @property {R} row
 * @property {number} x log10; inside the range when pinned
 * @property {number} y log10; inside the range when pinned
 * @property {number} px
 * @property {number} py
 * @property {number} radius
 * @property {Edge | null} edge where the op lies when it is off the chart
 * @property {boolean} pinned drawn as a mark on that edge
 */

/**
 * @template {Weighted} R
 * @param {readonly { row: R, x: number, y: number }[]} dots
 * @param {Scale} scale
 * @param {(row: R) => string} symbolOf
 * @param {ViewState["size"]} mode
 * @param {boolean} pin keep what is off the chart as a mark on its edge (a zoom does not)
 * @returns {Point<R>[]} longest first, so that short ops are drawn on top
 */
export function placePoints(dots, scale, symbolOf, mode, pin) {
  return [...dots]
    .sort((a, b) => b.row.share - a.row.share)
    .map((dot) => {
      const edge = edgeOf(dot, scale);
      const pinned = pin && edge !== null;
      const x = pinned ? inside(dot.x, scale.xRange) : dot.x;
      const y = pinned ? inside(dot.y, scale.yRange) : dot.y;
      // An op without a time has no share that an area could show.
      const area = (dot.row.timing ?? "measured") === "measured" ? mode : "equal";
      const size = pinned ? EDGE_SIZE : markerSize(dot.row.share, symbolOf(dot.row), area);
      const { row } = dot;
      return { row, x, y, px: scale.toX(x), py: scale.toY(y), radius: size / 2, edge, pinned };
    });
}

/** @param {{ x: number, y: number }} dot @param {Scale} scale @returns {Edge | null} */
function edgeOf({ x, y }, { xRange, yRange }) {
  if (y < yRange[0]) return "below";
  if (y > yRange[1]) return "above";
  if (x < xRange[0]) return "left";
  return x > xRange[1] ? "right" : null;
}

/** @param {number} value @param {Range} range */
function inside(value, [low, high]) {
  const margin = EDGE_INSET * (high - low);
  return Math.min(high - margin, Math.max(low + margin, value));
}

/** @type {Record<Edge, string>} */
const EDGE_SIGNS = { left: "◁", right: "▷", above: "△", below: "▽" };

/**
 * "▽ 8 below", per edge: what its marks stand for, or what a zoom leaves out.
 * @param {Iterable<{ edge: Edge | null }>} points the shown ones
 * @returns {Record<Edge, string>}
 */
export function edgeNotes(points) {
  const counts = { left: 0, right: 0, above: 0, below: 0 };
  for (const { edge } of points) if (edge) counts[edge] += 1;
  /** @param {Edge} edge */
  const note = (edge) => (counts[edge] === 0 ? "" : `${EDGE_SIGNS[edge]} ${counts[edge]} ${edge}`);
  return { left: note("left"), right: note("right"), above: note("above"), below: note("below") };
}

/**
 * Beeswarm: discs on one line, pushed up and down until none hides another.
 * @param {readonly { x: number, radius: number }[]} discs in order of importance; positions in pixels
 * @param {number} halfHeight
 * @returns {{ offsets: number[], crowded: number }} y from the middle; how many found no free place
 */
export function packDiscs(discs, halfHeight) {
  /** @type {Disc[]} */
  const placed = [];
  let crowded = 0;
  const offsets = discs.map(({ x, radius }, i) => {
    const free = freeOffset(
      placed.filter((disc) => Math.abs(disc.x - x) < disc.radius + radius),
      x,
      radius,
      halfHeight,
    );
    if (free === null) crowded += 1;
    // No free place: spread evenly rather than pile up in the middle.
    const y = free ?? (((i * 37) % 100) / 50 - 1) * Math.max(0, halfHeight - radius);
    placed.push({ x, y, radius });
    return y;
  });
  return { offsets, crowded };
}

/** @typedef {{ x: number, y: number, radius: number }} Disc pixels */

const STEP = 2.6;

/**
 * @param {Disc[]} near
 * @param {number} x
 * @param {number} radius
 * @param {number} halfHeight
 */
function freeOffset(near, x, radius, halfHeight) {
  const room = Math.max(0, halfHeight - radius);
  for (let k = 0; k * STEP <= 2 * room; k += 1) {
    const y = (k % 2 ? 1 : -1) * Math.ceil(k / 2) * STEP;
    if (
      Math.abs(y) <= room &&
      near.every(
        (disc) => (disc.x - x) ** 2 + (disc.y - y) ** 2 >= 0.9 * (disc.radius + radius) ** 2,
      )
    )
      return y;
  }
  return null;
}

/**
 * The nearest of some drawn places within reach of the pointer.
 * @template {{ px: number, py: number, radius: number }} T
 * @param {Iterable<T>} places
 * @param {number} px
 * @param {number} py
 * @returns {T | null}
 */
export function nearest(places, px, py, reach = 14) {
  let best = null;
  let bestDistance = Infinity;
  for (const place of places) {
    const distance = Math.hypot(place.px - px, place.py - py) - place.radius;
    // Under the pointer several discs may overlap: the one whose centre is nearest in its own size wins.
    const rank = distance <= 0 ? distance / (place.radius + 1) - 1 : distance;
    if (distance <= reach && rank < bestDistance) {
      best = place;
      bestDistance = rank;
    }
  }
  return best;
}

/**
 * One place per few pixels: ten thousand steps on one spot need one mark.
 * @template {{ px: number, py: number }} T
 * @param {T[]} places later ones win
 * @param {number} most how many may stay
 * @returns {T[]}
 */
export function thinOut(places, most) {
  if (places.length <= most) return places;
  for (let cell = 1; ; cell *= 2) {
    const kept = new Map(
      places.map((place) => [
        `${Math.round(place.px / cell)},${Math.round(place.py / cell)}`,
        place,
      ]),
    );
    if (kept.size <= most || cell > 512) return [...kept.values()];
  }
}
