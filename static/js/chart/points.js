// Marks of strips: their size, their places beside each other, and the one under the pointer. Pure.

/** @import { ViewState } from "../types/view-state.js" */

/** Factors that give every shape the same area at the same share. */
/** @type {Record<string, number | undefined>} */
const AREA = { circle: 1, square: 0.886, diamond: 0.96, "triangle-up": 1.3, star: 1 };

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
