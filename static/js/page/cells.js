// How a value becomes a cell of a table. One element per cell: marks, bars and glyphs are drawn by the style
// sheet, which keeps a page of rows light. Pure. Cells are given.

import { isText } from "../state/shown-columns.js";
import { columnScale, DASH } from "../text/format.js";
import { rateWord } from "../text/provenance.js";
import { isOver } from "../text/roofs.js";
import { middleCut, withoutPrefix } from "../text/names.js";
import { plainText, say } from "../text/sentences.js";
import { AT_BEST, atLeast, boundWord, shownCategory } from "../text/words.js";

/** @import { Column, Cost, Timing, Unit, Value } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */
/** @import { ColumnScale } from "../text/format.js" */
/** @import { TableColumn } from "../ui/table.js" */

/**
 * @template R
 * @typedef {object} CellContext
 * @property {(row: R) => Value} read
 * @property {readonly R[]} rows
 * @property {Model} model
 * @property {(row: R) => string} barToken colour of a bar against a roof
 * @property {(row: R) => string} shareToken colour of a bar of time
 * @property {(row: R) => Cost | null} costOf null: a cost means nothing for such rows
 * @property {(row: R) => Timing} timingOf
 * @property {(row: R) => Value} causeOf the likely cause where a row is above its roof, else null
 * @property {(row: R) => Value} notShownOf why cells of the row are empty, else null
 * @property {(row: R, unit: Unit) => boolean} isLeast whether a rate of this unit is a lower bound
 * @property {boolean} head
 * @property {boolean} chips the row header has chips
 * @property {(row: R) => string} headText
 * @property {(row: R) => string} headTitle the whole name
 * @property {(row: R) => readonly string[]} chipsOf beside the name
 * @property {string} sourcePrefix the folder of all sources
 */

const SOURCE_LETTERS = 32; // that have room in a cell
/** Bars are read against the whole for efficiencies, against the largest for shares of time. */
const SHARES = new Set(["share_ratio", "self_share_ratio"]);
const OF_ROOFS = new Set(["roof_ratio", "roofline_efficiency_ratio"]);
const OF_PEAKS = new Set(["compute_efficiency_ratio", "memory_utilisation_ratio"]);
/** Units of what is left out where it would not be a rate. */
const RATES = new Set(["gflops", "gops", "gibs", "flop_per_byte"]);

/**
 * @template R
 * @param {Column} column
 * @param {CellContext<R>} context
 * @returns {TableColumn<R>}
 */
export function tableColumn(column, context) {
  const { id, label, help } = column;
  const scale = columnScale(column.unit, isText(column) ? 0 : largestOf(context));
  const measured = rateWord(context.model.profile.provenance, column.unit);
  const unit = [scale.unit, column.sub].filter(Boolean).join(" ");
  return {
    id,
    label,
    sub: [unit, measured].filter(Boolean).join(", "),
    help,
    align: isText(column) ? "left" : "right",
    head: context.head,
    chips: context.chips,
    paint: context.head ? headPainter(context) : painter(column, scale, context),
  };
}

/** @template R @param {CellContext<R>} context */
const largestOf = ({ rows, read }) =>
  rows.reduce((most, row) => Math.max(most, numberOf(read(row)) ?? 0), 0);

/** @param {Value} value */
const numberOf = (value) => (typeof value === "number" ? value : null);

/**
 * The entry of a list that a value is the index of.
 * @template T
 * @param {readonly T[]} list
 * @param {Value} index
 * @returns {T | undefined}
 */
export const entryOf = (list, index) => list[numberOf(index) ?? -1];

/**
 * Writes only what changed: most cells of a page survive a keystroke.
 * @param {Element} cell
 * @param {string} text
 */
function setText(cell, text) {
  if (cell.firstChild === null) cell.append(text);
  else if (cell.firstChild.nodeValue !== text) cell.firstChild.nodeValue = text;
}

/** @param {HTMLElement} cell @param {string} text */
function setTitle(cell, text) {
  if (cell.title !== text) cell.title = text;
}

/** @param {HTMLElement} cell @param {string} name @param {string} value */
function setVariable(cell, name, value) {
  if (cell.style.getPropertyValue(name) !== value) cell.style.setProperty(name, value);
}

/** @param {HTMLElement} cell @param {string} text @param {string} className */
function paintText(cell, text, className) {
  setText(cell, text);
  if (cell.className !== className) cell.className = className;
}

/**
 * The row header: a button that selects the row, and what its short name leaves out.
 * @template R
 * @param {CellContext<R>} context
 * @returns {TableColumn<R>["paint"]}
 */
const headPainter =
  ({ headText, headTitle, chipsOf }) =>
  (cell, row) => {
    const [button, ...chips] = cell.firstElementChild?.children ?? [];
    setText(button ?? cell, headText(row));
    setTitle(cell, headTitle(row));
    const texts = chipsOf(row);
    chips.forEach((chip, i) => setText(chip, texts[i] ?? ""));
  };

/**
 * @template R
 * @param {Column} column
 * @param {ColumnScale} scale
 * @param {CellContext<R>} context
 * @returns {TableColumn<R>["paint"]}
 */
function painter(column, scale, context) {
  const { read, model, isLeast } = context;
  if (column.unit === "cost")
    return (cell, row) => paintText(cell, labelOf(model.words.costs, read(row)), "left");
  if (column.unit === "cause")
    return (cell, row) => paintText(cell, labelOf(model.words.causes, read(row)), "left");
  if (column.unit === "category") return categoryPainter(context);
  if (column.unit === "bound") return boundPainter(context);
  if (column.unit === "roof")
    return (cell, row) =>
      paintText(cell, entryOf(model.roofs.compute, read(row))?.label ?? DASH, "left");
  if (column.unit === "source") return sourcePainter(context);
  if (isText(column)) return (cell, row) => paintWords(cell, scale.text(read(row)));
  if (SHARES.has(column.id) || OF_ROOFS.has(column.id)) return barPainter(column, scale, context);
  if (OF_PEAKS.has(column.id)) return peakPainter(scale, context);
  const isRate = RATES.has(column.unit);
  return (cell, row) => {
    const value = read(row);
    const text = atLeast(scale.text(value), value !== null && isLeast(row, column.unit));
    paintText(cell, text, value === 0 ? "zero" : "");
    if (isRate) setTitle(cell, value === null ? whyEmpty(context, row) : "");
  };
}

/**
 * A share of a peak: above 100 % it is marked and says why.
 * @template R
 * @param {ColumnScale} scale
 * @param {CellContext<R>} context
 * @returns {TableColumn<R>["paint"]}
 */
function peakPainter(scale, context) {
  const { read, causeOf, model } = context;
  return (cell, row) => {
    const value = numberOf(read(row));
    const over = isOver(value) && causeOf(row) !== null;
    paintText(cell, scale.text(value), over ? "over" : value === 0 ? "zero" : "");
    const empty = value === null ? whyEmpty(context, row) : "";
    setTitle(cell, over ? whyAbove(model, causeOf(row)) : empty);
  };
}

/** @param {Record<string, string>} labels @param {Value} id */
export const labelOf = (labels, id) => labels[String(id)] ?? DASH;

/** @param {HTMLElement} cell @param {string} text */
function paintWords(cell, text) {
  paintText(cell, text, "left clip");
  setTitle(cell, text);
}

/** Without the folder of all sources, which the header names. @template R @param {CellContext<R>} context @returns {TableColumn<R>["paint"]} */
const sourcePainter =
  ({ read, sourcePrefix }) =>
  (cell, row) => {
    const text = String(read(row) || DASH);
    paintText(cell, middleCut(withoutPrefix(text, sourcePrefix), SOURCE_LETTERS), "left clip");
    setTitle(cell, text);
  };

/** @template R @param {CellContext<R>} context @returns {TableColumn<R>["paint"]} */
const categoryPainter =
  ({ read, model }) =>
  (cell, row) => {
    const category = entryOf(model.categories, read(row));
    if (!category) return paintWords(cell, DASH);
    const name = shownCategory(category.name);
    paintText(cell, name, `left clip category mark-${category.symbol}`);
    setTitle(cell, name);
    return setVariable(cell, "--swatch", `var(${category.token})`);
  };

/** @template R @param {CellContext<R>} context @returns {TableColumn<R>["paint"]} */
const boundPainter =
  ({ read, model, costOf }) =>
  (cell, row) => {
    const bound = entryOf(model.bounds, read(row));
    const text = boundWord(model.words, bound, costOf(row));
    paintText(cell, text, `left bound bound-${bound?.kind ?? "none"}`);
    setVariable(cell, "--swatch", `var(${bound?.token ?? "--ink-3"})`);
  };

/** Why an op seems to run above its roof. @param {Model} model @param {Value} cause */
const whyAbove = ({ words }, cause) => plainText(say(words.sentences, `above_${cause}`));

/** Why a cell is empty that could have a rate. @template R @param {CellContext<R>} context @param {R} row */
const whyEmpty = ({ notShownOf }, row) => String(notShownOf(row) ?? "");

/**
 * @template R
 * @param {Column} column
 * @param {ColumnScale} scale
 * @param {CellContext<R>} context
 * @returns {TableColumn<R>["paint"]}
 */
function barPainter(column, scale, context) {
  const { read, barToken, shareToken, timingOf, causeOf, model } = context;
  const isShare = SHARES.has(column.id);
  const whole = isShare ? largestOf(context) || 1 : 1;
  const token = isShare ? shareToken : barToken;
  return (cell, row) => {
    const value = numberOf(read(row));
    const over = !isShare && isOver(value);
    const text = !isShare && timingOf(row) === "predicted" ? AT_BEST : scale.text(value);
    paintText(cell, text, value === null ? "" : over ? "bar over" : "bar");
    const empty = value === null ? whyEmpty(context, row) : "";
    setTitle(cell, over ? whyAbove(model, causeOf(row)) : empty);
    const filled = Math.round(((value ?? 0) / whole) * 1000) / 10;
    setVariable(cell, "--v", String(Math.min(100, filled)));
    setVariable(cell, "--swatch", `var(${token(row)})`);
  };
}
