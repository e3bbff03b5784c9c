// Words about parts of the budget. Pure.

/** @import { Budget } from "../types/page-data.js" */

/** @type {Record<string, string>} */
const KINDS = { at_roof: "at the roof", below_roof: "below the roof" };

/**
 * The name of a chosen part: "below the HBM roof", "exposed ICI".
 * @param {Budget | null | undefined} budget
 * @param {string} part
 */
export function partLabel(budget, part) {
  const found = budget?.parts.find(({ id }) => id === part);
  const text = found?.label ?? KINDS[part] ?? part;
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
