// Folds: the device above the charts, and four parts below them. Each opens on a click, and stays open for
// this person on every page.

import { find, findAll } from "../ui/dom.js";
import { remember, remembered } from "../ui/remembered.js";

/** @import { ViewState } from "../types/view-state.js" */

const OPENED = "roofline-open";

/** @param {(fold: string | null) => void} onChoose a fold that was opened by a click; null: one was closed */
export function createFolds(onChoose) {
  const buttons = findAll(HTMLButtonElement, "[data-fold]");
  const names = buttons.map(nameOf);
  /** What a fold waits with until it is open. @type {Map<string, () => void>} */
  const waiting = new Map();
  /** @param {HTMLButtonElement} button @param {boolean} open */
  function show(button, open) {
    button.setAttribute("aria-expanded", String(open));
    panelOf(button).hidden = !open;
    const run = open ? waiting.get(nameOf(button)) : undefined;
    waiting.delete(nameOf(button));
    run?.();
  }
  const opened = remembered(OPENED)?.split(",") ?? [];
  for (const button of buttons) {
    if (opened.includes(nameOf(button))) show(button, true);
    button.addEventListener("click", () => {
      show(button, !isOpen(button));
      remember(OPENED, buttons.filter(isOpen).map(nameOf).join());
      onChoose(isOpen(button) ? nameOf(button) : null);
    });
  }
  delete document.documentElement.dataset.open; // of the first frame
  return {
    /** @param {ViewState["tab"]} fold */
    open(fold) {
      const button = buttons[names.indexOf(fold ?? "")];
      if (button && !isOpen(button)) show(button, true);
    },
    /** @param {string} fold */
    isOpen: (fold) => isOpen(buttons[names.indexOf(fold)]),
    /** Runs when the fold is open, now or later. @param {string} fold @param {() => void} run */
    whenOpen(fold, run) {
      waiting.set(fold, run);
      const button = buttons[names.indexOf(fold)];
      if (isOpen(button)) show(button, true);
    },
    /** Paper has every fold; those drawn on demand only if they are open. @param {boolean} isPaper */
    print(isPaper) {
      for (const button of buttons) {
        const isShown = isOpen(button) || (isPaper && !DRAWN_ON_DEMAND.has(nameOf(button)));
        panelOf(button).hidden = button.hidden || !isShown;
      }
    },
  };
}

const DRAWN_ON_DEMAND = new Set(["timeline", "hardware"]);

/** @param {HTMLButtonElement} button */
const nameOf = (button) => button.dataset.fold ?? "";

/** @param {HTMLButtonElement} button */
const isOpen = (button) => button.ariaExpanded === "true";

/** @param {HTMLButtonElement} button */
const panelOf = (button) => find(HTMLElement, `#${button.getAttribute("aria-controls")}`);
