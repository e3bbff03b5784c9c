// A failed import whose files the server has kept: a button has them imported again, and nothing is sent again.

import { part } from "../ui/dom.js";
import { change } from "./change.js";

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
export const retryImport = (retryUrl) => change("POST", `${retryUrl}?wait=0`);
