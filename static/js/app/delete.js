// Deleting a run or a measurement from its page.

import { around, part } from "../ui/dom.js";
import { isSure } from "../ui/sure.js";
import { attempt } from "../upload/attempt.js";
import { change } from "../upload/change.js";

document.addEventListener("click", (event) => {
  const button = around(event, "[data-delete-url]");
  if (!(button instanceof HTMLElement) || !isSure(button)) return;
  attempt(part("delete-fault"), async () => {
    await change("DELETE", button.dataset.deleteUrl ?? "");
    location.assign(button.dataset.then ?? "/");
  });
});
