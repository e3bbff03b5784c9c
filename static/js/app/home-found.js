// Runs of hosts that the server found below the places it watches: a click imports one and opens its page.

import { attempt } from "../upload/attempt.js";
import { change } from "../upload/change.js";
import { dateTime } from "../text/format.js";
import { findAll, part } from "../ui/dom.js";
import { relativeTime } from "../text/relative-time.js";

/** @param {HTMLButtonElement} button */
async function importFound(button) {
  const [words, label] = [button.textContent, button.ariaLabel];
  button.disabled = true;
  [button.textContent, button.ariaLabel] = ["Importing…", null];
  const isDone = await attempt(part("found-fault"), async () => {
    const run = await change("POST", "/api/v1/runs", { uri: button.dataset.importRun ?? "" });
    location.assign(new URL(run.url).pathname);
  });
  if (isDone) return;
  [button.textContent, button.ariaLabel] = [words, label];
  button.disabled = false;
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
