// Where the ops of a view lie on the axes that are chosen: for filters by area, and for words on what has no place. Pure.

import { JOINED } from "./model.js";

/** @import { Measure } from "../types/page-data.js" */
/** @import { Model, Row, View } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */

/** @typedef {Pick<ViewState, "x" | "y">} Axes */

/** Whether heights are shares of roofs; joined levels have one height for several of them. @param {Axes} axes */
export const isShare = ({ x, y }) => y === "share" && x !== JOINED;

/**
 * log10 position of an op, null when it has none: no FLOPs, no bytes, or one of them is not known.
 * @param {Measure} intensity
 * @param {Measure} height
 * @returns {[number, number] | null}
 */
export const logPlace = (intensity, height) =>
  intensity !== null && height !== null && intensity > 0 && height > 0
    ? [Math.log10(intensity), Math.log10(height)]
    : null;

/**
 * @param {Model} model
 * @param {View} view
 * @param {Axes} axes
 * @returns {(row: Row) => [number, number] | null} log10
 */
export function opPlaces(model, view, axes) {
  const intensity = view.reader(model.axis(axes.x).column);
  const height = view.reader(isShare(axes) ? "roofline_efficiency_ratio" : "flop_rate_gflops");
  return (row) => {
    const at = intensity(row);
    return logPlace(typeof at === "number" ? at : null, height(row));
  };
}
