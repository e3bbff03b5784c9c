// Copying text, also where the Clipboard API is absent: it needs https or localhost, and a team's
// server is often neither.

import { findAll, html } from "./dom.js";

const FEEDBACK_MS = 1600;

/**
 * @param {string} text
 * @returns {Promise<boolean>} whether it is on the clipboard
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyThroughSelection(text);
  }
}

/** @param {string} text */
function copyThroughSelection(text) {
  const focused = document.activeElement;
  const area = html("textarea", { class: "sr", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}

/**
 * Copies, and says so on the button for a moment.
 * @param {HTMLElement} button its `[data-copy-label]`, or itself, carries the words
 * @param {string} text
 */
export async function copyWithFeedback(button, text) {
  const copied = await copyText(text);
  const label = button.querySelector("[data-copy-label]") ?? button;
  label.setAttribute("aria-live", "polite");
  button.dataset.words ??= label.textContent ?? "";
  label.textContent = copied ? "Copied" : "Not copied";
  clearTimeout(Number(button.dataset.timer));
  button.dataset.timer = String(
    setTimeout(() => {
      label.textContent = button.dataset.words ?? "";
    }, FEEDBACK_MS),
  );
}

/** Wires every `[data-copy]` button: the attribute names the id of the element to copy. */
export function wireCopyButtons(root = document) {
  for (const button of findAll(HTMLElement, "[data-copy]", root)) {
    button.addEventListener("click", () => {
      const source = document.getElementById(button.dataset.copy ?? "");
      copyWithFeedback(button, source?.textContent ?? "");
    });
  }
}
