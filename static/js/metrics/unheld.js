// Work on a compute unit whose peak is not known: no flat roof is about it. Pure.

/** @import { Model, Row, View } from "../types/model.js" */

/**
 * Whether the FLOPs of an op ran on a unit without a known peak.
 * @param {Model} model
 * @param {View} view
 * @returns {(row: Row) => boolean}
 */
export function unheldReader(model, view) {
  if (model.units.length === 0) return () => false;
  const [unit, rate] = [view.reader("compute_unit"), view.reader("flop_rate_gflops")];
  return (row) => unit(row) === null && (rate(row) ?? 0) > 0;
}

/**
 * The label of the unit without a known peak that an op uses most; null where its work has a roof.
 * @param {Model} model
 * @param {View} view
 * @param {Row} row
 */
export function unheldUnit(model, view, row) {
  if (!unheldReader(model, view)(row)) return null;
  const held = new Set(model.roofs.compute.flatMap((roof) => [roof.unit, ...roof.covers]));
  const unheld = model.units
    .filter(({ id }) => !held.has(id))
    .map(({ label, columns }) => ({ label, rate: view.reader(columns.rate)(row) ?? 0 }))
    .sort((a, b) => b.rate - a.rate);
  return unheld[0]?.label ?? null;
}
