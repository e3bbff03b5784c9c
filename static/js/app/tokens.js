// The page of API tokens: make one, see its secret once, revoke one.

import { copyWithFeedback } from "../ui/clipboard.js";
import { around, buttonPart, find, findAll, part } from "../ui/dom.js";
import { dateTime } from "../text/format.js";
import { attempt } from "../upload/attempt.js";
import { change } from "../upload/change.js";

const URL = "/api/v1/tokens";
const fault = part("token-fault");

/** @param {HTMLFormElement} form */
async function make(form) {
  const fields = new FormData(form);
  const made = await change("POST", URL, {
    name: fields.get("name"),
    scope: fields.get("scope"),
    expires_days: Number(fields.get("days")),
  });
  part("token-secret").textContent = made.token;
  part("token-made").hidden = false;
  form.reset();
  await list();
}

/** Shows the tokens as the server lists them now. */
async function list() {
  const answer = await fetch(location.pathname, { headers: { accept: "text/html" } });
  if (!answer.ok) return; // the new token is shown all the same
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  part("token-list").replaceChildren(...document.adoptNode(part("token-list", page)).childNodes);
  fill();
}

/** Times in words, and buttons that can be pressed: until here a press would be lost. */
function fill() {
  const rows = part("token-list");
  for (const time of findAll(HTMLTimeElement, "time", rows))
    time.textContent = dateTime(time.dateTime);
  for (const button of findAll(HTMLButtonElement, "[data-revoke]", rows)) button.disabled = false;
}

for (const form of document.querySelectorAll("[data-token-form]"))
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(fault, () => make(find(HTMLFormElement, "[data-token-form]")));
  });
part("token-list").addEventListener("click", (event) => {
  const button = around(event, "[data-revoke]");
  if (!(button instanceof HTMLElement)) return;
  attempt(fault, async () => {
    await change("DELETE", `${URL}/${button.dataset.revoke}`);
    button.closest("tr")?.remove();
  });
});
buttonPart("token-copy").addEventListener("click", () =>
  copyWithFeedback(buttonPart("token-copy"), part("token-secret").textContent ?? ""),
);
fill();
// Until here a press would send the form as an address.
for (const button of findAll(HTMLButtonElement, "[data-token-submit]")) button.disabled = false;
