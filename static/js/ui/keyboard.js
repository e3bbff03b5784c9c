// Keys that work anywhere on the page: / search, J and K through the operations, Escape back.

import { isMenuOpen } from "./menu.js";

const isTyping = (target) =>
  target instanceof HTMLElement &&
  target.matches("input:not([type=range], [type=checkbox]), select, textarea");

/**
 * @param {object} actions
 * @param {() => void} actions.search
 * @param {(step: number) => void} actions.move
 * @param {() => void} actions.close
 */
export function wireKeyboard({ search, move, close }) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape" && !isMenuOpen()) {
      if (isTyping(event.target)) event.target.blur();
      else close();
      return;
    }
    if (isTyping(event.target)) return;
    const action = {
      "/": search,
      j: () => move(1),
      J: () => move(1),
      k: () => move(-1),
      K: () => move(-1),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

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
    if (PAN[event.key]) pan(...PAN[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(0.7);
    else if (event.key === "-") zoom(1 / 0.7);
    else if (event.key === "0") reset();
    else return;
    event.preventDefault();
  });
}

/** Tabs as the ARIA pattern has them: arrows move, one of them is a tab stop. */
export function wireTabs(tablist, onChoose) {
  const tabs = [...tablist.querySelectorAll("[role=tab]")];
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => onChoose(tab.id.replace("tab-", "")));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
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
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !selected;
    }
  };
}
