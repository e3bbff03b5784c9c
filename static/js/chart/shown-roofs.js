// Which roofs a view's charts draw: those that hold some operation, all of them, or none. Pure.

import { keyOf } from "../text/roofs.js";
import { unheldReader } from "../text/roofs.js";
import { usedRoofs, visibleRoofs } from "./roofs.js";

/** @import { Model, Row, View } from "../types/model.js" */
/** @import { ProgramPoint, Roofs } from "../types/page-data.js" */
/** @import { ViewState } from "../types/view-state.js" */

/**
 * The roofs of both charts: one rule, so that they show the same.
 * @param {Model} model
 * @param {View} view
 * @param {Pick<ViewState, "roofs" | "x"> & { prec?: string | null }} state
 * @returns {Roofs}
 */
export function shownRoofs(model, view, { roofs, x, prec = null }) {
  const isDrawn = drawnReader(model, view);
  const used = usedRoofs(view.rows, {
    bounds: model.bounds,
    boundOf: (row) => (isDrawn(row) ? row.bound : 0),
    computeOf: view.reader("compute_unit"),
    isUnheld: unheldReader(model, view),
  });
  const chosen = model.roofs.compute.find((roof) => keyOf(model.roofs, roof) === prec);
  return visibleRoofs(model.roofs, roofs, used, x, chosen);
}

/**
 * Whether an op is in the chart against its bound: one that a link binds is where it does FLOPs and its rate is known.
 * @param {Model} model
 * @param {View} view
 * @returns {(row: Row) => boolean}
 */
function drawnReader(model, view) {
  const links = new Set(model.levels.filter((level) => level.is_link).map(({ id }) => id));
  const [rate, share] = [view.reader("flop_rate_gflops"), view.reader("roofline_efficiency_ratio")];
  return (row) =>
    !links.has(model.bounds[row.bound]?.level ?? "") ||
    ((rate(row) ?? 0) > 0 && share(row) !== null);
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
