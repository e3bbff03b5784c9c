// The trash: restore a profile, or delete it for good.

import { findAll, part } from "../ui/dom.js";
import { dateTime } from "../text/format.js";
import { connectionProblem, Problem } from "../text/problem.js";
import { change } from "../upload/change.js";

const fault = part("trash-fault");

/** @param {HTMLElement} button @param {"POST" | "DELETE"} method @param {string} url */
function wire(button, method, url) {
  button.addEventListener("click", async () => {
    fault.hidden = true;
    try {
      await change(method, url);
      if (method === "POST") location.assign(`/p/${button.dataset.restore}`);
      else button.closest("tr")?.remove();
    } catch (error) {
      const problem = error instanceof Problem ? error : connectionProblem();
      fault.textContent = `${problem.message} ${problem.remedy}`;
      fault.hidden = false;
    }
  });
}

for (const button of findAll(HTMLElement, "[data-restore]"))
  wire(button, "POST", `/api/v1/profiles/${button.dataset.restore}/restore`);
for (const button of findAll(HTMLElement, "[data-purge]"))
  wire(button, "DELETE", `/api/v1/trash/${button.dataset.purge}`);
for (const time of findAll(HTMLTimeElement, "time")) time.textContent = dateTime(time.dateTime);
