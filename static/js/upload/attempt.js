// Tries a change that a page asks the server for; its problem is written where the person looks. Pure.

import { connectionProblem, Problem } from "../text/problem.js";

/**
 * Runs `action`, and shows its problem in `fault`, which is hidden otherwise.
 * @param {HTMLElement} fault
 * @param {() => Promise<void>} action
 */
export async function attempt(fault, action) {
  fault.hidden = true;
  try {
    await action();
  } catch (error) {
    const problem = error instanceof Problem ? error : connectionProblem();
    fault.textContent = `${problem.message} ${problem.remedy}`;
    fault.hidden = false;
  }
}
