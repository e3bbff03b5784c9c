// Deleting a run from its page, or ending one that is being read.

import { buttonPart, part } from "../ui/dom.js";
import { connectionProblem, Problem } from "../text/problem.js";
import { change } from "../upload/change.js";

/** A click that deletes is asked for twice; the second must not be the end of a double click. */
const SURE_AFTER_MS = 500;

const button = buttonPart("delete-run");
const fault = part("delete-fault");
let askedAt = /** @type {number | null} */ (null);

button.addEventListener("click", async () => {
  if (askedAt === null) {
    askedAt = performance.now();
    button.classList.add("sure");
    button.textContent = button.dataset.sure ?? "Delete it for good";
    return;
  }
  if (performance.now() - askedAt < SURE_AFTER_MS) return;
  fault.hidden = true;
  try {
    await change("DELETE", button.dataset.deleteRun ?? "");
    location.assign("/");
  } catch (error) {
    const problem = error instanceof Problem ? error : connectionProblem();
    fault.textContent = `${problem.message} ${problem.remedy}`;
    fault.hidden = false;
  }
});
