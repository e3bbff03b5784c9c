// Runs of hosts that the server found below the places it watches: a click imports one and opens its page.

import { change } from "../upload/change.js";
import { connectionProblem, Problem } from "../text/problem.js";
import { dateTime } from "../text/format.js";
import { findAll, part } from "../ui/dom.js";
import { relativeTime } from "../text/relative-time.js";

/** @param {HTMLButtonElement} button */
async function importFound(button) {
  const fault = part("found-fault");
  fault.hidden = true;
  const [words, label] = [button.textContent, button.ariaLabel];
  button.disabled = true;
  [button.textContent, button.ariaLabel] = ["Importing…", null];
  try {
    const run = await change("POST", "/api/v1/runs", { uri: button.dataset.importRun ?? "" });
    location.assign(new URL(run.url).pathname);
  } catch (error) {
    const problem = error instanceof Problem ? error : connectionProblem();
    fault.textContent = `${problem.message} ${problem.remedy}`;
    fault.hidden = false;
    [button.textContent, button.ariaLabel] = [words, label];
    button.disabled = false;
  }
}

/** Brings the list to life where there is one. */
export function wireFound() {
  for (const button of findAll(HTMLButtonElement, "[data-import-run]"))
    button.addEventListener("click", () => importFound(button));
  for (const time of findAll(HTMLTimeElement, "[data-found] time")) {
    time.textContent = relativeTime(time.dateTime, new Date());
    time.title = dateTime(time.dateTime);
  }
}
