// Diagnostics in order, and the reasons they give why there is nothing to see. Pure.

/** @import { Diagnostic } from "../types/page-data.js" */

/** The most severe first. */
export const SEVERITIES = /** @type {const} */ (["error", "warning", "info"]);

/** An unknown severity counts as a note. @param {Pick<Diagnostic, "severity">} diagnostic */
export const severityOf = ({ severity }) => (SEVERITIES.includes(severity) ? severity : "info");

/** @param {readonly Diagnostic[]} diagnostics */
export const bySeverity = (diagnostics) =>
  SEVERITIES.flatMap((severity) => diagnostics.filter((one) => severityOf(one) === severity));

const MOST_REASONS = 3;

/**
 * Why there is nothing to see, from the most severe diagnostics.
 * @param {readonly Diagnostic[]} diagnostics
 */
export const reasons = (diagnostics) =>
  bySeverity(diagnostics)
    .slice(0, MOST_REASONS)
    .map((one) => [one.message, one.remedy].filter(Boolean).join(" "));
