// The dialog about a profile: title, note, tags, pin, and deleting it.

import { csrfHeaders } from "../upload/csrf.js";
import { find, findAll, part } from "../ui/dom.js";
import { bytes, dateTime } from "../text/format.js";
import { connectionProblem, Problem, problemFromAnswer } from "../text/problem.js";

/** A click that deletes is asked for twice; the second must not be the end of a double click. */
const SURE_AFTER_MS = 500;

const dialog = find(HTMLDialogElement, "[data-about]");
const form = find(HTMLFormElement, "[data-about-form]", dialog);
const fault = part("about-fault", dialog);

/** @param {"PATCH" | "DELETE"} method @param {object} [body] */
async function send(method, body) {
  const headers = {
    ...csrfHeaders(),
    Accept: "application/json",
    ...(body ? { "Content-Type": "application/json" } : {}),
  };
  let response;
  try {
    response = await fetch(dialog.dataset.url ?? "", {
      method,
      headers,
      body: body && JSON.stringify(body),
    });
  } catch {
    throw connectionProblem();
  }
  if (!response.ok) throw problemFromAnswer(response.status, await response.text());
}

/** @param {() => Promise<void>} action */
async function attempt(action) {
  fault.hidden = true;
  try {
    await action();
  } catch (error) {
    const problem = error instanceof Problem ? error : connectionProblem();
    fault.textContent = `${problem.message} ${problem.remedy}`;
    fault.hidden = false;
  }
}

async function save() {
  const fields = new FormData(form);
  const tags = String(fields.get("tags"))
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
  await send("PATCH", {
    title: fields.get("title"),
    note: fields.get("note"),
    tags,
    pinned: fields.has("pinned"),
  });
  location.reload(); // title, tags and note stand in several places; the address keeps the view
}

/** @param {HTMLElement} button */
function wireDelete(button) {
  /** @type {number | null} */
  let askedAt = null;
  button.addEventListener("click", () => {
    if (askedAt === null) {
      askedAt = performance.now();
      button.classList.add("sure");
      button.textContent = button.dataset.sure ?? "Delete it for good";
      return;
    }
    if (performance.now() - askedAt < SURE_AFTER_MS) return;
    attempt(async () => {
      await send("DELETE");
      location.assign("/");
    });
  });
}

function fillFacts() {
  for (const time of dialog.querySelectorAll("time")) time.textContent = dateTime(time.dateTime);
  const size = part("about-bytes", dialog);
  size.textContent = bytes(Number(size.dataset.aboutBytes));
}

part("about-open").addEventListener("click", () => dialog.showModal());
part("about-close", dialog).addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
// Keys pressed here are not for the charts behind.
dialog.addEventListener("keydown", (event) => event.stopPropagation());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(save);
});
// The button exists only for users who may delete the profile.
for (const button of findAll(HTMLElement, "[data-about-delete]", dialog)) wireDelete(button);
fillFacts();
