// Where operations without known FLOPs lie in their strip: by achieved bandwidth against its peak. Pure.

import { gibToGb } from "../text/amounts.js";
import { createScale } from "./axes.js";
import { markerSize, packDiscs } from "./points.js";
import { shareOf } from "../state/filter.js";
import { count, percent } from "../text/format.js";

/** @import { MemoryRoof } from "../types/page-data.js" */
/** @import { Level, Model, Row, View } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { ChartBox, Range, Scale } from "./axes.js" */

const LARGEST = 30;
const EDGE_RADIUS = 3.5;
const EDGE_INSET = 0.02; // of the axis
const LEAST_RADIUS = 2;
const MOST_CROWDED = 0.03; // share of discs that may find no free place
const SHRINK = 0.8;
const LEAST_FACTOR = 0.5;

/**
 * @typedef {object} StripDisc
 * @property {Row} row
 * @property {"left" | "right" | null} edge where the op lies when it is off the scale
 * @property {string} token
 * @property {string} symbol
 * @property {number} x pixels
 * @property {number} radius pixels
 *
 * @typedef {StripDisc & { px: number, py: number }} StripPlace
 *
 * @typedef {object} StripGeometry
 * @property {MemoryRoof | null} roof
 * @property {Scale} scale
 * @property {StripPlace[]} places
 * @property {Row[]} without ops without FLOPs
 * @property {Row[]} placeless ops with FLOPs that the chosen x axis has no place for
 */

/**
 * @param {Model} model
 * @param {ViewState} state
 * @param {(row: Row) => [number, number] | null} place position on the chart above
 * @param {ChartBox} box
 * @returns {StripGeometry}
 */
export function stripGeometry(model, state, place, box) {
  const view = model.view(state.infeed);
  const level = model.levels[0] ?? null;
  const roof = level?.roof ?? null;
  const bandwidth = bandwidthReader(view, level);
  const rate = view.reader("flop_rate_gflops");
  // Transfers have a strip of their own, against the peaks of their links.
  const off = view.rows.filter(
    (row) => row.cost !== "idle" && row.cost !== "transfer" && place(row) === null,
  );
  const without = off.filter((row) => !((rate(row) ?? 0) > 0));
  const placeless = off.filter((row) => (rate(row) ?? 0) > 0);
  const moving = without.filter((row) => bandwidth(row) > 0);
  const scale = createScale([bandwidthRange(moving.map(bandwidth), roof), [0, 1]], box);
  const discs = moving
    .sort((a, b) => b.share - a.share)
    .map((row) => discOf(row, bandwidth(row), { model, scale, mode: state.size }));
  return { roof, scale, places: packed(discs, scale), without, placeless };
}

/**
 * Bandwidth of the outermost level in GB/s; where only the sum is known, that.
 * @param {View} view
 * @param {Level | null} level
 */
function bandwidthReader(view, level) {
  const sum = view.reader("memory_bandwidth_gibs");
  const own = level ? view.reader(level.columns.bandwidth) : sum;
  /** @param {Row} row */
  return (row) => gibToGb(own(row) ?? sum(row)) ?? 0;
}

/**
 * From the data, at least two decades, at most three below the peak, and a little past it.
 * @param {number[]} values GB/s
 * @param {MemoryRoof | null} roof
 * @returns {Range}
 */
function bandwidthRange(values, roof) {
  const logs = values.map(Math.log10);
  const highest = roof ? Math.log10(roof.gbs * 2) : Math.max(1, ...logs) + 0.1;
  const lowest = Math.min(highest - 2, ...logs) - 0.1;
  return [Math.max(lowest, highest - 4), highest];
}

/**
 * @param {Row} row
 * @param {number} gbs
 * @param {{ model: Model, scale: Scale, mode: ViewState["size"] }} context
 * @returns {StripDisc}
 */
function discOf(row, gbs, { model, scale, mode }) {
  const [low, high] = scale.xRange;
  const inset = EDGE_INSET * (high - low);
  const value = Math.log10(gbs);
  const edge = value > high - inset ? "right" : value < low + inset ? "left" : null;
  const { symbol, token } = model.categories[row.category];
  const radius = edge ? EDGE_RADIUS : markerSize(row.share, symbol, mode, LARGEST) / 2;
  const x = scale.toX(Math.min(high - inset, Math.max(low + inset, value)));
  return { row, edge, token, symbol: edge ?? symbol, x, radius };
}

/** @param {StripDisc[]} ordered longest first @param {Scale} scale @returns {StripPlace[]} */
function packed(ordered, scale) {
  const middle = scale.toY(0.5);
  const { discs, offsets } = packSmaller(ordered, scale.plotHeight / 2);
  return discs.map((disc, i) => ({ ...disc, px: disc.x, py: middle + offsets[i] }));
}

/**
 * Discs that do not all fit are drawn smaller, in the same proportions, until nearly all do.
 * @param {StripDisc[]} ordered
 * @param {number} halfHeight
 */
function packSmaller(ordered, halfHeight) {
  const edge = ordered.filter((disc) => disc.edge !== null);
  const free = ordered.filter((disc) => disc.edge === null);
  for (let factor = 1; ; factor *= SHRINK) {
    const discs = free.map((disc) => ({
      ...disc,
      radius: Math.max(LEAST_RADIUS, disc.radius * factor),
    }));
    const { offsets, crowded } = packDiscs(discs, halfHeight);
    if (crowded <= discs.length * MOST_CROWDED || factor < LEAST_FACTOR) {
      const atEdge = packDiscs(edge, halfHeight).offsets;
      return { discs: [...discs, ...edge], offsets: [...offsets, ...atEdge] };
    }
  }
}

/**
 * The words above the strip: the ops in it, and those that are not; none where it has no ops.
 * @param {StripGeometry} geometry
 * @param {ReadonlySet<Row>} shown
 * @param {string} axis label of the x axis above
 */
export function stripNote({ without, placeless, places }, shown, axis) {
  if (without.length + placeless.length === 0) return "";
  const here = without.filter((row) => shown.has(row));
  const drawn = places.filter(({ row }) => shown.has(row));
  const above = drawn.filter(({ edge }) => edge === "right").length;
  const unknown = here.length - drawn.length;
  const hidden = placeless.filter((row) => shown.has(row)).length;
  return [
    `${count(here.length)} ${here.length === 1 ? "op" : "ops"}`,
    `${percent(shareOf(here))} of time`,
    above > 0 ? `${above} off scale ▷` : "",
    unknown > 0 ? `${count(unknown)} without known traffic` : "",
    hidden > 0 ? `besides, ${count(hidden)} without bytes of ${axis}: in the table only` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}
