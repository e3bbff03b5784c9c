// A word that goes by itself, and a notice that stays.

import { copyText } from "../ui/clipboard.js";
import { buttonPart, part } from "../ui/dom.js";
import { remember, remembered } from "../ui/remembered.js";

const SHOWN_MS = 2400;

/** Says something at the top of the page. @param {string} text */
export function notify(text) {
  const notice = part("notice");
  notice.hidden = false;
  notice.textContent = text;
}

/** Shows what a release changed in the numbers, once in this browser. */
export function showChangesOnce() {
  const notice = document.querySelector("[data-changed]");
  if (!(notice instanceof HTMLElement)) return;
  const key = `roofline-changed ${notice.dataset["changed"]}`;
  notice.hidden = remembered(key) !== null;
  remember(key, "");
}

/** A word at the bottom that goes by itself. @param {string} text */
export function toast(text) {
  const shown = part("toast");
  shown.textContent = text;
  shown.classList.add("shown");
  setTimeout(() => shown.classList.remove("shown"), SHOWN_MS);
}

/** Copies the link to this very view. @param {string} [path] where the address bar does not have it yet */
export async function copyLink(path = location.href) {
  const copied = await copyText(new URL(path, location.href).href);
  toast(
    copied
      ? "Link copied: it opens this very view"
      : "Copying is not allowed here: the address bar holds the same link",
  );
}

/** Copies the line of Python that reads the operations of this subject. */
export async function copyPandas() {
  const address = new URL(buttonPart("copy-pandas").dataset.copyPandas ?? "", location.href).href;
  const copied = await copyText(`pd.read_csv(${JSON.stringify(address)})`);
  toast(copied ? "Line for pandas copied" : "Copying is not allowed here: download the CSV");
}
