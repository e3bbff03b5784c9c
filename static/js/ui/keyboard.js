// Keys that work anywhere on the page: / search, J and K through the operations, Escape back, and those of the page.

import { find, findAll } from "./dom.js";
import { isMenuOpen } from "./menu.js";

/** The field that is being typed into, if any. @param {Event} event */
function typedInto({ target }) {
  const isField =
    target instanceof HTMLElement &&
    target.matches("input:not([type=range], [type=checkbox]), select, textarea");
  return isField ? target : null;
}

/** @typedef {Record<string, (() => void) | undefined>} KeyActions by key, letters in lower case */

/**
 * @param {object} actions
 * @param {() => void} actions.search
 * @param {(step: number) => void} actions.move
 * @param {() => void} actions.close
 * @param {KeyActions} [actions.own] other keys of the page
 * @param {KeyActions} [actions.withCtrl] with Ctrl or Cmd: "k", "shift z"
 */
export function wireKeyboard({ search, move, close, own = {}, withCtrl = {} }) {
  /** @type {KeyActions} */
  const actions = { "/": search, j: () => move(1), k: () => move(-1), ...own };
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented) return;
    // Brackets are typed with AltGr on many keyboards, which some systems report as Ctrl and Alt.
    const isPlain = event.getModifierState("AltGraph") || !(event.ctrlKey || event.altKey);
    if (event.ctrlKey !== event.metaKey && !event.altKey) run(event, ctrlAction(event, withCtrl));
    else if (!isPlain || event.metaKey || isDialogOpen()) return;
    else if (event.key === "Escape" && !isMenuOpen()) {
      const field = typedInto(event);
      if (field) field.blur();
      else close();
    } else if (!typedInto(event)) run(event, actions[event.key.toLowerCase()]);
  });
}

/** @param {KeyboardEvent} event @param {(() => void) | undefined} action */
function run(event, action) {
  if (!action) return;
  event.preventDefault();
  action();
}

/** Undoing is a field's own while it is typed into. @param {KeyboardEvent} event @param {KeyActions} actions */
function ctrlAction(event, actions) {
  const key = `${event.shiftKey ? "shift " : ""}${event.key.toLowerCase()}`;
  return /[yz]$/.test(key) && (typedInto(event) || isDialogOpen()) ? undefined : actions[key];
}

/** True while a dialog covers the page: its keys are its own. */
const isDialogOpen = () => document.querySelector("dialog[open]") !== null;

/** @type {Record<string, [right: number, up: number] | undefined>} */
const PAN = {
  ArrowLeft: [-0.15, 0],
  ArrowRight: [0.15, 0],
  ArrowUp: [0, 0.15],
  ArrowDown: [0, -0.15],
};

/**
 * @param {HTMLElement} chart
 * @param {object} actions
 * @param {(right: number, up: number) => void} actions.pan
 * @param {(factor: number) => void} actions.zoom
 * @param {() => void} actions.reset
 */
export function wireChartKeys(chart, { pan, zoom, reset }) {
  chart.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = PAN[event.key];
    if (by) pan(...by);
    else if (event.key === "+" || event.key === "=") zoom(0.7);
    else if (event.key === "-") zoom(1 / 0.7);
    else if (event.key === "0") reset();
    else return;
    event.preventDefault();
  });
}

/** The row of a list that is one control: its keys act on it. @param {HTMLElement} list */
export const activeIn = (list) => list.querySelector(`#${list.id}-active`);

/** Makes it another one. @param {HTMLElement} list @param {HTMLElement | undefined} item */
export function activate(list, item) {
  if (!item) return;
  activeIn(list)?.removeAttribute("id");
  item.id = `${list.id}-active`;
  list.tabIndex = 0;
  list.setAttribute("aria-activedescendant", item.id);
  if (list === document.activeElement) item.scrollIntoView({ block: "nearest" });
}

/** @type {Record<string, number | undefined>} */
const TAB_STEPS = { ArrowRight: 1, ArrowLeft: -1 };

/**
 * Tabs of one panel as the ARIA pattern has them: arrows move, one of them is a tab stop.
 * @param {HTMLElement} tablist
 * @param {(id: string) => void} onChoose the id of a tab without "tab-"
 * @returns {(chosen: string) => void} shows one
 */
export function wireTabs(tablist, onChoose) {
  const tabs = findAll(HTMLElement, "[role=tab]", tablist);
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => onChoose(tab.id.replace("tab-", "")));
    tab.addEventListener("keydown", (event) => {
      const step = TAB_STEPS[event.key];
      if (!step) return;
      event.preventDefault();
      const next = tabs[(i + step + tabs.length) % tabs.length];
      next.focus();
      onChoose(next.id.replace("tab-", ""));
    });
  });
  return (chosen) => {
    for (const tab of tabs) {
      const selected = tab.id === `tab-${chosen}`;
      tab.setAttribute("aria-selected", String(selected));
      tab.tabIndex = selected ? 0 : -1;
      if (selected) find(HTMLElement, "#panel").setAttribute("aria-labelledby", tab.id);
    }
  };
}
