// Where each op is drawn: on the chart, on its edge, or in the strip without FLOPs. Pure.

/** @typedef {import("../state/model.js").Row} Row */

const { log10 } = Math;

/** Factors that give every shape the same area at the same share. */
const AREA = { circle: 1, square: 0.886, diamond: 0.96, "triangle-up": 1.3, star: 1 };
const EDGE_SIZE = 8;
/** Distance of edge marks from the frame, as a share of the axis. */
const EDGE_INSET = 0.018;

/**
 * Marker diameter in pixels; its area is the share of time.
 * @param {number} share
 * @param {string} symbol
 * @param {"time" | "equal"} mode
 */
export function markerSize(share, symbol, mode, largest = 36) {
  const base = mode === "equal" ? 8 : Math.min(largest, Math.max(5.5, Math.sqrt(share) * 138));
  return base * (AREA[symbol] ?? 1);
}

/**
 * log10 position of an op, null when it has none: no FLOPs, no bytes or no cost.
 * @param {number | null} intensity
 * @param {number | null} gflops
 * @returns {[number, number] | null}
 */
export function logPlace(intensity, gflops) {
  return intensity !== null && gflops !== null && intensity > 0 && gflops > 0
    ? [log10(intensity), log10(gflops)]
    : null;
}

/**
 * @typedef {object} Point a drawn op
 * @property {Row} row
 * @property {number} x log10; inside the range when pinned
 * @property {number} y log10; inside the range when pinned
 * @property {number} px
 * @property {number} py
 * @property {number} radius
 * @property {"left" | "right" | "above" | "below" | null} edge where the op lies when it is off the chart
 * @property {boolean} pinned drawn as a mark on that edge
 */

/**
 * @param {{ row: Row, x: number, y: number }[]} dots
 * @param {import("./axes.js").Scale} scale
 * @param {(row: Row) => string} symbolOf
 * @param {"time" | "equal"} mode
 * @param {boolean} pin keep what is off the chart as a mark on its edge (a zoom does not)
 * @returns {Point[]} longest first, so that short ops are drawn on top
 */
export function placePoints(dots, scale, symbolOf, mode, pin) {
  const points = [];
  for (const dot of [...dots].sort((a, b) => b.row.share - a.row.share)) {
    const edge = edgeOf(dot, scale);
    const pinned = pin && edge !== null;
    const x = pinned ? inside(dot.x, scale.xRange) : dot.x;
    const y = pinned ? inside(dot.y, scale.yRange) : dot.y;
    // An op without a time has no share that an area could show.
    const area = (dot.row.timing ?? "measured") === "measured" ? mode : "equal";
    const size = pinned ? EDGE_SIZE : markerSize(dot.row.share, symbolOf(dot.row), area);
    points.push({
      row: dot.row,
      x,
      y,
      px: scale.toX(x),
      py: scale.toY(y),
      radius: size / 2,
      edge,
      pinned,
    });
  }
  return points;
}

function edgeOf({ x, y }, { xRange, yRange }) {
  if (y < yRange[0]) return "below";
  if (y > yRange[1]) return "above";
  if (x < xRange[0]) return "left";
  return x > xRange[1] ? "right" : null;
}

function inside(value, [low, high]) {
  const margin = EDGE_INSET * (high - low);
  return Math.min(high - margin, Math.max(low + margin, value));
}

const EDGE_WORDS = { left: "◁", right: "▷", above: "△", below: "▽" };

/**
 * "▽ 8 below", per edge: what its marks stand for, or what a zoom leaves out.
 * @param {Iterable<Point>} points the shown ones
 * @returns {Record<"left" | "right" | "above" | "below", string>}
 */
export function edgeNotes(points) {
  const counts = { left: 0, right: 0, above: 0, below: 0 };
  for (const { edge } of points) if (edge) counts[edge] += 1;
  return /** @type {any} */ (
    Object.fromEntries(
      Object.entries(counts).map(([edge, n]) => [
        edge,
        n === 0 ? "" : `${EDGE_WORDS[edge]} ${n} ${edge}`,
      ]),
    )
  );
}

/**
 * Beeswarm: discs on one line, pushed up and down until none hides another.
 * @param {{ x: number, radius: number }[]} discs in order of importance; positions in pixels
 * @param {number} halfHeight
 * @returns {{ offsets: number[], crowded: number }} y from the middle; how many found no free place
 */
export function packDiscs(discs, halfHeight) {
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

const STEP = 2.6;

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
