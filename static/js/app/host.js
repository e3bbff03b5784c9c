// The page in a widget of a notebook: its state goes to the kernel, and that of the kernel comes back. Elsewhere nothing.

import { isHosted } from "../ui/dom.js";
import { chooseTheme } from "../ui/theme.js";

const MOST_LETTERS = 4096;
const MOST_OPS = 5000;

/**
 * @param {object} page
 * @param {() => string} page.query the state of the page as in an address
 * @param {() => readonly number[]} page.ops that are chosen in it
 * @param {(query: string) => void} page.open shows another state
 * @param {(listener: () => void) => void} page.subscribe
 */
export function wireHost({ query, ops, open, subscribe }) {
  if (!isHosted()) return;
  let told = query();
  /** @param {string} roofline */
  const say = (roofline) =>
    parent.postMessage({ roofline, value: told, ops: ops().slice(0, MOST_OPS) }, "*");
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let soon;
  subscribe(() => {
    clearTimeout(soon);
    soon = setTimeout(() => {
      if (query() === told) return;
      told = query();
      say("state");
    });
  });
  addEventListener("message", ({ source, data }) => {
    const value = data?.value;
    if (source !== parent || typeof value !== "string" || value.length > MOST_LETTERS) return;
    if (data.roofline === "theme") chooseTheme(value);
    if (data.roofline === "state" && value !== query()) open(value);
  });
  say("ready");
}
