// Thumbnails and verdicts of the rows of the list, fetched when a row comes into sight.

import { findAll } from "../ui/dom.js";

/** @type {Map<string, Promise<{ headline: string, svg: string } | null>>} */
const known = new Map();

/** @type {IntersectionObserver | null} */
let observer = null;

/** Watches the rows that are there now. */
export function watchPreviews() {
  observer?.disconnect();
  const watching = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries)
      if (isIntersecting && target instanceof HTMLElement) {
        watching.unobserve(target);
        fill(target);
      }
  });
  observer = watching;
  for (const row of findAll(HTMLElement, "[data-preview]")) watching.observe(row);
}

/** @param {HTMLElement} row */
async function fill(row) {
  const address = row.dataset.preview ?? "";
  const asked = known.get(address) ?? ask(address);
  known.set(address, asked);
  const found = await asked;
  if (!found) return void known.delete(address);
  for (const line of findAll(HTMLElement, "[data-verdict-line]", row))
    line.textContent = found.headline;
  if (!found.svg) return;
  const { documentElement: drawing } = new DOMParser().parseFromString(found.svg, "image/svg+xml");
  for (const place of findAll(HTMLElement, "[data-thumb]", row))
    place.replaceChildren(document.importNode(drawing, true));
}

/** @param {string} address @returns {Promise<{ headline: string, svg: string } | null>} null: nothing to show */
async function ask(address) {
  try {
    const response = await fetch(address, { headers: { Accept: "application/json" } });
    return response.status === 200 ? await response.json() : null;
  } catch {
    return null;
  }
}
