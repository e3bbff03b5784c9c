// The page of API tokens: make one, see its secret once, revoke one.

import { find, findAll, part } from "../ui/dom.js";
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
}

for (const form of document.querySelectorAll("[data-token-form]"))
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(fault, () => make(find(HTMLFormElement, "[data-token-form]")));
  });
for (const button of findAll(HTMLButtonElement, "[data-revoke]"))
  button.addEventListener("click", () =>
    attempt(fault, async () => {
      await change("DELETE", `${URL}/${button.dataset.revoke}`);
      button.closest("tr")?.remove();
    }),
  );
for (const time of findAll(HTMLTimeElement, "time")) time.textContent = dateTime(time.dateTime);
// Until here a press would send the form as an address, or be lost.
for (const button of findAll(HTMLButtonElement, "[data-token-submit], [data-revoke]"))
  button.disabled = false;
