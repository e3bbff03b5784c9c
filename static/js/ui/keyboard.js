// Keys that work anywhere on the page: / search, J and K through the operations, Y the other height, Escape back.

import { find, findAll } from "./dom.js";
import { isMenuOpen } from "./menu.js";

/** The field that is being typed into, if any. @param {Event} event */
function typedInto({ target }) {
  const isField =
    target instanceof HTMLElement &&
    target.matches("input:not([type=range], [type=checkbox]), select, textarea");
  return isField ? target : null;
}

/**
 * @param {object} actions
 * @param {() => void} actions.search
 * @param {(step: number) => void} actions.move
 * @param {() => void} actions.close
 * @param {() => void} [actions.turn] the other height of the chart
 */
export function wireKeyboard({ search, move, close, turn }) {
  /** @type {Record<string, (() => void) | undefined>} */
  const actions = { "/": search, j: () => move(1), k: () => move(-1), ...(turn && { y: turn }) };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape" && !isMenuOpen()) {
      const field = typedInto(event);
      if (field) field.blur();
      else close();
      return;
    }
    if (typedInto(event)) return;
    const action = actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

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

/** @type {Record<string, number | undefined>} */
const TAB_STEPS = { ArrowRight: 1, ArrowLeft: -1 };

/**
 * Tabs as the ARIA pattern has them: arrows move, one of them is a tab stop.
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
      find(HTMLElement, `#${tab.getAttribute("aria-controls")}`).hidden = !selected;
    }
  };
}
