// Why nothing is drawn or listed, in words. Pure.

import { count } from "./format.js";

/** @import { Diagnostic, ProgramPoint } from "../types/page-data.js" */

/**
 * @typedef {{ title: string, lines: string[], clear: boolean, code?: string }} EmptyWords `clear`: filters are the cause;
 *   `code`: how to capture what is missing
 */

/** The lines of a capture with operations, by the beginning of the format's name. @type {readonly (readonly [string, string])[]} */
const CAPTURES = [
  ["XSpace", "with jax.profiler.trace(folder):\n    step(state).block_until_ready()"],
  [
    "PyTorch",
    "with torch.profiler.profile(record_shapes=True) as p:\n    step(batch); torch.cuda.synchronize()",
  ],
];

/**
 * @param {object} found
 * @param {string} found.format label of the profile's format
 * @param {number} found.all ops of the view
 * @param {number} found.beyond shorter ops, which are not listed
 * @param {boolean} found.isSearching the server is looking through all
 * @param {boolean} found.isPattern patterns look through those listed alone
 * @param {number} found.shown ops that pass the filters
 * @param {string} found.axis label of the x axis
 * @param {readonly Diagnostic[]} found.diagnostics
 * @returns {EmptyWords}
 */
export function emptyWords({
  format,
  all,
  beyond,
  isSearching,
  isPattern,
  shown,
  axis,
  diagnostics,
}) {
  if (all === 0)
    return {
      title: "This profile has no operations",
      lines: noOpsLines(diagnostics),
      clear: false,
      code: CAPTURES.find(([name]) => format.startsWith(name))?.[1],
    };
  if (shown === 0)
    return {
      title: isSearching
        ? `Looking through ${count(all + beyond)} operations`
        : `No operation of ${isPattern ? `the ${count(all)} longest` : count(all + beyond)} matches`,
      lines: isPattern
        ? ["A part of a name looks through all operations, a pattern through these."]
        : ["Loosen one, or start over."],
      clear: true,
    };
  const every = shown === all;
  return {
    title: `None of the ${every ? "" : "filtered "}operations has both FLOPs and bytes of ${axis}`,
    lines: [],
    clear: !every,
  };
}

/** Codes of what is true, too, and is not the reason; `presentation/verdict.py` has the same. */
const BESIDE_THE_POINT = ["no-steps", "steps-do-not-intersect", "hosts-differ", "no-peaks"];

/** @param {readonly Diagnostic[]} diagnostics */
function noOpsLines(diagnostics) {
  const lines = reasons(diagnostics.filter(({ code }) => !BESIDE_THE_POINT.includes(code)));
  return lines.length > 0 ? lines : ["The capture holds no ops of a device."];
}

/** Why the program has no place on a roofline. @param {readonly ProgramPoint[]} points */
export function noProgramText(points) {
  if (points.length === 0) return "The profile has no program totals.";
  if (points[0].total_time_us === null) return "No time was measured, so the program has no total.";
  return "FLOPs and bytes of too little of the time are known, so the program has no place on a roofline.";
}

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
