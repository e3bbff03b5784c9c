// The page of a comparison: loads its data once, opens the view of the link, and wires what is around it.

import { saveRows } from "../page/compare-csv.js";
import { showCaptures } from "../page/compare-captures.js";
import { showVersus } from "../page/compare-versus.js";
import { CompareView } from "../page/compare-view.js";
import { COMPARE_KEYS } from "../page/key-help.js";
import { wireRunPicker } from "../page/run-picker.js";
import { wireSiteHelp } from "../page/site-working.js";
import { otherRuns, parseCompare, withCompare, withOtherRun } from "../state/compare-query.js";
import { TABS } from "../state/compare-rows.js";
import { copyAddress } from "../page/copy-address.js";
import { buttonPart, find, findAll, part } from "../ui/dom.js";
import { wireKeyboard } from "../ui/keyboard.js";
import { wireMenus } from "../ui/menu.js";

/** @import { Comparison, CompareState } from "../types/comparison.js" */
/** @import { ButtonAction } from "../page/site-commands.js" */
/** @import { TimeScale } from "../text/compare-words.js" */
/** @import { KeyActions } from "../ui/keyboard.js" */

/** @typedef {{ id: string, title: string }} Run */

const page = part("sides");
/** @type {[Run[], Run[]]} */
const sides = JSON.parse(page.dataset.sides ?? "[[],[]]");
/** @type {readonly ButtonAction[]} */
const BUTTONS = [
  ["Swap A and B", "[data-swap]", "S"],
  ["Add a run…", '[popovertarget="menu-runs"]'],
  ["Copy the link to this view", "[data-copy-link]"],
  ["Download the table, CSV", "[data-csv]"],
  ["All fields of the runs", "[data-facts-toggle]"],
  ["Arrows for most of the change", '[data-arrows="most"]'],
  ["Arrows for all of the change", '[data-arrows="all"]'],
];
/** @type {Record<Comparison["unit"], string>} */
const UNITS = { step: "Step", execution: "Execution", capture: "Capture" };

/** @param {string} text */
function notify(text) {
  part("notice").hidden = false;
  part("notice").textContent = text;
}

/** @returns {Promise<Comparison>} */
async function load() {
  const response = await fetch(page.dataset.pageUrl ?? "");
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return response.json();
}

/** @param {Comparison} found */
function open(found) {
  const view = new CompareView(found, parseCompare(location.search), writeAddress);
  wireUnit(found);
  wireControls(view);
  wireMoves(view);
  showCaptures(found);
  showOthers(found, view.scale);
  view.show();
  watchSize(() => view.draw());
}

/** @param {CompareState} state */
function writeAddress(state) {
  const query = withCompare(location.search, state);
  history.replaceState(null, "", `${location.pathname}${query ? `?${query}` : ""}`);
}

/** @param {CompareView} view */
function wireControls(view) {
  const set = (/** @type {Partial<CompareState>} */ change) => view.set(change);
  const field = find(HTMLInputElement, "#filter-name");
  field.value = view.state.q;
  field.addEventListener("input", () => set({ q: field.value, page: 1 }));
  part("filter-chip").addEventListener("click", () => set({ term: null, category: null, page: 1 }));
  for (const button of findAll(HTMLElement, "[data-arrows]"))
    button.addEventListener("click", () =>
      set({ arrows: button.dataset.arrows === "all" ? "all" : "most" }),
    );
  for (const button of findAll(HTMLElement, "[data-csv]"))
    button.addEventListener("click", () => saveRows(view.listed, sides));
  const toggle = buttonPart("facts-toggle");
  toggle.addEventListener("click", () => {
    const facts = find(HTMLElement, "#all-facts");
    facts.hidden = !facts.hidden;
    toggle.setAttribute("aria-expanded", String(!facts.hidden));
  });
  buttonPart("copy-link").addEventListener("click", copyAddress);
}

/** Sentence and facts depend on the unit: another one is another page. @param {Comparison} found */
function wireUnit(found) {
  const choice = find(HTMLSelectElement, "[data-unit]");
  choice.replaceChildren(
    ...found.units.map(
      (unit) => new Option(UNITS[/** @type {Comparison["unit"]} */ (unit)] ?? unit, unit),
    ),
  );
  choice.value = found.unit;
  choice.addEventListener("change", () => {
    const query = new URLSearchParams(location.search);
    query.set("unit", choice.value);
    location.search = query.toString();
  });
}

/** Keys: / search, J and K rows, Escape clears, S swaps, 1 to 5 the tabs, those of every page. @param {CompareView} view */
function wireMoves(view) {
  const { own, withCtrl } = wireSiteHelp(COMPARE_KEYS, BUTTONS);
  /** @type {KeyActions} */
  const tabs = Object.fromEntries(
    TABS.map((tab, i) => [String(i + 1), () => view.set({ tab, page: 1 })]),
  );
  wireKeyboard({
    search: () => find(HTMLElement, "#filter-name").focus(),
    move: (step) => view.move(step),
    close: () => view.unselect(),
    own: { ...own, ...tabs, s: () => find(HTMLAnchorElement, "[data-swap]").click() },
    withCtrl,
  });
}

/** @param {Comparison} found @param {TimeScale} scale */
function showOthers(found, scale) {
  const base = sides[0].map(({ id }) => id);
  const others = otherRuns(location.search);
  const address = (/** @type {string} */ id, /** @type {boolean} */ isThere) => {
    const query = withOtherRun(location.search, id, isThere);
    return `${location.pathname}${query ? `?${query}` : ""}`;
  };
  showVersus({ base, others, unit: found.unit, scale, without: (id) => address(id, false) });
  const here = [...sides.flat().map(({ id }) => id), ...others];
  wireRunPicker({
    title: sides[0][0].title,
    without: here,
    addressOf: ({ id }) => address(id, true),
  });
}

/** @param {() => void} redraw */
function watchSize(redraw) {
  const chart = find(SVGSVGElement, "[data-chart]");
  const size = () => `${chart.clientWidth} ${chart.clientHeight}`;
  let known = size();
  let frame = 0;
  new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      if (size() === known) return;
      known = size();
      redraw();
    });
  }).observe(chart);
}

async function main() {
  wireMenus();
  try {
    open(await load());
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    notify(`The comparison could not be drawn. ${reason} Reload the page to try again.`);
    throw error;
  }
  document.body.dataset.ready = "true";
  performance.mark("roofline:ready");
}

main();
