// Every memory level of an op as one point, joined by a line: its FLOP rate at the intensity of each level. Pure.

import { logPlace, markerSize, placePoints } from "./points.js";

/** @import { Model, Row, View } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Scale } from "./axes.js" */
/** @import { Point } from "./points.js" */

/**
 * @typedef {object} DotLevel memory level of a dot
 * @property {string} id
 * @property {string} label
 * @property {number} code index into `bounds`
 * @property {string} token
 *
 * @typedef {{ row: Row, level: DotLevel, x: number, y: number, weight: number }} LevelDot log10
 * @typedef {Point & { token: string, level: DotLevel, isBound: boolean }} JoinedPoint
 *   `isBound`: the one that stands for its op where one is needed
 */

/** More lines than this hide each other. */
const MOST_JOINED = 50;
const LARGEST = 20;

/**
 * The points of all levels of some ops.
 * @param {Model} model
 * @param {View} view
 * @param {readonly { row: Row }[]} dots the ops that have a place
 * @returns {LevelDot[]}
 */
export function levelDots(model, view, dots) {
  const rate = view.reader("flop_rate_gflops");
  const levels = model.levels.map(({ id, label, token, columns }) => {
    const code = model.bounds.findIndex((bound) => bound.level === id);
    return {
      id,
      label,
      code,
      token,
      read: view.reader(columns.intensity),
    };
  });
  return dots.flatMap(({ row }) =>
    levels.flatMap((level) => {
      const at = logPlace(level.read(row), rate(row));
      return at ? [{ row, level, x: at[0], y: at[1], weight: row.share }] : [];
    }),
  );
}

/**
 * The longest of the filtered ops, and the selected one, with their lines.
 * @param {LevelDot[]} all
 * @param {Scale} scale
 * @param {Pick<ViewState, "op" | "size">} state
 * @param {ReadonlySet<Row>} shown
 */
export function joinLevels(all, scale, state, shown) {
  const rows = [...new Set(all.map(({ row }) => row))]
    .filter((row) => shown.has(row))
    .sort((a, b) => b.share - a.share);
  const kept = new Set([
    ...rows.slice(0, MOST_JOINED),
    ...rows.filter((row) => row.op === state.op),
  ]);
  const dots = all
    .filter(({ row }) => kept.has(row))
    .flatMap((dot) => {
      const [point] = placePoints([dot], scale, () => "circle", state.size, false);
      const radius = markerSize(dot.row.share, "circle", state.size, LARGEST) / 2;
      return [{ ...point, radius, token: dot.level.token, level: dot.level, isBound: true }];
    });
  return {
    dots: ordered(dots),
    lines: linesOf(dots),
    levels: levelsOf(all),
    left: rows.length - Math.min(rows.length, MOST_JOINED),
    most: MOST_JOINED,
  };
}

/**
 * Large ones first; of an op's points the one at its bound stands for it where one is needed.
 * @param {JoinedPoint[]} dots
 */
function ordered(dots) {
  /** @type {Map<number, JoinedPoint>} */
  const stand = new Map();
  for (const dot of dots) {
    const before = stand.get(dot.row.op);
    if (!before || dot.level.code === dot.row.bound) stand.set(dot.row.op, dot);
  }
  return dots
    .map((dot) => ({ ...dot, isBound: stand.get(dot.row.op) === dot }))
    .sort((a, b) => b.radius - a.radius);
}

/** @param {JoinedPoint[]} dots */
function linesOf(dots) {
  /** @type {Map<number, { x0: number, x1: number, y: number }>} */
  const spans = new Map();
  for (const { row, x, y } of dots) {
    const span = spans.get(row.op) ?? { x0: x, x1: x, y };
    spans.set(row.op, { x0: Math.min(span.x0, x), x1: Math.max(span.x1, x), y });
  }
  return [...spans.values()].filter(({ x0, x1 }) => x1 > x0);
}

/** @param {LevelDot[]} all */
const levelsOf = (all) => [...new Map(all.map(({ level }) => [level.id, level])).values()];
