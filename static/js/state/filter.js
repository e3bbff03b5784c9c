// Which ops are shown: the one place that filters. Pure.

/** @import { Value } from "../types/page-data.js" */
/** @import { Row } from "../types/model.js" */
/** @import { Box, ViewState } from "../types/view-state.js" */

/**
 * @param {string} text substring in any case, or /regex/ (the closing slash may still be missing)
 * @returns {{ matches: (row: Row) => boolean, error: string | null }} a bad pattern matches everything
 */
export function nameMatcher(text) {
  if (text === "") return { matches: () => true, error: null };
  if (!/^\/./.test(text)) {
    const wanted = text.toLowerCase();
    return { matches: (row) => row.lowerName.includes(wanted), error: null };
  }
  const source = text.slice(1).replace(/(?<!\\)\/$/, "");
  if (source === "") return { matches: () => true, error: null };
  try {
    const pattern = new RegExp(source, "i");
    return { matches: (row) => pattern.test(row.name), error: null };
  } catch (error) {
    return { matches: () => true, error: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * @typedef {object} FilterContext
 * @property {readonly { name: string }[]} categories
 * @property {readonly { id: string }[]} bounds
 * @property {(row: Row) => [number, number] | null} place log10 position on the chart; null: has none
 */

/**
 * @param {readonly Row[]} rows
 * @param {ViewState} state
 * @param {FilterContext} context
 * @returns {{ shown: Row[], besidesCategory: Row[], error: string | null }}
 *   `besidesCategory`: what the other filters leave, so that the category list can offer the rest
 */
export function filterRows(rows, state, context) {
  const { matches, error } = nameMatcher(state.q);
  const categories = new Set(indicesOf(context.categories, state.cat, (item) => item.name));
  const bounds = new Set(indicesOf(context.bounds, state.bound, (item) => item.id));
  const least = state.min / 100;
  const cover = state.cover / 100;
  const besidesCategory = rows.filter(
    (row) =>
      row.share >= least &&
      (state.cover >= 100 || row.covered < cover) &&
      (state.bound.length === 0 || bounds.has(row.bound)) &&
      matches(row) &&
      (state.part === null || owns(state.part, row.part)) &&
      (state.box === null || isInside(context.place(row), state.box)),
  );
  const shown =
    state.cat.length === 0
      ? besidesCategory
      : besidesCategory.filter((row) => categories.has(row.category));
  return { shown, besidesCategory, error };
}

/**
 * Whether an op with this owner belongs to a part of the budget, or to a kind of parts.
 * `presentation/budget_parts.py` has the same rule.
 * @param {string} part "below_roof.hbm", "below_roof", "exposed.ici", "idle" …
 * @param {string | null} owner "work.hbm" is at and below that roof; null: has none
 */
export function owns(part, owner) {
  if (owner === null) return false;
  const [kind, key] = part.split(".");
  if (kind === "at_roof" || kind === "below_roof")
    return key === undefined ? owner.startsWith("work.") : owner === `work.${key}`;
  if (part === "exposed") return owner.startsWith("exposed.");
  return owner === (part === "launch_gaps" ? "idle" : part);
}

/**
 * @template T
 * @param {readonly T[]} items
 * @param {readonly string[]} wanted
 * @param {(item: T) => string} key
 */
function indicesOf(items, wanted, key) {
  const index = new Map(items.map((item, i) => [key(item), i]));
  return wanted.map((name) => index.get(name)).filter((i) => i !== undefined);
}

/** @param {[number, number] | null} place @param {Box} box */
function isInside(place, [x0, x1, y0, y1]) {
  return place !== null && place[0] >= x0 && place[0] <= x1 && place[1] >= y0 && place[1] <= y1;
}

/**
 * The list with an entry taken out or put in.
 * @param {readonly string[]} list
 * @param {string} entry
 */
export const toggled = (list, entry) =>
  list.includes(entry) ? list.filter((item) => item !== entry) : [...list, entry];

/** Share of the view's time that these ops make. @param {readonly Row[]} rows */
export function shareOf(rows) {
  return rows.reduce((sum, row) => sum + row.share, 0);
}

/**
 * Sorted copy; missing values come last in both directions, ties keep the order of time.
 * @param {readonly Row[]} rows
 * @param {(row: Row) => Value} valueOf
 * @param {boolean} descending
 */
export function sortRows(rows, valueOf, descending) {
  const keyed = rows.map((row) => ({ row, value: valueOf(row) }));
  const sign = descending ? -1 : 1;
  keyed.sort((a, b) => compare(a.value, b.value, sign));
  return keyed.map((entry) => entry.row);
}

/** @type {Intl.Collator | undefined} made when first needed: it takes milliseconds */
let collator;

/** @param {Value} a @param {Value} b @param {1 | -1} sign */
function compare(a, b, sign) {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return (
    sign *
    (typeof a === "string" || typeof b === "string"
      ? (collator ??= new Intl.Collator("en", { numeric: true })).compare(String(a), String(b))
      : a - b)
  );
}
