// The list of profiles on the home page. The server searches and pages; without this module the same
// happens by whole page loads.

import { around, findAll, inputPart, part } from "../ui/dom.js";
import { dateTime } from "../text/format.js";
import { markSelection, wireSelection } from "./home-select.js";
import { relativeTime } from "../text/relative-time.js";

/** Typing is over when nothing was typed for this long. */
const PAUSE_MS = 150;
const MINUTE_MS = 60_000;

let asked = 0;

function fillAges() {
  const now = new Date();
  for (const time of findAll(HTMLTimeElement, "[data-list] time")) {
    time.textContent = relativeTime(time.dateTime, now);
    time.title = dateTime(time.dateTime);
  }
}

/**
 * Shows the list as it is at `address`; a later wish overtakes this one.
 * @param {string} address
 */
async function show(address) {
  asked += 1;
  const mine = asked;
  part("list").ariaBusy = "true";
  let text;
  try {
    const response = await fetch(address, { headers: { Accept: "text/html" } });
    if (!response.ok || response.redirected) throw new Error(String(response.status));
    text = await response.text();
  } catch {
    if (mine === asked) location.assign(address); // there the browser says what is wrong
    return;
  }
  if (mine !== asked) return;
  const found = new DOMParser().parseFromString(text, "text/html");
  part("list").replaceChildren(...document.adoptNode(part("list", found)).childNodes);
  part("list").ariaBusy = null;
  fillAges();
  markSelection();
}

/** @param {string} address */
function narrow(address) {
  history.replaceState(null, "", address);
  show(address);
}

function wireSearch() {
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector("[data-find]"));
  if (form === null) return;
  const field = inputPart("recent-search", form);
  const search = () => {
    const address = new URL(location.href);
    address.searchParams.delete("page");
    if (field.value.trim()) address.searchParams.set("q", field.value);
    else address.searchParams.delete("q");
    narrow(address.pathname + address.search);
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE_MS);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    search();
  });
  part("list").addEventListener("click", (event) => {
    const link = around(event, "[data-narrow]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const address = new URL(link.getAttribute("href") ?? "/", location.href);
    field.value = address.searchParams.get("q") ?? "";
    narrow(address.pathname + address.search);
  });
}

/** Brings the list to life. */
export function wireList() {
  fillAges();
  setInterval(fillAges, MINUTE_MS);
  wireSearch();
  wireSelection();
}
