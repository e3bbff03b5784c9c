// Which columns of the table of operations are shown, in which order, and by which one it is sorted. Pure.

/** @import { Column, Unit } from "../types/page-data.js" */

/** @type {ReadonlySet<Unit>} */
const WORDS = new Set(["text", "category", "bound", "cause", "cost", "roof", "source", "program"]);

/**
 * Whether a column shows words: they stand left and sort from A to Z first.
 * @param {Column} column
 */
export const isText = ({ unit }) => WORDS.has(unit);

/** @typedef {"standard" | "all"} Preset */

/** @param {readonly Column[]} columns @returns {Record<Preset, string[]>} ids */
export function columnPresets(columns) {
  return {
    standard: columns.filter((column) => column.default).map((column) => column.id),
    all: columns.map((column) => column.id),
  };
}

/**
 * Whether a choice is the name of a preset, which an address has in place of dozens of columns.
 * @param {readonly string[]} chosen
 * @returns {chosen is ["all"]}
 */
export const isPreset = (chosen) => chosen.length === 1 && chosen[0] === "all";

/** @param {readonly Column[]} columns @param {readonly string[]} chosen ids, or the name of a preset */
function chosenIds(columns, chosen) {
  if (chosen.length === 0) return columnPresets(columns).standard;
  return isPreset(chosen) ? columnPresets(columns)[chosen[0]] : chosen;
}

/**
 * The shown columns: the name first, whatever else was chosen.
 * @param {readonly Column[]} columns
 * @param {readonly string[]} chosen ids, or the name of a preset; empty means the page's default
 */
export function shownColumns(columns, chosen) {
  const ids = chosenIds(columns, chosen);
  const byId = new Map(columns.map((column) => [column.id, column]));
  return ["name", ...ids.filter((id) => id !== "name")].flatMap((id) => byId.get(id) ?? []);
}

/**
 * The shown columns of the program and its steps: the first names the point, whatever else was chosen.
 * @param {readonly Column[]} columns
 * @param {readonly string[]} chosen ids; empty means all
 */
export const programColumns = (columns, chosen) =>
  columns.filter(({ id }, i) => i === 0 || chosen.length === 0 || chosen.includes(id));

/**
 * The shown columns with one more or one less; a new one comes where the full order has it.
 * @param {readonly Column[]} columns
 * @param {readonly string[]} shown ids
 * @param {string} id
 * @param {boolean} isWanted
 */
export function withColumn(columns, shown, id, isWanted) {
  if (!isWanted) return shown.filter((other) => other !== id);
  return columns
    .map((column) => column.id)
    .filter((other) => other === id || shown.includes(other));
}

/**
 * The part of a choice that the state keeps. The default is written as no choice, and another preset as its name, so
 * that links stay short and follow a better preset.
 * @param {readonly Column[]} columns
 * @param {readonly string[]} ids
 * @returns {readonly string[]}
 */
export function columnChoice(columns, ids) {
  const presets = columnPresets(columns);
  /** @param {Preset} name */
  const is = (name) => String(ids) === String(presets[name]);
  if (is("standard")) return [];
  return is("all") ? ["all"] : ids;
}

/** The column that a sort order is by. @param {string} sort */
export const sortColumn = (sort) => (sort.startsWith("-") ? sort.slice(1) : sort);

/**
 * A second click on a header turns the order; numbers start with the largest.
 * @param {string} sort the present order
 * @param {Column} column
 */
export function nextSort(sort, column) {
  const { id } = column;
  if (sortColumn(sort) === id) return sort.startsWith("-") ? id : `-${id}`;
  return isText(column) || id === "rank" ? id : `-${id}`;
}
