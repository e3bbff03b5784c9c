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

/** The folds that are open: an older link to a tab, a search or an order opens the operations. @param {string} search */
export function foldsOf(search) {
  const query = new URLSearchParams(search);
  const folds = (query.get("open") ?? "").split(",").filter(Boolean);
  return ["tab", "q", "sort"].some((name) => query.has(name)) ? [...folds, "ops"] : folds;
}

/**
 * The query with one fold open or closed.
 * @param {string} search
 * @param {string} name
 * @param {boolean} isOpen
 */
export function withFold(search, name, isOpen) {
  const query = new URLSearchParams(search);
  const folds = foldsOf(search).filter((one) => one !== name);
  if (isOpen) folds.push(name);
  else if (name === "ops") for (const one of ["tab", "q", "sort", "page"]) query.delete(one);
  if (folds.length > 0) query.set("open", folds.join(","));
  else query.delete("open");
  return query.toString();
}

/** Other runs against A: ids in order, each once. @param {string} search */
export const otherRuns = (search) => [...new Set(new URLSearchParams(search).getAll("vs"))];

/** The query without one of the other runs. @param {string} search @param {string} id */
export function withoutRun(search, id) {
  const query = new URLSearchParams(search);
  const others = otherRuns(search).filter((one) => one !== id);
  query.delete("vs");
  for (const one of others) query.append("vs", one);
  return query.toString();
}

/** @typedef {{ id: string, created: string }} DatedRun `created`: ISO 8601 */

/**
 * Runs between the oldest and the newest are compared with A, too.
 * @param {readonly DatedRun[]} runs two or more
 */
export function compareAddress(runs) {
  const ordered = [...runs].sort((x, y) => x.created.localeCompare(y.created));
  const [a, ...others] = ordered.map(({ id }) => encodeURIComponent(id));
  const b = others.pop();
  const query = others.map((id) => `vs=${id}`).join("&");
  return `/c/${a}..${b}${query ? `?${query}` : ""}`;
}
