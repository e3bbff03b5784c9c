// Where transfers lie in the strip of links: a lane per link, by share of that link's peak. Pure.

import { markerSize, packDiscs } from "./points.js";

/** @import { MemoryRoof } from "../types/page-data.js" */
/** @import { Model, Row } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @typedef {{ width: number, height: number, margin: { l: number, r: number, t: number, b: number } }} ChartBox pixels */

const MOST = 1.12; // share of the peak at the end of the axis
const ROOM = 1.15; // of the peak: the axis with room for the marks at its end
const LARGEST = 26;
const LEAST_RADIUS = 2.5;

/**
 * @typedef {object} LinkPlace
 * @property {Row} row
 * @property {number} share of the peak
 * @property {boolean} isOff it lies beyond the axis
 * @property {string} symbol
 * @property {number} px
 * @property {number} py
 * @property {number} radius
 *
 * @typedef {object} LinkLane
 * @property {string | null} id level of the link; null: which link it is, is not known
 * @property {string} label
 * @property {string} token
 * @property {MemoryRoof | null} roof null: no peak is known
 * @property {Row[]} rows all transfers of this link
 * @property {LinkPlace[]} places those whose share is known
 * @property {number} top pixels
 */

/** Transfers, each at the op that waits for it. @param {Model} model @param {ViewState} state */
export function transferRows(model, state) {
  const starts = model.ops.columns.is_start;
  return model
    .view(state.infeed)
    .rows.filter(({ cost, op }) => cost === "transfer" && !starts?.[op]);
}

/**
 * @param {Model} model
 * @param {ViewState} state
 * @param {ChartBox & { lane: number }} box `lane`: height of one lane
 * @returns {{ lanes: LinkLane[], empty: LinkLane[], toX: (share: number) => number }} `empty`: lanes without any
 *   transfer to draw, which have no place
 */
export function linkGeometry(model, state, box) {
  const { margin, width } = box;
  const plotWidth = Math.max(1, width - margin.l - margin.r);
  /** @param {number} share */
  const toX = (share) => margin.l + (Math.min(share, MOST) / ROOM) * plotWidth;
  const all = lanesOf(model, transferRows(model, state));
  const drawn = all.filter((lane) => isDrawn(model, state, lane));
  const lanes = drawn.map((lane, k) => {
    const top = margin.t + k * box.lane;
    return { ...lane, top, places: placesOf(model, state, lane, { top, height: box.lane, toX }) };
  });
  const empty = all
    .filter((lane) => !drawn.includes(lane))
    .map((lane) => ({ ...lane, top: 0, places: [] }));
  return { lanes, empty, toX };
}

/**
 * Whether the lane shows something: a transfer, or that its peak is missing.
 * @param {Model} model
 * @param {ViewState} state
 * @param {Omit<LinkLane, "top" | "places">} lane
 */
function isDrawn(model, state, { roof, rows }) {
  const shareOf = model.view(state.infeed).reader("roofline_efficiency_ratio");
  return !roof || rows.some((row) => shareOf(row) !== null);
}

/** How many lanes have something to show. @param {Model} model @param {ViewState} state */
export const laneCount = (model, state) =>
  lanesOf(model, transferRows(model, state)).filter((lane) => isDrawn(model, state, lane)).length;

/**
 * @param {Model} model
 * @param {Row[]} rows
 * @returns {Omit<LinkLane, "top" | "places">[]}
 */
function lanesOf(model, rows) {
  const links = model.ops.columns.link ?? [];
  const known = model.levels
    .filter(({ is_link: isLink }) => isLink)
    .map(({ id, label, token, roof }) => ({ id, label, token, roof }));
  const lanes = [...known, { id: null, label: "A link", token: "--warn", roof: null }];
  return lanes
    .map((lane) => ({ ...lane, rows: rows.filter(({ op }) => (links[op] ?? null) === lane.id) }))
    .filter((lane) => lane.rows.length > 0);
}

/**
 * @param {Model} model
 * @param {ViewState} state
 * @param {Omit<LinkLane, "top" | "places">} lane
 * @param {{ top: number, height: number, toX: (share: number) => number }} where
 * @returns {LinkPlace[]}
 */
function placesOf(model, state, { rows, roof }, { top, height, toX }) {
  const shareOf = model.view(state.infeed).reader("roofline_efficiency_ratio");
  if (!roof) return [];
  const discs = rows
    .map((row) => ({ row, share: shareOf(row) }))
    .flatMap(({ row, share }) => (share === null ? [] : [{ row, share }]))
    .sort((a, b) => b.row.share - a.row.share)
    .map(({ row, share }) => discOf(model, state, { row, share, x: toX(share) }));
  const { offsets } = packDiscs(discs, height / 2 - 1);
  return discs.map(({ x, ...disc }, i) => ({ ...disc, px: x, py: top + height / 2 + offsets[i] }));
}

/**
 * @param {Model} model
 * @param {ViewState} state
 * @param {{ row: Row, share: number, x: number }} place
 */
function discOf(model, { size }, place) {
  const { symbol } = model.categories[place.row.category];
  const radius = Math.max(LEAST_RADIUS, markerSize(place.row.share, symbol, size, LARGEST) / 2);
  return { ...place, symbol, radius, isOff: place.share > MOST };
}
