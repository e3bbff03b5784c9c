// The dialog about a profile: title, note, tags, pin, and deleting it.

import { find, findAll, part } from "../ui/dom.js";
import { bytes, dateTime } from "../text/format.js";
import { onSecondPress } from "../ui/sure.js";
import { attempt } from "../upload/attempt.js";
import { change } from "../upload/change.js";

const dialog = find(HTMLDialogElement, "[data-about]");
const form = find(HTMLFormElement, "[data-about-form]", dialog);
const fault = part("about-fault", dialog);
const url = dialog.dataset.url ?? "";

async function save() {
  const fields = new FormData(form);
  const tags = String(fields.get("tags"))
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
  await change("PATCH", url, {
    title: fields.get("title"),
    note: fields.get("note"),
    tags,
    pinned: fields.has("pinned"),
  });
  location.reload(); // title, tags and note stand in several places; the address keeps the view
}

async function remove() {
  await change("DELETE", url);
  location.assign("/");
}

function fillFacts() {
  for (const time of dialog.querySelectorAll("time")) time.textContent = dateTime(time.dateTime);
  const size = part("about-bytes", dialog);
  size.textContent = bytes(Number(size.dataset.aboutBytes));
}

part("about-open").addEventListener("click", () => {
  fillFacts(); // only now: the first date that a browser writes takes it 6 ms
  dialog.showModal();
});
part("about-close", dialog).addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
// Keys pressed here are not for the charts behind.
dialog.addEventListener("keydown", (event) => event.stopPropagation());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(fault, save);
});
// The button exists only for users who may delete the profile.
for (const button of findAll(HTMLElement, "[data-about-delete]", dialog))
  onSecondPress(button, () => attempt(fault, remove));
