// Which roofs a view's charts draw: those that hold some operation, all of them, or none. Pure.

import { unheldReader } from "../metrics/unheld.js";
import { usedRoofs, visibleRoofs } from "./roofs.js";

/** @import { Model, View } from "../types/model.js" */
/** @import { ProgramPoint, Roofs } from "../types/page-data.js" */
/** @import { ViewState } from "../types/view-state.js" */

/**
 * The roofs of both charts: one rule, so that they show the same.
 * @param {Model} model
 * @param {View} view
 * @param {Pick<ViewState, "roofs" | "x">} state
 * @returns {Roofs}
 */
export function shownRoofs(model, view, { roofs, x }) {
  const used = usedRoofs(view.rows, {
    bounds: model.bounds,
    boundOf: (row) => row.bound,
    computeOf: view.reader("compute_unit"),
    isUnheld: unheldReader(model, view),
  });
  return visibleRoofs(model.roofs, roofs, used, x);
}

/**
 * Whether the roof that a program point's share is of is among those drawn: else no line leads to it.
 * @param {Model} model
 * @param {Roofs} shown
 * @param {ProgramPoint} point
 */
export function isRoofShown(model, shown, point) {
  const bound = model.bounds[point.bound_by];
  if (!bound || bound.kind === "none") return false;
  if (bound.kind === "slanted") return shown.memory.some(({ id }) => id === bound.level);
  const roof = model.roofs.compute[point.compute_unit ?? 0];
  return roof !== undefined && shown.compute.includes(roof);
}
