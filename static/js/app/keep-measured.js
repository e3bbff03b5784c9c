// Keeps the measured savings of accepted findings in the ledger.

import { problemWords } from "../text/problem.js";
import { find } from "../ui/dom.js";
import { change } from "../upload/change.js";

const card = document.querySelector("[data-measured]");
const button = card?.querySelector("button");
if (card instanceof HTMLElement && button instanceof HTMLButtonElement) wire(card, button);

/** @param {HTMLElement} root @param {HTMLButtonElement} keep */
function wire(root, keep) {
  const note = find(HTMLElement, "[data-keep-note]", root);
  keep.addEventListener("click", async () => {
    keep.disabled = true;
    note.hidden = false;
    try {
      await change("POST", keep.dataset.keepUrl ?? "", { after: root.dataset.after });
      note.textContent = "Kept. Five of a rule on a device correct its later predictions.";
    } catch (error) {
      note.textContent = problemWords(error);
      keep.disabled = false;
    }
  });
}
