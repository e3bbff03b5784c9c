// A failed import whose files the server has kept: a button has them imported again, and nothing is sent again.

import { csrfHeaders } from "./csrf.js";
import { part } from "../ui/dom.js";
import { connectionProblem, Problem, problemFromAnswer } from "../text/problem.js";

/**
 * Shows "Try again" where the files are kept and are not what was wrong.
 * @param {HTMLElement} card
 * @param {object} options
 * @param {string} options.retryUrl empty where another try is not offered
 * @param {() => void} options.onStarted
 * @param {(problem: Problem) => void} options.onProblem
 */
export function offerRetry(card, { retryUrl, onStarted, onProblem }) {
  const button = /** @type {HTMLButtonElement} */ (part("retry", card));
  button.hidden = retryUrl === "";
  button.disabled = false;
  part("choose", card).classList.toggle("primary", button.hidden);
  button.onclick = async () => {
    button.disabled = true;
    try {
      await retryImport(retryUrl);
      onStarted();
    } catch (error) {
      onProblem(error instanceof Problem ? error : connectionProblem());
    }
  };
}

/** @param {string} retryUrl */
async function retryImport(retryUrl) {
  const response = await fetch(`${retryUrl}?wait=0`, {
    method: "POST",
    headers: { Accept: "application/json", ...csrfHeaders() },
  });
  if (!response.ok) throw problemFromAnswer(response.status, await response.text());
}
