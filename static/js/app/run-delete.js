// Deleting a run from its page, or ending one that is being read.

import { buttonPart, part } from "../ui/dom.js";
import { onSecondPress } from "../ui/sure.js";
import { attempt } from "../upload/attempt.js";
import { change } from "../upload/change.js";

const button = buttonPart("delete-run");
const fault = part("delete-fault");

async function remove() {
  await change("DELETE", button.dataset.deleteRun ?? "");
  location.assign("/");
}

onSecondPress(button, () => attempt(fault, remove));
