// The card "What would help": each finding filters to its operations. The server wrote its words and numbers.

import { isWhatIf } from "../metrics/peaks.js";
import { withFilter, withoutFilters } from "../state/query.js";
import { findAll } from "../ui/dom.js";

/** @import { ViewState } from "../types/view-state.js" */
/** @import { Store } from "../state/store.js" */

/** @param {Store} store */
export function createAdvice(store) {
  const root = document.querySelector("[data-advice]");
  if (!(root instanceof HTMLElement)) return { render: () => {} };
  const buttons = findAll(HTMLButtonElement, "[data-advice-filter]", root);
  for (const button of buttons)
    button.addEventListener("click", () => {
      const state = store.get();
      store.set(
        isChosen(state, button)
          ? withoutFilters(state)
          : withFilter(state, { [keyOf(button)]: button.dataset.adviceFilter ?? "" }),
      );
    });
  return {
    /** @param {ViewState} state */
    render(state) {
      for (const button of buttons)
        button.setAttribute("aria-pressed", String(isChosen(state, button)));
      for (const note of findAll(HTMLElement, "[data-advice-own]", root))
        note.hidden = !isWhatIf(state);
    },
  };
}

/** @param {HTMLButtonElement} button @returns {"part" | "q"} */
const keyOf = (button) => (button.dataset.adviceKey === "part" ? "part" : "q");

/** @param {ViewState} state @param {HTMLButtonElement} button */
const isChosen = (state, button) => state[keyOf(button)] === button.dataset.adviceFilter;
