// The keys of the home page: search, walking over the rows, selecting, and those of every page.

import { wireSiteHelp } from "../page/site-working.js";
import { findAll } from "../ui/dom.js";
import { wireKeyboard } from "../ui/keyboard.js";
import { compareSelected } from "./home-select.js";

/** @import { ButtonAction } from "../page/site-commands.js" */

/** @type {readonly ButtonAction[]} */
const BUTTONS = [
  ["Choose files to add…", '#drop-zone label[for="file"]'],
  ["Compare the selected profiles", "[data-picked-compare]", "C"],
  ["Clear the selection", "[data-picked-clear]"],
  ["Trash", 'a[href="/trash"]'],
];

const rows = () => findAll(HTMLAnchorElement, "[data-list] tbody .open");

/** The row whose link has the focus, if any. */
const focused = () => document.activeElement?.closest("[data-list] tbody tr") ?? null;

/** @param {number} step */
function move(step) {
  const all = rows();
  const at = all.findIndex((link) => link.closest("tr") === focused());
  const next = at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + step));
  all[next]?.focus();
}

/** Into the selection, or out of it. */
function pick() {
  const row = focused();
  if (row) findAll(HTMLInputElement, "[data-pick]", row)[0]?.click();
}

export function wireHomeKeys() {
  const { own, withCtrl } = wireSiteHelp(BUTTONS);
  wireKeyboard({
    search: () => findAll(HTMLInputElement, "[data-recent-search]")[0]?.focus(),
    move,
    close: () => {},
    own: { ...own, x: pick, c: compareSelected },
    withCtrl,
  });
}
