// Copying the address of a page that keeps its view in it.

import { copyText } from "../ui/clipboard.js";
import { part } from "../ui/dom.js";

const SHOWN_MS = 2400;

/** Copies the address, and says so at the bottom of the page for a moment. */
export async function copyAddress() {
  const toast = part("toast");
  toast.textContent = (await copyText(location.href))
    ? "Link copied: it opens this very view"
    : "Copying is not allowed here: the address bar holds the same link";
  toast.classList.add("shown");
  setTimeout(() => toast.classList.remove("shown"), SHOWN_MS);
}
