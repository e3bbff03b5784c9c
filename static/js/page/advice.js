// The card "What would help": each finding filters to its operations. The server wrote its words and numbers.

import { isWhatIf } from "../metrics/peaks.js";
import { withFilter, withoutFilters } from "../state/query.js";
import { findAll } from "../ui/dom.js";

/** @import { ViewState } from "../types/view-state.js" */
/** @import { Landing } from "../chart/landing-places.js" */
/** @import { Store } from "../state/store.js" */

/**
 * @param {Store} store
 * @param {(landings: readonly Landing[] | null) => void} onLand a finding is pointed at, or none
 */
export function createAdvice(store, onLand) {
  const root = document.querySelector("[data-advice]");
  if (!(root instanceof HTMLElement)) return { render: () => {} };
  const buttons = findAll(HTMLButtonElement, "[data-advice-filter]", root);
  /** @param {HTMLButtonElement} button @param {boolean} isOn */
  const filter = (button, isOn) => {
    const state = store.get();
    if (isChosen(state, button) === isOn) return;
    const values = { [keyOf(button)]: button.dataset.adviceFilter ?? "" };
    store.set(isOn ? withFilter(state, values) : withoutFilters(state));
  };
  for (const button of buttons) {
    button.addEventListener("click", () => filter(button, !isChosen(store.get(), button)));
    // Opening a finding shows its operations, too; closing it shows all of them again.
    const details = button.closest("details");
    details
      ?.querySelector("summary")
      ?.addEventListener("click", () => filter(button, !details.open));
  }
  const chosen = wireLandings(root, onLand);
  return {
    /** @param {ViewState} state */
    render(state) {
      for (const button of buttons)
        button.setAttribute("aria-pressed", String(isChosen(state, button)));
      for (const note of findAll(HTMLElement, "[data-advice-own]", root))
        note.hidden = !isWhatIf(state);
      onLand(chosen());
    },
  };
}

/** @param {HTMLButtonElement} button @returns {"part" | "q"} */
const keyOf = (button) => (button.dataset.adviceKey === "part" ? "part" : "q");

/** @param {ViewState} state @param {HTMLButtonElement} button */
const isChosen = (state, button) => state[keyOf(button)] === button.dataset.adviceFilter;

/**
 * Pointing at a finding, or going to it with the keyboard, shows where its points would land. A
 * chosen one stays shown.
 * @param {HTMLElement} root
 * @param {(landings: readonly Landing[] | null) => void} onLand
 * @returns {() => readonly Landing[] | null} those of the chosen finding
 */
function wireLandings(root, onLand) {
  const items = findAll(HTMLElement, "[data-advice-landing]", root);
  const chosen = () =>
    landingsOf(items.find((item) => item.querySelector('[aria-pressed="true"]')) ?? null);
  for (const item of items) {
    for (const name of ["pointerenter", "focusin"])
      item.addEventListener(name, () => onLand(landingsOf(item)));
    for (const name of ["pointerleave", "focusout"])
      item.addEventListener(name, () => onLand(chosen()));
  }
  return chosen;
}

/** @param {HTMLElement | null} item @returns {readonly Landing[] | null} */
const landingsOf = (item) => item && JSON.parse(item.dataset.adviceLanding ?? "[]");
