// The page of a comparison: the server wrote its words and rows. Operations are read when their fold opens.

import { createChart, sentFigure } from "../chart/sent.js";
import { saveRows } from "../page/compare-csv.js";
import { CompareOps } from "../page/compare-ops.js";
import { showVersus } from "../page/compare-versus.js";
import { copyLink } from "../page/toast.js";
import { wireSiteHelp } from "../page/site-working.js";
import {
  foldsOf,
  otherRuns,
  parseCompare,
  withCompare,
  withFold,
  withoutRun,
} from "../state/compare-query.js";
import { TABS } from "../state/compare-rows.js";
import { timeScale } from "../text/compare-words.js";
import { buttonPart, find, findAll, part } from "../ui/dom.js";
import { wireKeyboard } from "../ui/keyboard.js";
import { wireMenus } from "../ui/menu.js";

/** @import { Comparison } from "../types/comparison.js" */
/** @import { ButtonAction } from "../page/site-commands.js" */
/** @import { KeyActions } from "../ui/keyboard.js" */

/** @typedef {{ id: string, title: string }} Run */

const page = part("sides");
/** @type {[Run[], Run[]]} */
const sides = JSON.parse(page.dataset.sides ?? "[[],[]]");
/** @type {readonly ButtonAction[]} */
const BUTTONS = [
  ["Swap A and B", "[data-swap]", "S"],
  ["Add a run…", "[data-add-run]"],
  ["Compare with another run…", "[data-choose-run]"],
  ["Copy the link to this view", "[data-copy-link]"],
  ["Download the operations, CSV", "[data-csv]"],
];
/** @type {Promise<CompareOps> | null} */
let ops = null;

/** The table of operations, read once. */
function operations() {
  ops ??= load();
  return ops;
}

async function load() {
  try {
    const response = await fetch(page.dataset.pageUrl ?? "");
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    /** @type {Comparison} */
    const found = await response.json();
    return new CompareOps(found, parseCompare(location.search), (state) =>
      writeQuery(withCompare(location.search, state)),
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    part("notice").hidden = false;
    part("notice").textContent =
      `The operations could not be read. ${reason} Reload the page to try again.`;
    throw error;
  }
}

/** @param {string} query */
function writeQuery(query) {
  history.replaceState(null, "", `${location.pathname}${query ? `?${query}` : ""}`);
}

/** Folds stay as the reader left them: which are open is in the address. */
function wireFolds() {
  const open = foldsOf(location.search);
  for (const fold of findAll(HTMLDetailsElement, "[data-fold]")) {
    const name = fold.dataset.fold ?? "";
    fold.addEventListener("toggle", () => {
      writeQuery(withFold(location.search, name, fold.open));
      if (fold.open && name === "ops") operations();
    });
    if (open.includes(name)) fold.open = true; // an older link says it by its tab alone
    if (fold.open && name === "ops") operations();
  }
}

function wireControls() {
  const fold = find(HTMLDetailsElement, '[data-fold="ops"]');
  const shown = async () => {
    fold.open = true;
    return operations();
  };
  for (const button of findAll(HTMLElement, "[data-csv]"))
    button.addEventListener("click", async () => saveRows((await shown()).listed, sides));
  buttonPart("copy-link").addEventListener("click", () => copyLink());
  const { own, withCtrl } = wireSiteHelp(BUTTONS);
  /** @type {KeyActions} */
  const tabs = Object.fromEntries(
    TABS.map((tab, i) => [
      String(i + 1),
      () => void shown().then((table) => table.set({ tab, page: 1 })),
    ]),
  );
  wireKeyboard({
    search: () => void shown().then(() => find(HTMLElement, "#filter-name").focus()),
    move: (step) => void shown().then((table) => table.move(step)),
    close: () => void ops?.then((table) => table.unselect()),
    own: { ...own, ...tabs, s: () => find(HTMLAnchorElement, "[data-swap]").click() },
    withCtrl,
  });
}

function showOthers() {
  const base = sides[0].map(({ id }) => id);
  const scale = timeScale(Number(page.dataset.longestUs));
  const unit = /** @type {Comparison["unit"]} */ (page.dataset.unit);
  const without = (/** @type {string} */ id) => {
    const query = withoutRun(location.search, id);
    return `${location.pathname}${query ? `?${query}` : ""}`;
  };
  showVersus({ base, others: otherRuns(location.search), unit, scale, without });
}

wireMenus();
wireControls();
wireFolds();
showOthers();
for (const box of findAll(HTMLElement, "[data-pair]")) createChart(box).show(sentFigure(box));
document.body.dataset.ready = "true";
performance.mark("roofline:ready");
