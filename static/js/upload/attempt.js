// Tries a change that a page asks the server for; its problem is written where the person looks. Pure.

import { problemWords } from "../text/problem.js";

/**
 * Runs `action`, and shows its problem in `fault`, which is hidden otherwise.
 * @param {HTMLElement} fault
 * @param {() => Promise<void>} action
 * @returns {Promise<boolean>} whether it was done
 */
export async function attempt(fault, action) {
  fault.hidden = true;
  try {
    await action();
  } catch (error) {
    fault.textContent = problemWords(error);
    fault.hidden = false;
  }
  return fault.hidden;
}
