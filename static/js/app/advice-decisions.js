// Findings of the card "What would help" are accepted, dismissed and taken back.

import { find, findAll } from "../ui/dom.js";
import { attempt } from "../upload/attempt.js";
import { change } from "../upload/change.js";

const root = document.querySelector("[data-advice]");
if (root instanceof HTMLElement) wire(root);

/** The page is loaded again after a decision, since sums depend on it. @param {HTMLElement} root */
function wire(root) {
  const url = root.dataset.decideUrl ?? "";
  const fault = find(HTMLElement, "[data-advice-fault]", root);
  for (const group of findAll(HTMLElement, "[data-advice-decide]", root))
    for (const button of findAll(HTMLButtonElement, "[data-advice-state]", group))
      button.addEventListener("click", async () => {
        const reason = group.querySelector("input")?.value ?? "";
        const state = button.dataset.adviceState;
        button.disabled = true;
        button.disabled = await attempt(fault, async () => {
          await change("POST", url, { finding: group.dataset.adviceDecide, state, reason });
          location.reload();
        });
      });
}
