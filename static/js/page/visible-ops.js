// Which operations pass the filters, where they lie, and what the filter bar says of them. Pure.

import { filterRows, owns, shareOf } from "../state/filter.js";
import { groupFilter } from "../state/group-keys.js";
import { opPlaces } from "../state/places.js";

/** @import { Model, Row, View } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { FilterResult } from "./filter-bar.js" */

/**
 * @param {Model} model
 * @param {ViewState} state
 */
export function visibleOps(model, state) {
  const view = model.view(state.infeed);
  const place = opPlaces(model, view, state);
  const { categories, bounds } = model;
  const found = filterRows(view.rows, state, { categories, bounds, place });
  const ofGroup = groupOf(model, view, state);
  const ofFinding = findingOf(model, state);
  /** @param {Row} row */
  const inGroup = (row) => ofGroup(row) && ofFinding(row);
  const shown = found.shown.filter(inGroup);
  return {
    ...found,
    view,
    place,
    shown,
    besidesCategory: found.besidesCategory.filter(inGroup),
    set: new Set(shown),
  };
}

/**
 * @param {Model} model
 * @param {View} view
 * @param {ViewState} state
 * @returns {(row: Row) => boolean}
 */
function groupOf(model, view, { by, group }) {
  return by === null || group === null ? () => true : groupFilter(model, view, by, group);
}

/**
 * @param {Model} model
 * @param {ViewState} state
 * @returns {(row: Row) => boolean}
 */
function findingOf({ findings }, { finding }) {
  const found = finding === null ? undefined : findings.get(finding);
  if (!found) return () => true;
  const { ops, part } = found;
  return part === null ? (row) => ops.has(row.op) : (row) => owns(part, row.part);
}

/** @typedef {ReturnType<typeof visibleOps>} VisibleOps */

/** @param {VisibleOps} visible @returns {FilterResult} */
export function filterResult({ shown, view, error }) {
  const all = shareOf(view.rows);
  return {
    shown: shown.length,
    all: view.rows.length,
    // Ops of several streams overlap, and their times add up to more than the time that passed.
    share: all > 0 ? shareOf(shown) / Math.max(1, all) : null,
    error,
    boundCounts: boundCounts(view),
  };
}

/** Ops by what binds them. @param {View} view */
function boundCounts({ rows }) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const { bound } of rows) counts.set(bound, (counts.get(bound) ?? 0) + 1);
  return counts;
}

/** Those that have a place on the chart. @param {VisibleOps} visible @returns {Row[]} */
export const drawnOps = ({ shown, place }) => shown.filter((row) => place(row) !== null);
