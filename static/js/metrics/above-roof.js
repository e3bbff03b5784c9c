// Which ops are above their roof, and why: no op can be faster than the hardware. Pure.

/** @import { Measure, OpColumns } from "../types/page-data.js" */

/** Above this, a ratio over 1 is more than rounding; as in the analysis. */
const OVER = 1.0005;

/** @param {Measure} ratio */
export const isOver = (ratio) => ratio !== null && ratio > OVER;

/**
 * Why an op seems to run above its roof; null where it does not.
 * @param {OpColumns} columns
 * @param {number} op
 * @param {{ bound_by: number, roofline_efficiency_ratio: Measure, memory_utilisation_ratio: Measure }} row
 */
export function causeOf(columns, op, row) {
  const {
    bound_by: bound,
    roofline_efficiency_ratio: share,
    memory_utilisation_ratio: moved,
  } = row;
  // A link bounds a transfer; its traffic in memories is held against these all the same.
  if (columns.cost[op] === "transfer" && isOver(share)) return "link";
  if (!isOver(columns.cost[op] === "transfer" ? moved : share)) return null;
  return (bound === 1 ? columns.compute_cause : columns.memory_cause)?.[op] ?? null;
}
