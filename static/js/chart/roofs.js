// Roof geometry in log10 space: which roofs are shown, their lines, ridges and label places. Pure.

/**
 * @typedef {object} MemoryRoof
 * @property {string} id
 * @property {string} label
 * @property {number} gibs
 * @property {number} gbs the slope: GFLOP/s = FLOP/byte × GB/s
 * @property {string} token
 * @property {string} dash
 *
 * @typedef {object} ComputeRoof
 * @property {string} id
 * @property {string} label
 * @property {number} gflops
 * @property {string} token
 * @property {string} dash
 */

import { JOINED } from "../state/model.js";

const { log10 } = Math;

/**
 * @typedef {object} Used
 * @property {ReadonlySet<string>} levels memory levels that bound some op
 * @property {ReadonlySet<number>} compute compute roofs that some op is held against
 *
 * @param {{ memory: MemoryRoof[], compute: ComputeRoof[] }} roofs
 * @param {"auto" | "all" | "none"} mode
 * @param {Used} used
 * @param {string} axis x axis id: a level's own roof belongs to its axis, all of them to the joined one
 */
export function visibleRoofs(roofs, mode, used, axis) {
  if (mode === "none") return { memory: [], compute: [] };
  if (mode === "all") return roofs;
  const wanted = roofs.memory.filter(
    (roof) => used.levels.has(roof.id) || roof.id === axis || axis === JOINED,
  );
  return {
    memory: wanted.length > 0 ? wanted : roofs.memory.slice(0, 1),
    compute: roofs.compute.filter((_, i) => i === 0 || used.compute.has(i)),
  };
}

/**
 * Which roofs hold these ops or program points.
 * @template R
 * @param {Iterable<R>} rows
 * @param {{ bounds: any[], boundOf: (row: R) => number, computeOf: (row: R) => number | null }} options
 * @returns {Used}
 */
export function usedRoofs(rows, { bounds, boundOf, computeOf }) {
  const levels = new Set();
  const compute = new Set();
  for (const row of rows) {
    const level = bounds[boundOf(row)]?.level;
    const unit = computeOf(row);
    if (level) levels.add(level);
    if (unit !== null) compute.add(unit);
  }
  return { levels, compute };
}

/** The memory roof distances are read against: the axis's own, else the outermost. */
export function mainMemory(memory, axis) {
  return memory.find((roof) => roof.id === axis) ?? memory[0] ?? null;
}

/** The highest compute roof: where slanted lines end. */
export function topCompute(compute) {
  return compute.reduce(
    (top, roof) => (top === null || roof.gflops > top.gflops ? roof : top),
    null,
  );
}

/** The compute roof that an op or program point is held against; `unit`: its `compute_unit`, null without one. */
export const computeRoof = (model, unit) => model.roofs.compute[unit ?? 0] ?? null;

/** log10 of the FLOP rate that a roof allows at log10 intensity x; either part may be unknown. */
export function attainable(x, memory, compute) {
  const slanted = memory ? x + log10(memory.gbs) : Infinity;
  const flat = compute ? log10(compute.gflops) : Infinity;
  return Math.min(slanted, flat);
}

/** @returns {{ x: number, y: number } | null} */
export function ridge(memory, compute) {
  if (!memory || !compute) return null;
  const y = log10(compute.gflops);
  return { x: y - log10(memory.gbs), y };
}

/**
 * Lines to the edges of the chart and past them, so that panning never uncovers an end.
 * @param {{ memory: MemoryRoof[], compute: ComputeRoof[] }} shown
 * @param {[number, number]} xRange
 */
export function roofLines(shown, xRange) {
  const left = xRange[0] - 3;
  const right = xRange[1] + 3;
  const top = topCompute(shown.compute);
  const fastest = shown.memory.reduce((best, roof) => Math.max(best, roof.gbs), 0);
  const slanted = shown.memory.map((roof) => {
    // Up to the highest compute roof; the ridge that counts is the one with the main roof.
    const end = ridge(roof, top)?.x ?? right;
    const slope = log10(roof.gbs);
    return {
      roof,
      kind: "slanted",
      corner: ridge(roof, shown.compute[0] ?? null),
      end,
      points: [
        [Math.min(left, end - 1), Math.min(left, end - 1) + slope],
        [end, end + slope],
      ],
    };
  });
  const flat = shown.compute.map((roof) => {
    const y = log10(roof.gflops);
    const start = fastest > 0 ? y - log10(fastest) : left;
    return {
      roof,
      kind: "flat",
      corner: null,
      end: right,
      points: [
        [start, y],
        [Math.max(right, start + 1), y],
      ],
    };
  });
  return [...slanted, ...flat];
}

/**
 * Right ends of labels over flat lines, in pixels; a label that has no room beside closer ones is left out.
 * @template R
 * @param {{ roof: R, y: number, width: number }[]} labels in pixels, the most important first
 * @param {{ left: number, right: number }} bounds
 * @returns {{ roof: R, right: number }[]}
 */
export function flatPlaces(labels, { left, right }) {
  const placed = [];
  for (const { roof, y, width } of labels) {
    const near = placed.filter((other) => Math.abs(other.y - y) < FLAT_LABEL_HEIGHT);
    const ends = [right, ...near.map((other) => other.right - other.width - LABEL_GAP)].sort(
      (a, b) => b - a,
    );
    const end = ends.find(
      (at) =>
        at - width >= left &&
        near.every(
          (other) =>
            at <= other.right - other.width - LABEL_GAP || at - width >= other.right + LABEL_GAP,
        ),
    );
    if (end !== undefined) placed.push({ roof, right: end, y, width });
  }
  return placed.map(({ roof, right: end }) => ({ roof, right: end }));
}

const FLAT_LABEL_HEIGHT = 17;
const LABEL_GAP = 10;

const LABEL_PLACES = [0.4, 0.74, 0.12, 0.57, 0.9];
const LABEL_HEIGHT = 24; // pixels between two lines for a label to fit
const SAME_LINE = 5; // closer lines read as one

/**
 * Places for the labels of slanted lines: on the visible part, staggered where lines run close, and
 * below a line that has another one right above it.
 * @param {ReturnType<typeof roofLines>} lines
 * @param {import("./axes.js").Scale} scale
 * @param {(roof: MemoryRoof) => number} labelWidth in pixels
 * @returns {{ roof: MemoryRoof, x: number, y: number, angle: number, below: boolean }[]} angle in degrees, as Plotly counts
 */
export function slantedLabels(lines, scale, labelWidth) {
  const angle = (-Math.atan2(scale.perY, scale.perX) * 180) / Math.PI;
  const perLength = Math.hypot(scale.perX, scale.perY);
  const placed = [];
  const slanted = lines
    .filter((line) => line.kind === "slanted")
    .sort((a, b) => b.roof.gbs - a.roof.gbs);
  for (const { roof, end } of slanted) {
    const slope = log10(roof.gbs);
    const from = Math.max(scale.xRange[0], scale.yRange[0] - slope);
    const to = Math.min(end, scale.xRange[1], scale.yRange[1] - slope);
    const distances = placed.map(
      (other) => ((log10(other.roof.gbs) - slope) * scale.perX * scale.perY) / perLength,
    );
    const near = placed.filter((_, i) => distances[i] < 1.6 * LABEL_HEIGHT);
    const below = distances.some((distance) => distance > SAME_LINE && distance < LABEL_HEIGHT);
    const half = labelWidth(roof) / 2 / perLength;
    if (to - from < 2 * half) continue;
    const places = LABEL_PLACES.map((part) =>
      Math.min(to - half, Math.max(from + half, from + (to - from) * part)),
    );
    const x = roomiest(
      places,
      near.map((other) => other.x),
      2.2 * half,
    );
    placed.push({ roof, x, y: x + slope, angle, below });
  }
  return placed;
}

/** The first place that keeps its distance from all others, else the one farthest from them. */
function roomiest(places, others, distance) {
  const room = (x) => Math.min(Infinity, ...others.map((other) => Math.abs(other - x)));
  return (
    places.find((x) => room(x) >= distance) ??
    places.reduce((best, x) => (room(x) > room(best) ? x : best))
  );
}
