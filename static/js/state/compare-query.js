// The choices of a comparison's reader, as part of the address, and back. Pure.

import { TABS } from "./compare-rows.js";

/** @import { CompareState } from "../types/comparison.js" */

/** Largest change first, whichever its direction. */
export const SORT = "-change";

/** @type {Readonly<CompareState>} */
const START = Object.freeze({
  tab: "changed",
  sort: SORT,
  q: "",
  term: null,
  category: null,
  arrows: "most",
  page: 1,
});

/** @param {string} search the query of the address @returns {CompareState} */
export function parseCompare(search) {
  const query = new URLSearchParams(search);
  const tab = TABS.find((one) => one === query.get("tab")) ?? START.tab;
  return {
    tab,
    sort: query.get("sort") ?? START.sort,
    q: query.get("q") ?? "",
    term: query.get("term"),
    category: query.get("category"),
    arrows: query.get("arrows") === "all" ? "all" : "most",
    page: Math.max(1, Number(query.get("page")) || 1),
  };
}

/**
 * The query of the address with `state` in it; captures, unit and other runs stay.
 * @param {string} search
 * @param {CompareState} state
 */
export function withCompare(search, state) {
  const query = new URLSearchParams(search);
  for (const [name, usual] of Object.entries(START)) {
    const value = state[/** @type {keyof CompareState} */ (name)];
    if (value === usual) query.delete(name);
    else query.set(name, String(value));
  }
  return query.toString();
}

/** Other runs against A: ids in order, each once. @param {string} search */
export const otherRuns = (search) => [...new Set(new URLSearchParams(search).getAll("vs"))];

/**
 * The query with one of the other runs added or removed.
 * @param {string} search
 * @param {string} id
 * @param {boolean} isThere
 */
export function withOtherRun(search, id, isThere) {
  const query = new URLSearchParams(search);
  const others = otherRuns(search).filter((one) => one !== id);
  query.delete("vs");
  for (const one of isThere ? [...others, id] : others) query.append("vs", one);
  return query.toString();
}
