// Pins: operations and program points that carry a note, in the link or kept with the profile. Pure.

/** @import { ProgramPoint } from "../types/page-data.js" */
/** @import { Row, View } from "../types/model.js" */
/** @import { KeptNote, Pin } from "../types/pins.js" */

/** Letters of a note, in the link as on the server. */
export const LONGEST_NOTE = 500;

/**
 * @typedef {object} ShownPin a pin as the page shows it
 * @property {number} number from 1
 * @property {string} at its point, as in the address
 * @property {string} name of the operation, or the label of the program point
 * @property {string} note
 * @property {KeptNote | null} kept null: it is in the link alone
 * @property {Row | null} row of an operation
 * @property {ProgramPoint | null} point of the program
 */

/** The place of an operation in the address. @param {number} op */
export const placeOfOp = (op) => String(op);

/** The place of a program point in the address. @param {number} index among the points of the program */
export const placeOfPoint = (index) => `p${index}`;

/**
 * `12` or `p3`, and behind a point the note.
 * @param {string} text
 * @returns {Pin | null} null where it names no place
 */
export function readPin(text) {
  const [, at, note] = /^(p?\d{1,9})(?:\.([^]*))?$/.exec(text) ?? [];
  return at === undefined ? null : { at, note: (note ?? "").slice(0, LONGEST_NOTE) };
}

/** @param {Pin} pin */
export const writePin = ({ at, note }) => (note ? `${at}.${note}` : at);

/**
 * The pins of a link, each place once; the last one of a place counts.
 * @param {readonly Pin[]} pins
 * @param {Pin} pin
 * @returns {Pin[]} with this one in place of the former one
 */
export const withPin = (pins, pin) =>
  pins.some(({ at }) => at === pin.at)
    ? pins.map((one) => (one.at === pin.at ? pin : one))
    : [...pins, pin];

/** @param {readonly Pin[]} pins @param {string} at */
export const withoutPin = (pins, at) => pins.filter((one) => one.at !== at);

/**
 * Where a kept note lies in this view; null where the view does not have its point, as a part of the time may not.
 * @param {View} view
 * @param {KeptNote} note
 */
export function placeOfNote(view, { kind, name, program }) {
  if (kind === "program") {
    const index = view.program.findIndex(({ label }) => label === name);
    return index < 0 ? null : placeOfPoint(index);
  }
  const read = view.reader("program");
  const found = view.rows
    .filter((row) => row.name === name && (!program || String(read(row) ?? "") === program))
    .sort((a, b) => b.share - a.share)[0];
  return found ? placeOfOp(found.op) : null;
}

/**
 * Whether the view has this place.
 * @param {View} view
 * @param {string} at
 */
export const isPlace = (view, at) =>
  at.startsWith("p") ? Number(at.slice(1)) < view.program.length : view.byOp.has(Number(at));

/**
 * All pins in this order: operations by their time, then points of the program. A note in the link stands in place of
 * the kept one.
 * @param {View} view
 * @param {readonly KeptNote[]} notes
 * @param {readonly Pin[]} pins
 * @returns {ShownPin[]}
 */
export function shownPins(view, notes, pins) {
  /** @type {Map<string, { note: string, kept: KeptNote | null }>} */
  const byPlace = new Map();
  for (const kept of notes) {
    const at = placeOfNote(view, kept);
    if (at !== null) byPlace.set(at, { note: kept.text, kept });
  }
  for (const { at, note } of pins)
    if (isPlace(view, at)) byPlace.set(at, { note, kept: byPlace.get(at)?.kept ?? null });
  return [...byPlace]
    .map(([at, { note, kept }]) => ({ at, note, kept, ...pointAt(view, at) }))
    .sort((a, b) => (b.row?.share ?? -1) - (a.row?.share ?? -1))
    .map((pin, i) => ({ number: i + 1, ...pin }));
}

/** @param {View} view @param {string} at a place that the view has */
function pointAt(view, at) {
  const point = at.startsWith("p") ? view.program[Number(at.slice(1))] : null;
  const row = point ? null : (view.byOp.get(Number(at)) ?? null);
  return { point, row, name: row?.name ?? point?.label ?? "" };
}

/**
 * The part of a pin that the server keeps.
 * @param {View} view
 * @param {ShownPin} pin
 */
export function noteToKeep(view, { row, name, note }) {
  const program = row ? String(view.reader("program")(row) ?? "") : "";
  return { kind: row ? "operation" : "program", name, program, text: note };
}
