// Files made in the browser: tables as CSV, the chart as a picture.

import { pictureOf } from "../chart/save.js";
import { createModel, pointValue } from "../state/model.js";
import { programColumns, shownColumns } from "../state/shown-columns.js";
import { toMarkdown, toTsv } from "../text/copied.js";
import { columnScale } from "../text/format.js";
import { fileName, toCsv } from "../text/csv.js";
import { PIN_COLUMNS, PIN_HEAD, pinTexts } from "../text/pin-words.js";
import { save, saveCsv } from "../ui/save.js";
import { entryOf } from "./cells.js";

/** @import { Column, Page, ProgramPoint, Unit, Value } from "../types/page-data.js" */
/** @import { Model, Row } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Paint } from "../chart/save.js" */
/** @import { ShownPin } from "../state/pins.js" */
/** @import { PinRecord } from "../text/pin-words.js" */
/** @import { Picture } from "../chart/save.js" */

/** @typedef {"markdown" | "tsv"} TextFormat */

/**
 * A cell value as a word where the data hold an index.
 * @param {Model} model
 * @param {Unit} unit
 * @param {Value} value
 */
function wordOf(model, unit, value) {
  switch (unit) {
    case "category":
      return entryOf(model.categories, value)?.name ?? null;
    case "bound":
      return entryOf(model.bounds, value)?.id ?? null;
    case "roof":
      return entryOf(model.roofs.compute, value)?.id ?? null;
    default:
      return value;
  }
}

/**
 * @template R
 * @param {Model} model
 * @param {readonly Column[]} columns
 * @param {readonly R[]} rows in the order to write
 * @param {(id: string) => (row: R) => Value} reader
 */
function linesOf(model, columns, rows, reader) {
  const readers = columns.map(({ id, unit }) => ({ unit, read: reader(id) }));
  return rows.map((row) => readers.map(({ unit, read }) => wordOf(model, unit, read(row))));
}

/** @param {readonly Column[]} columns */
const idsOf = (columns) => columns.map((column) => column.id);

/**
 * The table of operations as it is shown.
 * @param {Model} model
 * @param {string} title of the profile, for the file's name
 * @param {ViewState} state
 * @param {readonly Row[]} rows in the order shown
 * @param {readonly ShownPin[]} pins two columns more where there are any
 */
export function saveOps(model, title, state, rows, pins) {
  const columns = shownColumns(model.columns, state.cols);
  const lines = linesOf(model, columns, rows, model.view(state.infeed).reader);
  const pinned = new Map(pins.map((pin) => [pin.row, pin]));
  /** @type {(string | number | null)[][]} */
  const marks = rows.map((row) => {
    const pin = pinned.get(row);
    return pin ? [pin.number, pin.note] : [null, null];
  });
  const text =
    pins.length > 0
      ? toCsv(
          [...idsOf(columns), "pin", "note"],
          lines.map((line, i) => [...line, ...marks[i]]),
        )
      : toCsv(idsOf(columns), lines);
  saveCsv(text, fileName(title, "operations.csv"));
}

/**
 * Operations with the columns that are shown, as text to paste.
 * @param {Model} model
 * @param {ViewState} state
 * @param {readonly Row[]} rows
 * @param {TextFormat} format
 */
export function opsText(model, state, rows, format) {
  const columns = shownColumns(model.columns, state.cols);
  const lines = linesOf(model, columns, rows, model.view(state.infeed).reader);
  if (format === "tsv") return toTsv(idsOf(columns), lines);
  const scales = columns.map(({ unit }, i) => columnScale(unit, largestOf(lines, i)));
  const header = columns.map(({ label, sub }, i) =>
    [label, [scales[i].unit, sub].filter(Boolean).join(" ")].filter(Boolean).join(", "),
  );
  return toMarkdown(
    header,
    lines.map((line) => line.map((value, i) => scales[i].text(value))),
  );
}

/** @param {readonly (readonly Value[])[]} lines @param {number} column */
const largestOf = (lines, column) =>
  lines.reduce((most, line) => Math.max(most, Number(line[column]) || 0), 0);

/**
 * The table of the program and its steps.
 * @param {Model} model
 * @param {string} title
 * @param {ViewState} state
 */
export function saveProgram(model, title, state) {
  const columns = programColumns(model.program_columns, state.pcols);
  /** @param {string} id @returns {(point: ProgramPoint) => Value} */
  const reader = (id) => (point) => pointValue(point, id);
  const lines = linesOf(model, columns, model.view(state.infeed).program, reader);
  saveCsv(toCsv(idsOf(columns), lines), fileName(title, "program.csv"));
}

/**
 * Pins with their notes and numbers.
 * @param {string} title
 * @param {readonly PinRecord[]} records
 * @param {"csv" | "json"} format
 */
export function savePins(title, records, format) {
  if (format === "json") {
    const content = JSON.stringify({ pins: records }, null, 2);
    save(new Blob([content], { type: "application/json" }), fileName(title, "pins.json"));
    return;
  }
  const lines = records.map((record) => PIN_COLUMNS.map((id) => record[id]));
  saveCsv(toCsv(PIN_COLUMNS, lines), fileName(title, "pins.csv"));
}

/** Pins as a table of Markdown. @param {readonly PinRecord[]} records */
export const pinsText = (records) => toMarkdown(PIN_HEAD, records.map(pinTexts));

/**
 * Every op with every column, with and without infeed and outfeed, as XProf's export has both.
 * @param {readonly Page[]} pages with, then without infeed and outfeed
 * @param {string} title
 */
export function saveAllOps(pages, title) {
  const models = pages.map((page) => createModel(page));
  const lines = models.flatMap((model, i) => {
    const { rows, reader } = model.view(i === 0 ? "in" : "out");
    return linesOf(model, model.columns, rows, reader).map((line) => [i === 0, ...line]);
  });
  const header = ["include_infeed_outfeed", ...idsOf(models[0].columns)];
  saveCsv(toCsv(header, lines), fileName(title, "operations-all.csv"));
}

/**
 * The chart with its filters and roofs.
 * @param {Picture} picture
 * @param {Paint} paint
 * @param {"png" | "svg"} format
 */
export async function saveChart(picture, paint, format) {
  save(await pictureOf(picture, format, paint), fileName(picture.title, `roofline.${format}`));
}

/**
 * Puts the chart as a picture on the clipboard; where the browser does not allow it, it becomes a file.
 * @param {Picture} picture
 * @param {Paint} paint
 * @returns {Promise<boolean>} whether it is on the clipboard
 */
export async function copyChart(picture, paint) {
  const content = pictureOf(picture, "png", paint);
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": content })]);
    return true;
  } catch {
    save(await content, fileName(picture.title, "roofline.png"));
    return false;
  }
}
