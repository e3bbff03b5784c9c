// Words and numbers of a comparison: changes with their sign, terms as words. Pure.

import { DASH } from "./format.js";

/** @import { Terms } from "../types/comparison.js" */

const MINUS = "−";

/** Short names of the terms. @type {Record<string, string>} */
export const TERM_NAMES = {
  calls: "Calls",
  work: "Work",
  traffic: "Traffic",
  peaks: "Peaks",
  closeness: "Hardware use",
  regrouped: "Fused or split",
  new: "New",
  gone: "Gone",
  unknown: "Time per call",
  idle: "Idle",
  communication: "Link wait",
  transfers: "Host transfers",
};

/**
 * How times of one comparison are written: one unit and so many decimals for all, so that they can
 * be compared by eye and a ten-thousandth of the whole is seen.
 * @typedef {object} TimeScale
 * @property {string} unit
 * @property {number} least us; a change below it is written as 0
 * @property {(us: number) => string} text
 * @property {(us: number) => string} change with its sign
 */

/** @param {number} largestUs @returns {TimeScale} */
export function timeScale(largestUs) {
  const [factor, unit] = largestUs >= 1e7 ? [1e6, "s"] : largestUs >= 1e3 ? [1e3, "ms"] : [1, "µs"];
  const exponent = largestUs > 0 ? Math.floor(Math.log10(largestUs / factor)) : 0;
  const decimals = Math.min(4, Math.max(0, 3 - exponent));
  const format = new Intl.NumberFormat("en-GB", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  const text = (/** @type {number} */ us) => format.format(Math.abs(us) / factor);
  const least = 0.5 * 10 ** -decimals * factor;
  const isZero = (/** @type {number} */ us) => Math.abs(us) < least;
  return {
    unit,
    least,
    text: (us) => (us === 0 ? "0" : (us < 0 && !isZero(us) ? MINUS : "") + text(us)),
    change: (us) => (isZero(us) ? "0" : `${us < 0 ? MINUS : "+"}${text(us)}`),
  };
}

/**
 * The terms that make a change, the largest first: "traffic −2.53, closeness +0.11".
 * @param {Terms} terms
 * @param {TimeScale} scale
 * @param {number} most
 */
export function termsInWords(terms, scale, most = 3) {
  return largestTerms(terms)
    .filter(([, us]) => scale.change(us) !== "0")
    .slice(0, most)
    .map(([name, us]) => `${(TERM_NAMES[name] ?? name).toLowerCase()} ${scale.change(us)}`)
    .join(", ");
}

/** @param {Terms} terms */
const largestTerms = (terms) =>
  Object.entries(terms).sort(([, x], [, y]) => Math.abs(y) - Math.abs(x));

/**
 * A value of both sides, once where it is the same.
 * @param {string | null} a
 * @param {string | null} b
 */
export function fromTo(a, b) {
  if (a === null || b === null) return a ?? b ?? DASH;
  return a === b ? a : `${a} → ${b}`;
}
