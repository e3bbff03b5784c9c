// Sentences about one op and names of things. Pure.

import { DASH } from "./format.js";
import { amount, plainText, say } from "./sentences.js";

/** @import { Bound, Budget, Cost, Measure, ProgramPoint, Templates, Timing, Words } from "../types/page-data.js" */

/**
 * The word in the place of a share of the roof where an op has none because it is a prediction.
 */
export const AT_BEST = "at best";

/**
 * The facts that the sentence about an op needs.
 * @typedef {object} PlacedOp
 * @property {Cost} cost
 * @property {Pick<Bound, "id" | "label" | "kind">} bound
 * @property {Measure} efficiency share of the roof
 * @property {string | null} aboveRoof the likely cause, where it is above its roof
 * @property {string | null} [notShown] why it has no share of its roof, although there is something to divide
 * @property {string | null} unheld the unit without a known peak that does most of its work
 * @property {Measure} gainUs
 * @property {Timing} [timing] how its rates were obtained; measured if not given
 * @property {number} [sustained] the share of its roof that programs reach at best; 1 if not known
 */

/**
 * One sentence: where the op stands and what reaching the roof would bring.
 * @param {PlacedOp} op
 * @param {Templates} templates
 */
export function placeSentence(op, templates) {
  const isLeftOut = op.efficiency === null && op.cost !== "transfer" && op.timing !== "predicted";
  if (isLeftOut && op.notShown) return op.notShown;
  return plainText(placeSegments(op, templates)).trimEnd();
}

/** @param {PlacedOp} op @param {Templates} templates */
function placeSegments(op, templates) {
  if (op.cost === "idle") return say(templates, "op_idle");
  if (op.cost === "unknown") return say(templates, "op_unknown");
  if (op.cost === "transfer")
    return [...say(templates, "op_transfer"), ...linkSegments(op, templates)];
  if (op.timing === "predicted")
    return op.bound.kind === "none"
      ? say(templates, "op_predicted_without_roof")
      : say(templates, "op_predicted", { roof: op.bound.label });
  if (op.efficiency === null) return whyUnplaced(op, templates);
  const roof = op.bound.kind === "none" ? "known" : op.bound.label;
  const share = amount(op.efficiency, "ratio");
  if (op.aboveRoof !== null)
    return [...say(templates, "op_above", { share, roof }), ...whyAbove(op, templates)];
  return [
    ...(op.cost === "no_flops" ? say(templates, "op_no_flops") : []),
    ...(op.cost === "flops_unknown" ? say(templates, "op_light") : []),
    ...say(templates, "op_place", { share, roof }),
    ...savingOf(op, templates),
    ...(isAtSustained(op) ? say(templates, "op_stop") : []),
  ];
}

/** From this share of what a roof sustains on, there is nothing left to gain below it. */
const STOP = 0.95;

/** @param {PlacedOp} op */
const isAtSustained = ({ efficiency, sustained = 1, bound }) =>
  bound.kind !== "none" && efficiency !== null && efficiency >= STOP * sustained;

/** The share of its link that a transfer reaches, if known. @param {PlacedOp} op @param {Templates} templates */
function linkSegments(op, templates) {
  if (op.efficiency === null) return whyAbove(op, templates);
  const of = { share: amount(op.efficiency, "ratio"), roof: op.bound.label };
  return op.aboveRoof === "link"
    ? [...say(templates, "op_above", of), ...whyAbove(op, templates)]
    : [...say(templates, "op_place", of), ...savingOf(op, templates)];
}

/** @param {PlacedOp} op @param {Templates} templates */
const whyAbove = ({ aboveRoof }, templates) =>
  aboveRoof === null ? [] : say(templates, `above_${aboveRoof}`);

/** @param {PlacedOp} op @param {Templates} templates */
function whyUnplaced({ cost, unheld }, templates) {
  if (cost === "flops_unknown") return say(templates, "op_flops_unknown");
  if (cost === "bytes_unknown") return say(templates, "op_bytes_unknown");
  return unheld === null
    ? say(templates, "op_no_peak")
    : say(templates, "op_unit_without_peak", { unit: unheld });
}

/** @param {PlacedOp} op @param {Templates} templates */
const savingOf = ({ gainUs }, templates) =>
  gainUs === null ? [] : say(templates, "op_saving", { saving: amount(gainUs, "time_us") });

/**
 * The bound of an op, in the table and on its card; without one, the knowledge of its work.
 * @param {Pick<Words, "costs">} words
 * @param {Pick<Bound, "kind" | "label"> | undefined} bound
 * @param {Cost | null} cost null: a cost means nothing for such rows
 */
export function boundWord({ costs }, bound, cost) {
  if (bound?.kind === "none" && cost !== null && cost !== "known") return costs[cost] ?? DASH;
  return bound?.label ?? DASH;
}

/**
 * A rate that lacks the work of a part of the time is a lower bound.
 * @param {string} text
 * @param {unknown} isLeast
 */
export const atLeast = (text, isLeast) => (isLeast ? `≥\u00a0${text}` : text);

/** "Step 4", "Total". @param {Pick<ProgramPoint, "scope" | "label">} point */
export function programName(point) {
  if (point.scope === "total_hw") return "Total (HW)"; // the note below the list says what was counted
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

/** XProf's category of idle time is in capitals: files and links keep it, the page says "idle". @param {string} name */
export const shownCategory = (name) => (name === "IDLE" ? "idle" : name);

/** @type {Record<string, string>} */
const PART_KINDS = { at_roof: "at the roof", below_roof: "below the roof" };

/**
 * The name of a chosen part: "below the HBM roof", "exposed ICI".
 * @param {Budget | null | undefined} budget
 * @param {string} part
 */
export function partLabel(budget, part) {
  const found = budget?.parts.find(({ id }) => id === part);
  const text = found?.label ?? PART_KINDS[part] ?? part;
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
