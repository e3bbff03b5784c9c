// The error card of `_cards.html`: filled in place, or already filled by the server.

import { copyWithFeedback } from "./clipboard.js";
import { coded, entry, part } from "./dom.js";
import { problemDetails, reportText } from "../text/problem.js";

/** @import { Parcel, Problem } from "../text/problem.js" */

/**
 * Fills the card, shows it and moves the reader to it.
 * @param {HTMLElement} card
 * @param {Problem} problem
 * @param {Parcel} parcel
 */
export function showProblem(card, problem, parcel) {
  part("message", card).textContent = problem.message;
  part("remedy", card).replaceChildren(...coded(problem.remedy));
  part("remedy-box", card).hidden = problem.remedy === "";
  part("details", card).replaceChildren(
    ...problemDetails(problem, parcel).flatMap(([term, value]) => entry(term, value)),
  );
  card.hidden = false;
  part("message", card).focus();
}

/** Makes "Copy report" copy what the card shows. @param {HTMLElement} card */
export function wireReport(card) {
  const button = part("copy-report", card);
  button.addEventListener("click", () => {
    const shown = {
      message: textOf(part("message", card)),
      remedy: textOf(part("remedy", card)),
      details: [...part("details", card).querySelectorAll("dt")].map(
        (term) => /** @type {[string, string]} */ ([textOf(term), textOf(term.nextElementSibling)]),
      ),
    };
    copyWithFeedback(button, reportText(shown, { address: location.href, now: new Date() }));
  });
}

/** @param {Element | null} element */
const textOf = (element) => element?.textContent?.trim() ?? "";
