// Where operations, roofs and landmarks lie on the roofline of operations: for the screen and for pictures. Pure.

import { automaticRange, createScale, shareRange, withHeadroom } from "./axes.js";
import { computeRoof } from "../text/roofs.js";
import { unheldReader } from "../text/roofs.js";
import { placedRate } from "../text/roofs.js";
import { JOINED } from "../state/model.js";
import { joinLevels, levelDots } from "./joined-levels.js";
import { logPlace, placePoints } from "./points.js";
import { attainable, mainMemory, ridge, topCompute } from "./roofs.js";
import { shownRoofs } from "./shown-roofs.js";

/** @import { ComputeRoof, Measure, MemoryRoof, ProgramPoint, Roofs } from "../types/page-data.js" */
/** @import { Model, Row, View } from "../types/model.js" */
/** @import { Relayout } from "../types/plotly.js" */
/** @import { Box, ViewState } from "../types/view-state.js" */
/** @import { ChartBox, Dot, Place, Range, Scale } from "./axes.js" */

/**
 * @typedef {{ x: number, y: number, width: number, height: number }} Rectangle pixels of the chart
 *
 * @typedef {object} Landmark what else can be pointed at: the program's star or a ridge point
 * @property {Place & { roof: MemoryRoof } | null} ridge
 * @property {number} px
 * @property {number} py
 * @property {number} radius
 */

// Shares of the plot's height, not pixels: the server draws the same range for a size that it does not know.
const LABEL_ROOM = 0.08; // above the highest compute roof
const TOOLS_ROOM = 0.15; // above the highest point, where no roof keeps points below the chart's buttons
/** @type {Roofs} */
const NO_ROOFS = { memory: [], compute: [] };
const STAR_RADIUS = 8;
const RIDGE_RADIUS = 4;

/** Whether heights are shares of roofs; joined levels have one height for several of them. @param {Axes} axes */
export const isShare = ({ x, y }) => y === "share" && x !== JOINED;

/** @typedef {Pick<ViewState, "x" | "y">} Axes */

/**
 * Where each op of a view lies on these axes, log10.
 * @param {Model} model
 * @param {View} view
 * @param {Axes} axes
 */
export function opPlaces(model, view, axes) {
  const intensity = view.reader(model.axis(axes.x).column);
  const rate = view.reader(isShare(axes) ? "roofline_efficiency_ratio" : "flop_rate_gflops");
  /** @param {Row} row */
  return (row) => {
    const at = intensity(row);
    return logPlace(typeof at === "number" ? at : null, rate(row));
  };
}

/**
 * Everything the drawing needs that is not looks.
 * @param {Model} model
 * @param {ViewState} state
 * @param {ChartBox} box
 * @param {ReadonlySet<Row>} shownRows the ops that pass the filters; only they are joined
 */
export function opGeometry(model, state, box, shownRows) {
  const view = model.view(state.infeed);
  const dots = dotsOf(view, opPlaces(model, view, state));
  const share = isShare(state);
  const shown = share ? NO_ROOFS : shownRoofs(model, view, state);
  const main = mainMemory(shown.memory, state.x);
  const flat = shown.compute[0] ?? null;
  const levels = state.x === JOINED ? levelDots(model, view, dots) : null;
  const program = programStar(model, view, state);
  const range = rangeOf(model, state, levels ?? dots, shown.compute, program);
  const scale = createScale(range, box);
  /** @param {Row} row */
  const look = (row) => model.categories[row.category];
  const joined = levels ? joinLevels(levels, scale, state, shownRows) : null;
  const isPinned = state.zoom === null;
  return {
    scale,
    points:
      joined?.dots ?? placePoints(dots, scale, (row) => look(row).symbol, state.size, isPinned),
    joined,
    shown,
    main,
    flat,
    roofOf: share ? () => 0 : roofReader(model, view, state, shown),
    isShare: share,
    corner: ridge(main, flat),
    look,
    others: share ? [] : model.others,
    program,
    axisLabel: levels ? "each memory level" : model.axis(state.x).label,
  };
}

/** @typedef {ReturnType<typeof opGeometry>} OpGeometry */

/**
 * @param {View} view
 * @param {(row: Row) => [number, number] | null} place
 * @returns {(Dot & { row: Row })[]}
 */
const dotsOf = (view, place) =>
  view.rows.flatMap((row) => {
    const at = place(row);
    return at ? [{ row, x: at[0], y: at[1], weight: row.share }] : [];
  });

/**
 * log10 of the FLOP rate that an op's roof allows. At its bound it is the roof that binds the op; on a level's
 * axis it is that level's.
 * @param {Model} model
 * @param {View} view
 * @param {ViewState} state
 * @param {Roofs} shown
 * @returns {(point: { row: Row, x: number }) => number} Infinity: no roof is shown or known for it
 */
function roofReader(model, view, state, shown) {
  const main = mainMemory(shown.memory, state.x);
  const rate = view.reader("attainable_gflops");
  const unit = view.reader("compute_unit");
  const isUnheld = unheldReader(model, view);
  const isAtBound = model.axis(state.x).column === model.x_axes[0].column;
  return ({ row, x }) => {
    if (shown.memory.length + shown.compute.length === 0) return Infinity;
    if (isAtBound) return (rate(row) ?? 0) > 0 ? Math.log10(rate(row) ?? 0) : Infinity;
    return attainable(x, main, isUnheld(row) ? null : computeRoof(model, unit(row)));
  };
}

/**
 * @param {Model} model
 * @param {ViewState} state
 * @param {Dot[]} dots
 * @param {ComputeRoof[]} compute shown roofs
 * @param {Place | null} star
 * @returns {[Range, Range]}
 */
function rangeOf(model, state, dots, compute, star) {
  if (state.zoom) {
    const [x0, x1, y0, y1] = state.zoom;
    return [
      [x0, x1],
      [y0, y1],
    ];
  }
  if (isShare(state)) return shareRange(dots, state.fit, star);
  const range = automaticRange(dots, corners(model, state), state.fit);
  const others = model.others.flatMap((other) => other.compute ?? []);
  return roomyRange(range, dots, [...compute, ...others]);
}

/**
 * The points that the automatic range must hold: the main ridge, and those of the devices compared with.
 * @param {Model} model
 * @param {ViewState} state
 */
function corners(model, state) {
  const main = mainMemory(model.roofs.memory, state.x);
  const memory = state.x === JOINED ? model.roofs.memory : main ? [main] : [];
  const own = memory.map((roof) => ridge(roof, model.roofs.compute[0] ?? null));
  const others = model.others.map((other) => ridge(other.memory, other.compute));
  return [...own, ...others].flatMap((corner) => corner ?? []);
}

/**
 * @param {[Range, Range]} range
 * @param {Dot[]} dots
 * @param {ComputeRoof[]} compute
 * @returns {[Range, Range]}
 */
function roomyRange([x, y], dots, compute) {
  const top = topCompute(compute);
  if (top) return [x, withHeadroom(y, Math.log10(top.gflops), LABEL_ROOM)];
  const highest = Math.max(...dots.map((dot) => dot.y).filter((place) => place <= y[1]));
  return [x, Number.isFinite(highest) ? withHeadroom(y, highest, TOOLS_ROOM) : y];
}

/** @param {ProgramPoint} point @param {ViewState} state @returns {Measure} */
const heightOf = (point, state) =>
  (isShare(state) ? point.roofline_efficiency_ratio : placedRate(point, "flop_rate_gflops")) ??
  null;

/** @param {Model} model @param {View} view @param {ViewState} state @returns {Place | null} */
function programStar(model, view, state) {
  const total = view.program[0];
  const intensity = total?.[model.axis(state.x).column];
  const at = logPlace(
    typeof intensity === "number" ? intensity : null,
    total ? heightOf(total, state) : null,
  );
  return at ? { x: at[0], y: at[1] } : null;
}

/**
 * Other places to point at: the ridge points, and the program's star.
 * @param {OpGeometry} geometry
 */
export function landmarks({ scale, program, shown, flat }) {
  /**
   * @param {Place} place
   * @param {number} radius
   * @param {Landmark["ridge"]} ridge
   * @returns {Landmark}
   */
  const mark = ({ x, y }, radius, ridge) => ({ ridge, px: scale.toX(x), py: scale.toY(y), radius });
  const ridges = shown.memory.flatMap((roof) => {
    const corner = ridge(roof, flat);
    return corner ? [mark(corner, RIDGE_RADIUS, { roof, ...corner })] : [];
  });
  return { ridges, star: program ? mark(program, STAR_RADIUS, null) : null };
}

/**
 * Whether a place lies inside the axes.
 * @param {{ px: number, py: number }} place
 * @param {Scale} scale
 */
export function isInside({ px, py }, { margin, width, height }) {
  return (
    px >= margin.l - 1 &&
    px <= width - margin.r + 1 &&
    py >= margin.t - 1 &&
    py <= height - margin.b + 1
  );
}

/**
 * The range after a drag of Plotly; null where nothing moved. A drag along one axis only names that axis.
 * @param {Relayout} change
 * @param {Scale} scale
 * @returns {Box | null}
 */
export function zoomFrom(change, { xRange, yRange }) {
  /** @type {Box} */
  const zoom = [
    change["xaxis.range[0]"] ?? xRange[0],
    change["xaxis.range[1]"] ?? xRange[1],
    change["yaxis.range[0]"] ?? yRange[0],
    change["yaxis.range[1]"] ?? yRange[1],
  ];
  const before = [...xRange, ...yRange];
  return zoom.some((value, i) => value !== before[i]) ? zoom : null;
}

/**
 * @param {Scale} scale
 * @param {number} factor below 1 zooms in
 * @param {{ x: number, y: number }} [at] pixels of the place that stays; the middle where there is none
 * @returns {Box}
 */
export function zoomedBy({ xRange, yRange, fromX, fromY }, factor, at) {
  /** @param {Range} range @param {number} kept @returns {Range} */
  const grow = ([low, high], kept) => [kept - (kept - low) * factor, kept + (high - kept) * factor];
  /** @param {Range} range */
  const middle = ([low, high]) => (low + high) / 2;
  return [
    ...grow(xRange, at ? fromX(at.x) : middle(xRange)),
    ...grow(yRange, at ? fromY(at.y) : middle(yRange)),
  ];
}

/**
 * @param {Scale} scale
 * @param {number} right part of the width
 * @param {number} up part of the height
 * @returns {Box}
 */
export function pannedBy({ xRange, yRange }, right, up) {
  /** @param {Range} range @param {number} part @returns {Range} */
  const shift = ([low, high], part) => [low + part * (high - low), high + part * (high - low)];
  return [...shift(xRange, right), ...shift(yRange, up)];
}

/**
 * The axes of a plot that was moved by so many pixels, and stretched.
 * @param {{ a: number, d: number, e: number, f: number }} carried stretch of x and y, pixels right and down
 * @param {Scale} scale before it was moved
 * @returns {Scale}
 */
export function rangeBehind({ a, d, e, f }, scale) {
  const { margin, plotWidth, plotHeight, fromX, fromY, width, height } = scale;
  /** @param {number} px */
  const x = (px) => fromX(margin.l + (px - e) / a);
  /** @param {number} py */
  const y = (py) => fromY(margin.t + (py - f) / d);
  return createScale(
    [
      [x(0), x(plotWidth)],
      [y(plotHeight), y(0)],
    ],
    { width, height, margin },
  );
}

/**
 * A selected area in pixels, cut at the axes.
 * @param {Box} box
 * @param {Scale} scale
 * @returns {Rectangle}
 */
export function rectangleOf([x0, x1, y0, y1], scale) {
  const { margin, width, height } = scale;
  const left = Math.max(margin.l, scale.toX(x0));
  const right = Math.min(width - margin.r, scale.toX(x1));
  const top = Math.max(margin.t, scale.toY(y1));
  const bottom = Math.min(height - margin.b, scale.toY(y0));
  return { x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
}

/**
 * A rectangle's area on the axes.
 * @param {Rectangle} rectangle
 * @param {Scale} scale
 * @returns {Box}
 */
export function boxFrom({ x, y, width, height }, scale) {
  return [scale.fromX(x), scale.fromX(x + width), scale.fromY(y + height), scale.fromY(y)];
}
