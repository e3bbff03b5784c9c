// Roof geometry in log10 space: which roofs are shown, their lines, ridges and label places. Pure.

import { JOINED } from "../state/model.js";

/** @import { Bound, ComputeRoof, Measure, MemoryRoof, Roofs } from "../types/page-data.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Place, Range, Scale } from "./axes.js" */

const { log10 } = Math;

/**
 * @typedef {object} Used
 * @property {ReadonlySet<string>} levels memory levels that bound some op
 * @property {ReadonlySet<number>} compute compute roofs that some op is held against
 * @property {boolean} isUnheld all compute work ran on units without a known peak: the main roof is not about it
 *
 * @typedef {Pick<MemoryRoof, "gbs">} Slope all that a slanted line needs
 * @typedef {Pick<ComputeRoof, "gflops">} Height all that a flat line needs
 */

/**
 * @param {Roofs} roofs
 * @param {ViewState["roofs"]} mode
 * @param {Used} used
 * @param {string} axis x axis id: a level's own roof belongs to its axis, all of them to the joined one
 * @param {ComputeRoof | null} [chosen] the one compute roof that is wanted
 * @returns {Roofs}
 */
export function visibleRoofs(roofs, mode, used, axis, chosen = null) {
  if (mode === "none") return { memory: [], compute: [] };
  if (chosen) {
    const { memory } = visibleRoofs(roofs, mode, used, axis);
    return { memory, compute: [chosen] };
  }
  if (mode === "all") return roofs;
  const wanted = roofs.memory.filter(
    (roof) => used.levels.has(roof.id) || roof.id === axis || axis === JOINED,
  );
  return {
    memory: wanted.length > 0 ? wanted : roofs.memory.slice(0, 1),
    compute: roofs.compute.filter((_, i) => used.compute.has(i) || (i === 0 && !used.isUnheld)),
  };
}

/**
 * Which roofs hold these ops or program points.
 * @template R
 * @param {Iterable<R>} rows
 * @param {object} options
 * @param {readonly Pick<Bound, "level">[]} options.bounds
 * @param {(row: R) => number} options.boundOf
 * @param {(row: R) => Measure} options.computeOf
 * @param {(row: R) => boolean} options.isUnheld its FLOPs ran on a unit without a known peak
 * @returns {Used}
 */
export function usedRoofs(rows, { bounds, boundOf, computeOf, isUnheld }) {
  /** @type {Set<string>} */
  const levels = new Set();
  /** @type {Set<number>} */
  const compute = new Set();
  let hasUnheld = false;
  for (const row of rows) {
    const level = bounds[boundOf(row)]?.level;
    const unit = computeOf(row);
    if (level) levels.add(level);
    if (unit !== null) compute.add(unit);
    hasUnheld ||= isUnheld(row);
  }
  return { levels, compute, isUnheld: hasUnheld && compute.size === 0 };
}

/**
 * The memory roof distances are read against: the axis's own, else the outermost.
 * @param {readonly MemoryRoof[]} memory
 * @param {string} axis
 */
export function mainMemory(memory, axis) {
  return memory.find((roof) => roof.id === axis) ?? memory[0] ?? null;
}

/** The highest compute roof: where slanted lines end. @param {readonly ComputeRoof[]} compute */
export function topCompute(compute) {
  const highest = Math.max(...compute.map((roof) => roof.gflops));
  return compute.find((roof) => roof.gflops === highest) ?? null;
}

/**
 * log10 of the FLOP rate that a roof allows at log10 intensity x; either part may be unknown.
 * @param {number} x
 * @param {Slope | null} memory
 * @param {Height | null} compute
 */
export function attainable(x, memory, compute) {
  const slanted = memory ? x + log10(memory.gbs) : Infinity;
  const flat = compute ? log10(compute.gflops) : Infinity;
  return Math.min(slanted, flat);
}

/** @param {Slope | null} memory @param {Height | null} compute @returns {Place | null} */
export function ridge(memory, compute) {
  if (!memory || !compute) return null;
  const y = log10(compute.gflops);
  return { x: y - log10(memory.gbs), y };
}

/**
 * A roof as a line of two points, log10.
 * @typedef {{ kind: "slanted", roof: MemoryRoof, corner: Place | null, end: number, points: [number, number][] }} SlantedLine
 * @typedef {{ kind: "flat", roof: ComputeRoof, corner: null, end: number, points: [number, number][] }} FlatLine
 */

/**
 * Lines to the edges of the chart and past them, so that panning never uncovers an end.
 * @param {Roofs} shown
 * @param {Range} xRange
 * @returns {(SlantedLine | FlatLine)[]}
 */
export function roofLines(shown, xRange) {
  const left = xRange[0] - 3;
  const right = xRange[1] + 3;
  const top = topCompute(shown.compute);
  const main = shown.compute[0] ?? null;
  const fastest = shown.memory.reduce((best, roof) => Math.max(best, roof.gbs), 0);
  return [
    ...shown.memory.map((roof) => slantedLine(roof, { left, right, top, main })),
    ...shown.compute.map((roof) => flatLine(roof, { left, right, fastest })),
  ];
}

/**
 * Up to the highest compute roof; the ridge that counts is the one with the main roof.
 * @param {MemoryRoof} roof
 * @param {{ left: number, right: number, top: ComputeRoof | null, main: ComputeRoof | null }} chart
 * @returns {SlantedLine}
 */
function slantedLine(roof, { left, right, top, main }) {
  const slope = log10(roof.gbs);
  const end = ridge(roof, top)?.x ?? right;
  const start = Math.min(left, end - 1);
  /** @type {[number, number][]} */
  const points = [
    [start, start + slope],
    [end, end + slope],
  ];
  return { kind: "slanted", roof, corner: ridge(roof, main), end, points };
}

/**
 * From the ridge with the fastest memory.
 * @param {ComputeRoof} roof
 * @param {{ left: number, right: number, fastest: number }} chart `fastest`: GB/s; 0 without memory roofs
 * @returns {FlatLine}
 */
function flatLine(roof, { left, right, fastest }) {
  const y = log10(roof.gflops);
  const start = fastest > 0 ? y - log10(fastest) : left;
  /** @type {[number, number][]} */
  const points = [
    [start, y],
    [Math.max(right, start + 1), y],
  ];
  return { kind: "flat", roof, corner: null, end: right, points };
}

/**
 * A roof's line at a share of it; a flat one still begins at the slanted line that it meets. Log10.
 * @param {SlantedLine | FlatLine} line
 * @param {number} share 0 to 1
 * @returns {[number, number][]}
 */
export function sustainedPoints({ kind, points }, share) {
  const down = log10(share);
  return points.map(([x, y], i) => [kind === "flat" && i === 0 ? x + down : x, y + down]);
}

/**
 * Right ends of labels over flat lines, in pixels; a label that has no room beside closer ones is left out.
 * @template {{ y: number, width: number, left: number }} L
 * @param {L[]} labels in pixels, the most important first; `left`: where a label may begin
 * @param {number} right end of the lines
 * @returns {{ label: L, right: number }[]}
 */
export function flatPlaces(labels, right) {
  /** @type {{ label: L, right: number, y: number, width: number }[]} */
  const placed = [];
  for (const label of labels) {
    const { y, width, left } = label;
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
    if (end !== undefined) placed.push({ label, right: end, y, width });
  }
  return placed.map(({ label, right: end }) => ({ label, right: end }));
}

const FLAT_LABEL_HEIGHT = 17;
const LABEL_GAP = 10;

const LABEL_PLACES = [0.4, 0.74, 0.12, 0.57, 0.9];
const LABEL_HEIGHT = 24; // pixels between two lines for a label to fit
const SAME_LINE = 5; // closer lines read as one
/** Pixels between a slanted line and the middle of its label. */
export const LABEL_AWAY = 11;
const TEXT_HEIGHT = 15;

/** @typedef {{ roof: MemoryRoof, x: number, y: number, angle: number, below: boolean, half: number }} SlantedLabel */

/**
 * Places for the labels of slanted lines: on the visible part, staggered where lines run close, on the
 * side of its line and at the place where it covers the fewest points; below a line that has another one
 * right above it. A label that would hide another one or lie on the ticks is left out.
 * @param {ReturnType<typeof roofLines>} lines
 * @param {Scale} scale
 * @param {(roof: MemoryRoof) => number} labelWidth in pixels
 * @param {readonly { px: number, py: number }[]} [points] that labels keep clear of, in pixels
 * @returns {SlantedLabel[]} angle in degrees, as Plotly counts; half of its length in decades of x
 */
export function slantedLabels(lines, scale, labelWidth, points = []) {
  const angle = (-Math.atan2(scale.perY, scale.perX) * 180) / Math.PI;
  const perLength = Math.hypot(scale.perX, scale.perY);
  /** @type {SlantedLabel[]} */
  const placed = [];
  const slanted = lines
    .flatMap((line) => (line.kind === "slanted" ? [line] : []))
    .sort((a, b) => b.roof.gbs - a.roof.gbs);
  /** Pixels from one line up to another. @param {MemoryRoof} from @param {MemoryRoof} to */
  const upTo = (from, to) =>
    ((log10(to.gbs) - log10(from.gbs)) * scale.perX * scale.perY) / perLength;
  for (const { roof, end } of slanted) {
    const slope = log10(roof.gbs);
    const [from, to] = visiblePart(slope, end, scale);
    const half = labelWidth(roof) / 2 / perLength;
    if (to - from < 2 * half) continue;
    const distances = placed.map((other) => upTo(roof, other.roof));
    const others = slanted.map((line) => upTo(roof, line.roof));
    const near = placed.filter((_, i) => distances[i] < 1.6 * LABEL_HEIGHT).map(({ x }) => x);
    const places = LABEL_PLACES.map((part) =>
      Math.min(to - half, Math.max(from + half, from + (to - from) * part)),
    );
    const { one: label, cost } = sidesOf(others)
      .flatMap((below) => places.map((x) => ({ roof, x, y: x + slope, angle, below, half })))
      .map((one) => ({ one, cost: costOf(one, near, scale, points) }))
      .reduce((best, next) => (next.cost < best.cost ? next : best));
    const isFree = !placed.some((other, i) => isOverlapping(label, other, distances[i]));
    if (isFree && cost < OUT) placed.push(label);
  }
  return placed;
}

/**
 * Sides of a line that have room, the usual one first: true is below.
 * @param {number[]} others distances up to all lines, in pixels
 */
function sidesOf(others) {
  const hasAbove = others.some((gap) => gap > SAME_LINE && gap < LABEL_HEIGHT);
  const hasBelow = others.some((gap) => gap < -SAME_LINE && gap > -LABEL_HEIGHT);
  return hasAbove ? [true] : hasBelow ? [false] : [false, true];
}

/**
 * How bad a place is: points covered, nearness to other labels, and reaching out of the plot.
 * @param {SlantedLabel} label
 * @param {number[]} near places of labels on close lines
 * @param {Scale} scale
 * @param {readonly { px: number, py: number }[]} points
 */
function costOf(label, near, scale, points) {
  const room = Math.min(Infinity, ...near.map((x) => Math.abs(x - label.x)));
  const turn = Math.atan2(scale.perY, scale.perX);
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  const long = label.half * Math.hypot(scale.perX, scale.perY);
  const cx = scale.toX(label.x) - awayOf(label) * sin;
  const cy = scale.toY(label.y) - awayOf(label) * cos;
  const isCovered = (/** @type {{ px: number, py: number }} */ { px, py }) =>
    Math.abs((px - cx) * cos - (py - cy) * sin) < long &&
    Math.abs((px - cx) * sin + (py - cy) * cos) < HALF_TEXT;
  const isOut = cx - long * cos - HALF_TEXT * sin < scale.margin.l;
  const isCrowded = room < 2.2 * label.half;
  return (
    points.filter(isCovered).length + (isOut ? OUT : 0) + (isCrowded ? CROWDED + 1 / (1 + room) : 0)
  );
}

const HALF_TEXT = 9; // pixels
const OUT = 1000;
const CROWDED = 3; // as bad as so many covered points

/** @param {Pick<SlantedLabel, "below">} label */
const awayOf = ({ below }) => (below ? -LABEL_AWAY : LABEL_AWAY);

/**
 * @param {SlantedLabel} label
 * @param {SlantedLabel} other
 * @param {number} distance of the other's line above this one's, in pixels
 */
const isOverlapping = (label, other, distance) =>
  Math.abs(distance + awayOf(other) - awayOf(label)) < TEXT_HEIGHT &&
  Math.abs(other.x - label.x) < other.half + label.half;

/**
 * Where a slanted line enters and leaves the chart.
 * @param {number} slope log10 of GB/s
 * @param {number} end of the line
 * @param {Scale} scale
 */
const visiblePart = (slope, end, { xRange, yRange }) => [
  Math.max(xRange[0], yRange[0] - slope),
  Math.min(end, xRange[1], yRange[1] - slope),
];
