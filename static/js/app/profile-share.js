// The dialog that shares a profile: its visibility, and links that show it without a log-in.

import { dateTime } from "../text/format.js";
import { copyWithFeedback } from "../ui/clipboard.js";
import { find, findAll, html, part } from "../ui/dom.js";
import { attempt } from "../upload/attempt.js";
import { change, read } from "../upload/change.js";

/**
 * A share link as the server lists it.
 * @typedef {object} ShareLink
 * @property {string} id
 * @property {string} name
 * @property {string} created_at
 * @property {string} [expires_at]
 * @property {string} [last_used_at]
 * @property {string} [url] given once, when it is made
 */

const dialog = find(HTMLDialogElement, "[data-share]");
const form = find(HTMLFormElement, "[data-share-form]", dialog);
const fault = part("share-fault", dialog);
const list = part("share-links", dialog);
const profileUrl = dialog.dataset.url ?? "";

/** @param {ShareLink} link */
function facts(link) {
  const used = link.last_used_at ? `last used ${dateTime(link.last_used_at)}` : "not used yet";
  const ends = link.expires_at ? `ends ${dateTime(link.expires_at)}` : "no end";
  return `made ${dateTime(link.created_at)}, ${ends}, ${used}`;
}

/** @param {ShareLink} link */
function row(link) {
  const revoke = html(
    "button",
    { class: "btn small", type: "button", "aria-label": `Revoke ${link.name || "this link"}` },
    "Revoke",
  );
  const item = html(
    "li",
    {},
    html("span", {}, link.name || "Link", html("span", { class: "muted" }, facts(link))),
    revoke,
  );
  revoke.addEventListener("click", () =>
    attempt(fault, async () => {
      await change("DELETE", `${profileUrl}/links/${link.id}`);
      item.remove();
    }),
  );
  return item;
}

async function fill() {
  /** @type {{ links: ShareLink[] }} */
  const { links } = await read(`${profileUrl}/links`);
  list.replaceChildren(...links.map(row));
}

async function make() {
  const fields = new FormData(form);
  const days = String(fields.get("days"));
  /** @type {ShareLink} */
  const made = await change("POST", `${profileUrl}/links`, {
    name: fields.get("name"),
    expires_days: days ? Number(days) : null,
  });
  part("share-url", dialog).textContent = made.url ?? "";
  part("share-made", dialog).hidden = false;
  form.reset();
  list.prepend(row(made));
}

/** The button and the list are in step with the server, whatever became of the change. @param {string} visibility */
async function show(visibility) {
  await change("PATCH", profileUrl, { visibility });
  saved = visibility;
}

const choices = findAll(HTMLInputElement, "[name=visibility]", dialog);
let saved = choices.find(({ checked }) => checked)?.value ?? "";

for (const choice of choices)
  choice.addEventListener("change", () =>
    attempt(fault, () => show(choice.value)).then(() => {
      for (const one of choices) one.checked = one.value === saved;
    }),
  );

part("share-open").addEventListener("click", () => {
  dialog.showModal();
  attempt(fault, fill);
});
part("share-close", dialog).addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
// Keys pressed here are not for the charts behind.
dialog.addEventListener("keydown", (event) => event.stopPropagation());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(fault, make);
});
part("share-copy", dialog).addEventListener("click", () =>
  copyWithFeedback(part("share-copy", dialog), part("share-url", dialog).textContent ?? ""),
);
