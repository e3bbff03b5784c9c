// The trash: restore a profile or a run, or delete it for good.

import { findAll, part } from "../ui/dom.js";
import { dateTime } from "../text/format.js";
import { attempt } from "../upload/attempt.js";
import { change } from "../upload/change.js";

const fault = part("trash-fault");

/**
 * @param {HTMLElement} button
 * @param {"POST" | "DELETE"} method
 * @param {string} url
 * @param {string} [page] where to go once it is restored
 */
function wire(button, method, url, page = "") {
  button.addEventListener("click", () =>
    attempt(fault, async () => {
      await change(method, url);
      if (method === "POST") location.assign(page);
      else button.closest("tr")?.remove();
    }),
  );
}

for (const button of findAll(HTMLElement, "[data-restore]")) {
  const { restore: id } = button.dataset;
  wire(button, "POST", `/api/v1/profiles/${id}/restore`, `/p/${id}`);
}
for (const button of findAll(HTMLElement, "[data-purge]"))
  wire(button, "DELETE", `/api/v1/trash/${button.dataset.purge}`);
for (const button of findAll(HTMLElement, "[data-restore-run]")) {
  const { restoreRun: id } = button.dataset;
  wire(button, "POST", `/api/v1/runs/${id}/restore`, `/r/${id}`);
}
for (const button of findAll(HTMLElement, "[data-purge-run]"))
  wire(button, "DELETE", `/api/v1/trash/runs/${button.dataset.purgeRun}`);
for (const time of findAll(HTMLTimeElement, "time")) time.textContent = dateTime(time.dateTime);
