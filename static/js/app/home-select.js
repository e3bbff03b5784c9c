// Selecting profiles of the list to compare them; the selection outlives searching and paging.

import { compareAddress } from "../state/compare-query.js";
import { buttonPart, find, findAll, part } from "../ui/dom.js";

/** @import { DatedRun } from "../state/compare-query.js" */

const MOST = 16; // as many as one comparison takes

/** @type {Map<string, DatedRun & { title: string }>} */
const chosen = new Map();

/** The check boxes of the rows that are shown now. */
const boxes = () => findAll(HTMLInputElement, "[data-pick]");

/** Rows come and go; what was selected stays. */
export function markSelection() {
  for (const box of boxes()) {
    box.checked = chosen.has(box.value);
    box.disabled = !box.checked && chosen.size >= MOST;
  }
  const bar = part("picked");
  bar.hidden = chosen.size === 0;
  const runs = [...chosen.values()];
  part("picked-text").textContent =
    runs.length === 1 ? "1 selected: choose another" : `${runs.length} selected${common(runs)}`;
  const link = find(HTMLAnchorElement, "[data-picked-compare]");
  link.hidden = runs.length < 2;
  link.href = runs.length < 2 ? "" : compareAddress(runs);
}

/** @param {{ title: string }[]} runs */
const common = (runs) =>
  runs.length > 1 && runs.every(({ title }) => title === runs[0].title)
    ? `, all named ${runs[0].title}`
    : "";

export function wireSelection() {
  part("list").addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.dataset.pick === undefined) return;
    const { value: id, dataset } = target;
    if (target.checked)
      chosen.set(id, { id, created: dataset.created ?? "", title: dataset.title ?? "" });
    else chosen.delete(id);
    markSelection();
  });
  buttonPart("picked-clear").addEventListener("click", () => {
    chosen.clear();
    markSelection();
  });
  markSelection();
}

/** Opens the comparison of what is selected, if that is two or more. */
export function compareSelected() {
  if (chosen.size >= 2) find(HTMLAnchorElement, "[data-picked-compare]").click();
}
