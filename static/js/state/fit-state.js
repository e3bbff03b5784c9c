// A link may name what this profile does not have: that part is left out and named, the rest is shown. Pure.

import { keyOf } from "../text/roofs.js";
import { groupFilter } from "./group-keys.js";
import { isPlace } from "./pins.js";
import { DEFAULTS } from "./query.js";
import { isPreset, sortColumn } from "./shown-columns.js";

/** @import { Model, View } from "../types/model.js" */
/** @import { Pin } from "../types/pins.js" */
/** @import { ViewState } from "../types/view-state.js" */

/**
 * @typedef {{ state: ViewState, unknown: string[] }} Fitted `unknown`: what was left out, in words
 */

/**
 * @param {ViewState} state
 * @param {Model} model
 * @returns {Fitted}
 */
export function fitToProfile(state, model) {
  const view = model.view(state.infeed);
  /** @type {string[]} */
  const unknown = [];
  /**
   * @param {readonly string[]} names
   * @param {string} what
   * @param {(name: string) => boolean} isKnown
   */
  const known = (names, what, isKnown) => {
    unknown.push(...names.filter((name) => !isKnown(name)).map((name) => `${what} “${name}”`));
    return names.filter(isKnown);
  };
  /**
   * @template T
   * @param {T} value
   * @param {string} what
   * @param {boolean} isKnown
   * @param {T} standard
   */
  const orDefault = (value, what, isKnown, standard) => {
    if (!isKnown) unknown.push(`${what} “${value}”`);
    return isKnown ? value : standard;
  };
  const sorted = sortColumn(state.sort);
  /** @param {string} id */
  const isColumn = (id) => model.column(id) !== null;
  const isAxis = state.x === DEFAULTS.x || model.x_axes.some(({ id }) => id === state.x);
  const isPrecision =
    state.prec === null ||
    model.roofs.compute.some((roof) => keyOf(model.roofs, roof) === state.prec);
  const isOp = state.op === null || view.byOp.has(state.op);
  const isStep = state.step === null || view.program.some(({ label }) => label === state.step);
  const isPart =
    state.part === null || model.budget?.parts.some(({ id }) => isPartOf(state.part, id));
  const isFinding = state.finding === null || model.findings.has(state.finding);
  const { by, group } = state;
  const isGroup =
    by === null || group === null || view.rows.some(groupFilter(model, view, by, group));
  const fitted = {
    ...state,
    cat: known(state.cat, "category", (name) => model.categories.some((one) => one.name === name)),
    bound: known(state.bound, "bound", (id) => model.bounds.some((bound) => bound.id === id)),
    part: orDefault(state.part, "part of the time", isPart ?? false, null),
    finding: orDefault(state.finding, "finding", isFinding, null),
    group: orDefault(group, "group", isGroup, null),
    cols: isPreset(state.cols) ? state.cols : known(state.cols, "column", isColumn),
    pcols: known(state.pcols, "column", (id) => model.program_columns.some((one) => one.id === id)),
    x: orDefault(state.x, "x axis", isAxis, DEFAULTS.x),
    prec: orDefault(state.prec, "precision", isPrecision, null),
    sort: orDefault(state.sort, "sort column", isColumn(sorted), DEFAULTS.sort),
    op: orDefault(state.op, "operation", isOp, null),
    sel: withKnownOps(state.sel, view, unknown),
    pins: withKnownPins(state.pins, view, unknown),
    step: orDefault(state.step, "step", isStep, null),
  };
  return { state: fitted, unknown };
}

/** @param {readonly number[]} ops @param {View} view @param {string[]} unknown is added to */
function withKnownOps(ops, view, unknown) {
  const found = ops.filter((op) => view.byOp.has(op));
  if (found.length < ops.length) unknown.push("operations of its selection");
  return found;
}

/** @param {readonly Pin[]} pins @param {View} view @param {string[]} unknown is added to */
function withKnownPins(pins, view, unknown) {
  const found = pins.filter(({ at }) => isPlace(view, at));
  if (found.length < pins.length) unknown.push("pins on operations or steps");
  return found;
}

/** @param {string | null} wanted a part or a kind of parts @param {string} id of a part */
const isPartOf = (wanted, id) => id === wanted || id.split(".")[0] === wanted;

/**
 * A page's words on a link of which it leaves something out; empty where it has all.
 * @param {readonly string[]} unknown
 */
export function leftOutText(unknown) {
  if (unknown.length === 0) return "";
  return `This link names ${unknown.join(", ")}, which this profile or the list of devices does not have. The rest of the link is shown.`;
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
