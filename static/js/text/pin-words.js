// Numbers of pinned points, for the list of pins and for files. Pure.

import { duration, percent } from "./format.js";

/** @import { Bound } from "../types/page-data.js" */

/**
 * @typedef {object} PinRecord a pin as files have it; numbers are null where they are not known
 * @property {number} pin
 * @property {"operation" | "program"} kind
 * @property {string} program
 * @property {string} name
 * @property {string} note
 * @property {number | null} time_per_core_us own time of an operation, whole time of a program point
 * @property {number | null} self_share_ratio
 * @property {number | null} roofline_efficiency_ratio
 * @property {string | null} bound_by
 */

export const PIN_COLUMNS = /** @type {const} */ ([
  "pin",
  "kind",
  "program",
  "name",
  "note",
  "time_per_core_us",
  "self_share_ratio",
  "roofline_efficiency_ratio",
  "bound_by",
]);

/** @param {unknown} value */
export const numberOrNull = (value) => (typeof value === "number" ? value : null);

/** One line of numbers. @param {PinRecord} record @param {Bound | undefined} bound */
export const pinFacts = (record, bound) =>
  [
    duration(record.time_per_core_us),
    record.kind === "operation" ? percent(record.self_share_ratio) : null,
    `${percent(record.roofline_efficiency_ratio)} of roof`,
    bound && bound.kind !== "none" ? bound.label : null,
  ]
    .filter((text) => text !== null)
    .join(" · ");

export const PIN_HEAD = ["Point", "Note", "Time", "Share", "Of roof", "Bound by"];

/** A row of text to paste. @param {PinRecord} record @returns {string[]} */
export const pinTexts = (record) => [
  record.name,
  record.note,
  duration(record.time_per_core_us),
  percent(record.self_share_ratio),
  percent(record.roofline_efficiency_ratio),
  record.bound_by ?? "–",
];
