// Deleting a run from its page, or ending one that is being read.

import { buttonPart, part } from "../ui/dom.js";
import { onSecondPress } from "../ui/sure.js";
import { attempt } from "../upload/attempt.js";
import { change } from "../upload/change.js";

/** @param {HTMLButtonElement} button */
async function remove({ dataset }) {
  await change("DELETE", dataset.deleteRun ?? "");
  location.assign("/");
}

if (document.querySelector("[data-delete-run]")) {
  const button = buttonPart("delete-run");
  onSecondPress(button, () => attempt(part("delete-fault"), () => remove(button)));
}
