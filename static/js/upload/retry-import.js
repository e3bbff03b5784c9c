// A failed import whose files the server has kept: a button has them imported again, and nothing is sent again.

import { csrfHeaders } from "./csrf.js";
import { part } from "../ui/dom.js";
import { connectionProblem, problemFromAnswer } from "../text/problem.js";

/**
 * Shows "Try again" where the files are kept and are not what was wrong.
 * @param {HTMLElement} card
 * @param {string} retryUrl empty where another try is not offered
 * @param {() => void} again
 */
export function offerRetry(card, retryUrl, again) {
  const button = /** @type {HTMLButtonElement} */ (part("retry", card));
  button.hidden = retryUrl === "";
  part("choose", card).classList.toggle("primary", button.hidden);
  button.onclick = again;
}

/**
 * @param {string} retryUrl
 * @returns {Promise<{ id: string, url: string }>} the profile; rejects with a `Problem`
 */
export async function retryImport(retryUrl) {
  let response;
  try {
    const headers = { Accept: "application/json", ...csrfHeaders() };
    response = await fetch(`${retryUrl}?wait=0`, { method: "POST", headers });
  } catch {
    throw connectionProblem();
  }
  if (!response.ok) throw problemFromAnswer(response.status, await response.text());
  return response.json();
}
