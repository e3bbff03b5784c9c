// Sentences from the server's templates: filled here as `presentation/sentences.py` fills them. Pure.

import { inSentence } from "./format.js";

/** @import { Segment, Styled, Templates } from "../types/page-data.js" */

/**
 * @typedef {{ value: number, unit: string }} Quantity a raw number for a slot
 * @typedef {string | Quantity | Segment | Segment[]} Filling
 */

/** @param {number} value @param {string} unit @returns {Quantity} */
export const amount = (value, unit) => ({ value, unit });

/**
 * A template, filled: its segments.
 * @param {Templates} templates
 * @param {string} name
 * @param {Record<string, Filling>} [fillings]
 * @returns {Segment[]}
 */
export function say(templates, name, fillings = {}) {
  return (templates[name] ?? []).flatMap((part) => {
    if (typeof part === "string") return [{ kind: "plain", text: part }];
    if (part.slot === undefined) return [{ kind: part.kind, text: part.text ?? "" }];
    return filled(part, fillings[part.slot]);
  });
}

/** @param {Styled} part @param {Filling} filling @returns {Segment[]} */
function filled(part, filling) {
  const { kind } = part;
  if (typeof filling === "string") return [{ kind, text: filling }];
  if (Array.isArray(filling)) return filling;
  if (!("kind" in filling)) {
    if (part.one === undefined) return [{ kind, value: filling.value, unit: filling.unit }];
    return [{ kind, text: filling.value === 1 ? part.one : (part.many ?? "") }];
  }
  return [part.is_first ? { ...filling, text: capitalised(filling.text ?? "") } : filling];
}

/** @param {string} text */
const capitalised = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** The text of a segment, its number written out. @param {Segment} segment */
const segmentText = ({ text, value, unit }) =>
  value === undefined ? (text ?? "") : inSentence(value, unit ?? "");

/** @param {readonly Segment[]} segments */
export const plainText = (segments) => segments.map(segmentText).join("");
