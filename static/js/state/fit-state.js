// A link may name what this profile does not have: the view then shows its default instead of nothing. Pure.

import { sortColumn } from "./shown-columns.js";
import { DEFAULTS } from "./query.js";

/** @import { Model } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */

/**
 * @param {ViewState} state
 * @param {Model} model
 * @returns {ViewState}
 */
export function fitToProfile(state, model) {
  const isOp = state.op !== null && model.view(state.infeed).byOp.has(state.op);
  return {
    ...state,
    x: model.axis(state.x).id,
    bound: state.bound.filter((id) => model.bounds.some((bound) => bound.id === id)),
    cols: state.cols.filter((id) => model.column(id) !== null),
    sort: model.column(sortColumn(state.sort)) ? state.sort : DEFAULTS.sort,
    op: isOp ? state.op : null,
  };
}

/**
 * The state without devices and peaks of these names.
 * @param {ViewState} state
 * @param {readonly string[]} unknown
 * @returns {ViewState}
 */
export function withoutHardware(state, unknown) {
  /** @param {string} name */
  const isKnown = (name) => !unknown.includes(name);
  return {
    ...state,
    dev: state.dev !== null && isKnown(state.dev) ? state.dev : null,
    vs: state.vs.filter(isKnown),
    peaks: Object.fromEntries(Object.entries(state.peaks).filter(([key]) => isKnown(key))),
  };
}
