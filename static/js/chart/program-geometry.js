// Where the program's points and roofs lie on the small roofline. Pure.

import { createScale, spread, withHeadroom } from "./axes.js";
import { logPlace, thinOut } from "./points.js";
import { placedRate } from "../text/roofs.js";
import { mainMemory, ridge, topCompute } from "./roofs.js";
import { flatLabelPlaces } from "./roof-figure.js";
import { isRoofShown } from "./shown-roofs.js";
import { percent } from "../text/format.js";

/** @import { ProgramPoint, Roofs, Scope } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */
/** @import { ChartBox, Place, Range, Scale } from "./axes.js" */
/** @import { RoofChart } from "./roof-figure.js" */

/**
 * @typedef {{ point: ProgramPoint, x: number, y: number }} ProgramDot log10
 * @typedef {ProgramDot & { px: number, py: number, radius: number }} ProgramPlace
 * @typedef {{ x: number, y: number, roof: number, share: number }} RoofGap log10, and share of the roof
 * @typedef {{ isLeft: boolean, lines: string[] }} GapWords beside the gap
 *
 * @typedef {RoofChart & { places: ProgramPlace[], total: RoofGap | null }} ProgramGeometry
 *   `places`: later ones on top; `total`: where the dashed gap to the roof is drawn, with its words
 */

/** @type {Record<Scope, number>} */
const DRAW_ORDER = { step: 0, phase: 1, average: 2, total_hw: 3, total: 4 };
const MOST_MARKS = 300;
const LABEL_ROOM = 0.12; // of the plot’s height, above the compute roof
const RADIUS = 5;

/**
 * @param {Model} model
 * @param {readonly ProgramPoint[]} points
 * @param {Roofs} shown the roofs that are drawn
 * @param {ChartBox} box
 * @returns {ProgramGeometry}
 */
export function programGeometry(model, points, shown, box) {
  const dots = dotsOf(points, model.x_axes[0].column);
  const levels = new Set(points.map((point) => model.bounds[point.bound_by]?.level));
  const binding = shown.memory.filter((roof) => levels.has(roof.id));
  const main = mainMemory([...binding, ...shown.memory], "bottleneck");
  const flat = shown.compute[0] ?? null;
  const corner = ridge(main, flat);
  const top = topCompute(shown.compute)?.gflops ?? null;
  const scale = createScale(roomyRange(programRange(dots, corner), top), box);
  const places = thinned(placesOf(dots, scale));
  const whole = points[0];
  const total = whole && isRoofShown(model, shown, whole) ? totalGap(places, whole) : null;
  const chart = { places, shown, main, flat, corner, scale, total };
  const [name] = flatLabelPlaces(chart, { small: true, size: 11 });
  const taken = [
    ...places,
    ...(total ? gapPlaces(total, scale) : []),
    ...(name ? inRow(name.width, name.right, name.y - 8, -1) : []),
  ];
  return { ...chart, points: taken };
}

// Pixels that the share of the roof needs beside the star.
const ONE_LINE = 84;
const TWO_LINES = 54;

/**
 * The share of the roof: on the left is the slanted roof with its name, so that two short lines stand on
 * the right, where they fit.
 * @param {RoofGap} gap
 * @param {Scale} scale
 * @returns {GapWords}
 */
export function gapWords({ x, share }, scale) {
  const room = scale.width - scale.toX(x);
  const words = [percent(share, 0), "of roof"];
  return { isLeft: room < TWO_LINES, lines: room < ONE_LINE ? words : [words.join(" ")] };
}

/**
 * Pixels that these words cover, so that names of roofs keep clear of them.
 * @param {RoofGap} gap
 * @param {Scale} scale
 */
function gapPlaces(gap, scale) {
  const { isLeft, lines } = gapWords(gap, scale);
  const middle = scale.toY((gap.y + gap.roof) / 2);
  const side = isLeft ? -1 : 1;
  return lines.flatMap((text, row) =>
    inRow(
      6 * text.length,
      scale.toX(gap.x) + 5 * side,
      middle + 14 * row - 7 * (lines.length - 1),
      side,
    ),
  );
}

/** @param {number} width @param {number} from @param {number} py @param {number} side 1: to the right */
const inRow = (width, from, py, side) =>
  Array.from({ length: Math.ceil(width / 6) }, (_, i) => ({ px: from + side * (3 + 6 * i), py }));

/**
 * @param {readonly ProgramPoint[]} points
 * @param {string} column of the intensity
 * @returns {ProgramDot[]}
 */
function dotsOf(points, column) {
  return points.flatMap((point) => {
    const intensity = point[column];
    const at = logPlace(typeof intensity === "number" ? intensity : null, rateOf(point));
    return at ? [{ point, x: at[0], y: at[1] }] : [];
  });
}

/** @param {ProgramPoint} point */
const rateOf = (point) => placedRate(point, "flop_rate_gflops") ?? null;

/** @param {ProgramDot[]} dots @param {Scale} scale @returns {ProgramPlace[]} */
const placesOf = (dots, scale) =>
  dots
    .map((dot) => ({ ...dot, px: scale.toX(dot.x), py: scale.toY(dot.y), radius: RADIUS }))
    .sort((a, b) => DRAW_ORDER[a.point.scope] - DRAW_ORDER[b.point.scope]);

/**
 * Outliers and totals always stay; ordinary steps on the same spot need one mark.
 * @param {ProgramPlace[]} places
 */
function thinned(places) {
  /** @param {ProgramPlace} place */
  const isOrdinary = ({ point }) => point.scope === "step" && !point.is_outlier;
  const special = places.filter((place) => !isOrdinary(place));
  return [...thinOut(places.filter(isOrdinary), MOST_MARKS), ...thinOut(special, MOST_MARKS)];
}

/**
 * Around the points and the ridge, so that the distance to the roof can be seen.
 * @param {ProgramDot[]} dots
 * @param {Place | null} corner
 * @returns {[Range, Range]}
 */
function programRange(dots, corner) {
  const corners = corner ? [corner] : [];
  const places = [...dots, ...corners];
  if (places.length === 0)
    return [
      [-1, 3],
      [0, 5],
    ];
  const whole = dots.filter(({ point }) => point.scope !== "step");
  const roofs = whole.map(({ point }) => point.attainable_gflops ?? 0).filter((rate) => rate > 0);
  const xs = places.map(({ x }) => x);
  const ys = [...places.map(({ y }) => y), ...roofs.map(Math.log10)];
  return [spread(xs, [0.42, 0.42], 0.8), spread(ys, [0.3, 0.18], 0.8)];
}

/**
 * With room for the label above the highest compute roof.
 * @param {[Range, Range]} range
 * @param {number | null} top GFLOP/s
 * @returns {[Range, Range]}
 */
function roomyRange([x, y], top) {
  return [x, top === null ? y : withHeadroom(y, Math.log10(top), LABEL_ROOM)];
}

/**
 * From the program up to its roof: what its rate would be at a share of 100 %.
 * @param {ProgramPlace[]} places
 * @param {ProgramPoint} whole
 * @returns {RoofGap | null}
 */
function totalGap(places, whole) {
  const total = places.find((place) => place.point === whole);
  const share = whole.roofline_efficiency_ratio ?? null;
  const roof = whole.attainable_gflops ?? 0;
  return total && roof > 0 && share !== null
    ? { x: total.x, y: total.y, roof: Math.log10(roof), share }
    : null;
}
