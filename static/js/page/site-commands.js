// What the command palette offers on every page: buttons of the page, pages of the site, profiles.

import { dateTime } from "../text/format.js";
import { findAll, isFile } from "../ui/dom.js";

/** @import { Command } from "./palette.js" */

const MOST_PROFILES = 30;

/**
 * An action that is a button or a link of the page.
 * @typedef {readonly [name: string, selector: string, keys?: string]} ButtonAction
 */

/** @type {readonly (readonly [name: string, address: string])[]} */
const PAGES = [
  ["All profiles", "/"],
  ["Calculator", "/calculator"],
  ["Models", "/model"],
  ["API", "/api"],
  ["Limits of this server", "/limits"],
];

/** The button that shows a hidden part of the page. @param {Element} hidden */
const openerOf = ({ id }) => (id ? findAll(HTMLElement, `[aria-controls="${id}"]`)[0] : undefined);

/** @param {HTMLElement} element */
export function isOffered(element) {
  const hidden = element.closest("[hidden]");
  if (hidden && !openerOf(hidden)) return false;
  return !(element instanceof HTMLButtonElement && element.disabled);
}

/** A hidden or missing button is not offered. @param {readonly ButtonAction[]} buttons @returns {Command[]} */
export const buttonCommands = (buttons) =>
  buttons.flatMap(([name, selector, keys]) => {
    const button = findAll(HTMLElement, selector).find(isOffered);
    return button ? [{ kind: "Action", name, keys, run: () => press(button) }] : [];
  });

/** @param {HTMLElement} button */
function press(button) {
  const hidden = button.closest("[hidden]");
  if (hidden) openerOf(hidden)?.click();
  button.click();
  if (!button.hasAttribute("popovertarget")) button.focus();
}

/** @returns {Command[]} */
export const pageCommands = () =>
  (isFile() ? [] : PAGES).map(([name, address]) => ({
    kind: "Page",
    name,
    run: () => location.assign(address),
  }));

/** The newest profiles of this server. @returns {Promise<Command[]>} */
export async function profileCommands() {
  const response = await fetch(`/api/v1/profiles?limit=${MOST_PROFILES}`, {
    headers: { Accept: "application/json" },
  });
  if (!response.ok) return [];
  /** @type {{ profiles: { id: string, title: string, created_at?: string }[] }} */
  const { profiles } = await response.json();
  return profiles.map(({ id, title, created_at: created }) => ({
    kind: "Profile",
    name: title,
    hint: created ? dateTime(created) : "",
    run: () => location.assign(`/p/${encodeURIComponent(id)}`),
  }));
}
