// Sentences about one op and names of things. Pure.

import { count, duration, percent } from "./format.js";

/** @import { Bound, Cost, Measure, ProgramPoint, Timing } from "../types/page-data.js" */

/** What an op is called in the table when it has no place on the chart. */
export const COST_WORDS = {
  known: "counted",
  no_flops: "no FLOPs",
  unknown: "unknown cost",
  idle: "idle",
};

/**
 * What stands in the place of a share of the roof where an op has none because it is a prediction.
 */
export const AT_BEST = "at best";

/** Above this, a ratio over 1 is more than rounding. */
const OVER = 1.0005;

/** @param {Measure} ratio */
export const isOver = (ratio) => ratio !== null && ratio > OVER;

/**
 * What the sentence about an op needs to know.
 * @typedef {object} PlacedOp
 * @property {Cost} cost
 * @property {string} coreWord
 * @property {Pick<Bound, "id" | "label" | "kind">} bound
 * @property {Measure} efficiency share of the roof
 * @property {Measure} computeEfficiency share of the compute peak
 * @property {Measure} savingUs
 * @property {Measure} savingShare
 * @property {Timing} [timing] how its rates were obtained; measured if not given
 */

/**
 * One sentence: where the op stands and what reaching the roof would bring.
 * @param {PlacedOp} op
 */
export function placeSentence(op) {
  if (op.cost === "idle") return "Nothing ran: the device waited.";
  if (op.cost === "unknown")
    return "Unknown cost: neither FLOPs nor bytes were counted, so it has no place on a roofline.";
  if (op.timing === "predicted") return predictionSentence(op);
  if (op.efficiency === null)
    return "No peak is known for what it uses, so its distance to a roof cannot be told.";
  if (isOver(op.efficiency)) return overSentence(op);
  const start = op.cost === "no_flops" ? "Does no FLOPs. " : "";
  const roof = op.bound.kind === "none" ? "the roof" : `the ${op.bound.label} roof`;
  const saving =
    op.savingUs === null
      ? ""
      : ` At the roof it would save ${duration(op.savingUs)} per ${op.coreWord}${shareText(op.savingShare)}.`;
  return `${start}${percent(op.efficiency)} of ${roof}.${saving}`;
}

/** @param {PlacedOp} op */
const predictionSentence = ({ bound }) =>
  bound.kind === "none"
    ? "Its time was not measured, and no roof is known that says what it could reach."
    : `Its time was not measured: at best it reaches the ${bound.label} roof, as shown.`;

/** @param {Measure} share */
const shareText = (share) => (share === null ? "" : ` (${percent(share)} of the time)`);

/** @param {PlacedOp} op */
function overSentence(op) {
  const share = percent(op.efficiency, 0);
  return isOver(op.computeEfficiency)
    ? `${share} of the compute peak: its FLOP count is an estimate, or it runs at a faster precision than the peak.`
    : `${share} of the ${op.bound.label} peak: asynchronous, its bytes move after its own time has ended.`;
}

/** "Step 4", "Total". @param {Pick<ProgramPoint, "scope" | "label">} point */
export function programName(point) {
  return point.scope === "step" ? `Step ${point.label}` : point.label;
}

/**
 * "1 op", "12 ops".
 * @param {number} n
 * @param {string} text the number, written
 * @param {string} one what is counted, for a single one
 */
export function counted(n, text, one) {
  return n === 1 ? `${text} ${one}` : `${text} ${one}s`;
}

/** What the program's points count. @param {readonly Pick<ProgramPoint, "scope">[]} points */
export function programNote(points) {
  const steps = points.filter((point) => point.scope === "step").length;
  if (points.length === 0) return "";
  if (steps === 0) return "No steps in this profile: Total counts every op.";
  if (!points.some((point) => point.scope === "average"))
    return `Total counts every op; ${counted(steps, count(steps), "step")}.`;
  const complete = steps === 1 ? "one complete step" : `${count(steps)} complete steps`;
  return `Total counts every op; Average only the ${complete}.`;
}
