// The reasons that diagnostics give why there is nothing to see. Pure.

/** @import { Diagnostic } from "../types/page-data.js" */

const SEVERITIES = /** @type {const} */ (["error", "warning", "info"]);
const MOST_REASONS = 3;

/**
 * Why there is nothing to see, from the most severe diagnostics.
 * @param {readonly Diagnostic[]} diagnostics
 */
export const reasons = (diagnostics) =>
  SEVERITIES.flatMap((severity) => diagnostics.filter((one) => one.severity === severity))
    .slice(0, MOST_REASONS)
    .map((one) => [one.message, one.remedy].filter(Boolean).join(" "));
