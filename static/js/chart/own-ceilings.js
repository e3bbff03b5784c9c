// The selected op alone: exactly its own ceilings, and a dot per clock at its own intensity, each with a drop to its
// roof. Pure. Pixels.

import { computeRoof } from "../text/roofs.js";
import { unheldReader } from "../text/roofs.js";
import { JOINED } from "../state/model.js";
import { share } from "../text/format.js";
import { flatLabelPlaces, slantLabelPlaces } from "./roof-figure.js";
import { attainable, LABEL_AWAY, mainMemory, ridge, roofLines } from "./roofs.js";

/** @import { ComputeRoof, Roofs } from "../types/page-data.js" */
/** @import { Level, Model, Row, View } from "../types/model.js" */
/** @import { Scale } from "./axes.js" */
/** @import { Box, Disc, Line, Obstacles } from "./point-labels.js" */

/**
 * @typedef {object} Dot one clock of the op
 * @property {number} px
 * @property {number} py
 * @property {number} roofY
 * @property {string} token
 * @property {string} text "94 % of HBM"
 *
 * @typedef {object} Ceiling
 * @property {Line} line
 * @property {string} token
 * @property {string} dash
 * @property {{ text: string, x: number, y: number, angle: number, anchor: "middle" | "end" }[]} labels none or one
 *
 * @typedef {{ ceilings: Ceiling[], dots: Dot[], frame: Box }} OwnCeilings
 */

const SIZE = 12; // of the labels
const DOT = 4;

/**
 * @param {Model} model
 * @param {View} view
 * @param {{ row: Row, x: number, y: number }} point log10, where it is drawn
 * @param {{ scale: Scale, axis: string }} chart `axis`: id of the x axis
 * @returns {OwnCeilings | null} null: its ceilings are not known, or its levels are joined anyway
 */
export function ownCeilings(model, view, { row, y }, { scale, axis }) {
  if (axis === JOINED) return null;
  const levels = clockedLevels(model, view, row, axis);
  const compute = unheldReader(model, view)(row)
    ? null
    : computeRoof(model, view.reader("compute_unit")(row));
  const memory = levels.flatMap(({ level: { roof } }) => roof ?? []);
  if (memory.length === 0 && !compute) return null;
  const { margin, width, height } = scale;
  return {
    ceilings: ceilingsOf({ memory, compute: compute ? [compute] : [] }, scale, axis),
    dots: levels.flatMap((one) => dotOf(one, y, compute, scale)),
    frame: [margin.l, margin.t, width - margin.r, height - margin.b],
  };
}

/** @typedef {{ level: Level, intensity: number, used: number }} Clocked `used`: clock ÷ time */

/**
 * The memories and links that the op needs time at; on the axis of one of them that one alone.
 * @param {Model} model
 * @param {View} view
 * @param {Row} row
 * @param {string} axis
 * @returns {Clocked[]}
 */
function clockedLevels(model, view, row, axis) {
  const total = view.reader("total_time_us")(row);
  const isLevel = model.levels.some(({ id }) => id === axis);
  return model.levels
    .filter(({ id, roof }) => roof !== null && (!isLevel || id === axis))
    .flatMap((level) => {
      const intensity = view.reader(level.columns.intensity)(row);
      const clock = view.reader(`${level.id}_clock_us`)(row);
      const used = typeof total === "number" && typeof clock === "number" ? clock / total : 0;
      return typeof intensity === "number" && intensity > 0 && used > 0
        ? [{ level, intensity, used }]
        : [];
    });
}

/**
 * @param {Clocked} clocked
 * @param {number} y log10 of the op's rate
 * @param {ComputeRoof | null} compute
 * @param {Scale} scale
 * @returns {Dot[]} none outside the chart
 */
function dotOf({ level, intensity, used }, y, compute, scale) {
  const x = Math.log10(intensity);
  if (x < scale.xRange[0] || x > scale.xRange[1]) return [];
  const roof = scale.toY(attainable(x, level.roof, compute));
  return [
    {
      px: scale.toX(x),
      py: scale.toY(y),
      roofY: Math.max(scale.margin.t, roof),
      token: level.token,
      text: `${share(used)} of ${level.label}`,
    },
  ];
}

/**
 * @param {Roofs} shown
 * @param {Scale} scale
 * @param {string} axis
 * @returns {Ceiling[]}
 */
function ceilingsOf(shown, scale, axis) {
  const lines = roofLines(shown, scale.xRange);
  const main = mainMemory(shown.memory, axis);
  const [flat = null] = shown.compute;
  const chart = { shown, main, flat, corner: ridge(main, flat), scale };
  const slanted = slantLabelPlaces(lines, chart, SIZE);
  const flats = flatLabelPlaces(chart, { small: false, size: SIZE });
  return lines.map(({ roof, points: [[x1, y1], [x2, y2]] }) => ({
    line: [scale.toX(x1), scale.toY(y1), scale.toX(x2), scale.toY(y2)],
    token: roof.token,
    dash: roof.dash,
    labels: [
      ...slanted.filter((label) => label.roof === roof).map((label) => slantedText(label, scale)),
      ...flats.filter((label) => label.roof === roof).map(flatText),
    ],
  }));
}

/** @param {ReturnType<typeof slantLabelPlaces>[number]} label @param {Scale} scale @returns {Ceiling["labels"][number]} */
function slantedText({ text, x, y, angle, below }, scale) {
  const turn = (angle * Math.PI) / 180;
  const away = below ? -LABEL_AWAY : LABEL_AWAY;
  const px = scale.toX(x) + away * Math.sin(turn);
  return { text, x: px, y: scale.toY(y) - away * Math.cos(turn), angle, anchor: "middle" };
}

/** @param {ReturnType<typeof flatLabelPlaces>[number]} label @returns {Ceiling["labels"][number]} */
const flatText = ({ text, right, y }) => ({
  text,
  x: right - 3,
  y: y - 10,
  angle: 0,
  anchor: "end",
});

/**
 * The things that the names beside the dots must not hide.
 * @param {OwnCeilings} own
 * @param {Disc} point
 * @param {(text: string) => number} measure width of a text in pixels
 * @returns {Obstacles}
 */
export function ownObstacles({ ceilings, dots }, point, measure) {
  return {
    lines: [
      ...ceilings.map(({ line }) => line),
      ...dots.map(({ px, py, roofY }) => /** @type {Line} */ ([px, py, px, roofY])),
    ],
    discs: [point, ...dots.map(({ px, py }) => ({ px, py, radius: DOT }))],
    taken: ceilings.flatMap(({ labels }) =>
      labels
        .filter(({ angle }) => angle === 0)
        .map(({ text, x, y }) => {
          /** @type {Box} */
          const box = [x - 1.15 * measure(text), y - 8, x, y + 8];
          return box;
        }),
    ),
  };
}
