// The card "What would help": each finding filters to its operations. The server wrote its words and numbers; by other
// peaks than the profile's own it writes another card, which stands in this one's place.

import { isRateKey, isWhatIf } from "../metrics/peaks.js";
import { withFilter, withoutFilters } from "../state/query.js";
import { findAll } from "../ui/dom.js";

/** @import { ViewState } from "../types/view-state.js" */
/** @import { Landing } from "./landings.js" */
/** @import { Store } from "../state/store.js" */

/**
 * @param {Store} store
 * @param {(landings: readonly Landing[] | null) => void} onLand a finding is pointed at, or none
 */
export function createAdvice(store, onLand) {
  const own = document.querySelector("[data-advice]");
  if (!(own instanceof HTMLElement)) return { render: () => {} };
  let card = own;
  let chosen = wire(own, store, onLand);
  const renderButtons = () => {
    const state = store.get();
    for (const button of buttonsOf(card))
      button.setAttribute("aria-pressed", String(isChosen(state, button)));
    for (const note of findAll(HTMLElement, "[data-advice-own]", card))
      note.hidden = !isWhatIf(state);
    onLand(chosen());
  };
  /** @param {HTMLElement} next */
  const show = (next) => {
    if (next === card) return;
    card.replaceWith(next);
    card = next;
    chosen = next === own ? ownChosen : wire(next, store, onLand);
    renderButtons();
  };
  const ownChosen = chosen;
  const follow = followPeaks(own, show);
  return {
    /** @param {ViewState} state */
    render(state) {
      follow(state);
      renderButtons();
    },
  };
}

/** @param {HTMLElement} card */
const buttonsOf = (card) => findAll(HTMLButtonElement, "[data-advice-filter]", card);

/**
 * Makes the buttons of a card filters, and its findings show where their points would land.
 * @param {HTMLElement} card
 * @param {Store} store
 * @param {(landings: readonly Landing[] | null) => void} onLand
 */
function wire(card, store, onLand) {
  /** @param {HTMLButtonElement} button @param {boolean} isOn */
  const filter = (button, isOn) => {
    const state = store.get();
    if (isChosen(state, button) === isOn) return;
    const values = { [keyOf(button)]: button.dataset.adviceFilter ?? "" };
    store.set(isOn ? withFilter(state, values) : withoutFilters(state));
  };
  for (const button of buttonsOf(card)) {
    button.addEventListener("click", () => filter(button, !isChosen(store.get(), button)));
    // Opening a finding shows its operations, too; closing it shows all of them again.
    const details = button.closest("details");
    details
      ?.querySelector("summary")
      ?.addEventListener("click", () => filter(button, !details.open));
  }
  for (const details of findAll(HTMLDetailsElement, "details[name]", card)) {
    if (details.querySelector("[data-advice-filter]")) continue;
    // It closes another finding, whose operations are filtered to.
    details.querySelector("summary")?.addEventListener("click", () => {
      for (const button of buttonsOf(card)) filter(button, false);
    });
  }
  return wireLandings(card, onLand);
}

const PAUSE_MS = 150; // a peak that is being written changes with every digit

/**
 * Shows the card by the peaks of the view; the profile's own until the server has answered, and where it cannot.
 * @param {HTMLElement} own
 * @param {(card: HTMLElement) => void} show
 * @returns {(state: ViewState) => void}
 */
function followPeaks(own, show) {
  let asked = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  return (state) => {
    const address = isWhatIf(state) ? cardAddress(own.dataset.adviceUrl ?? "", state) : "";
    if (address === asked) return;
    asked = address;
    clearTimeout(pause);
    show(own);
    if (!address) return;
    pause = setTimeout(async () => {
      const found = await fetchCard(address).catch(() => null);
      if (found && address === asked) show(found);
    }, PAUSE_MS);
  };
}

/** @param {string} url @param {Pick<ViewState, "dev" | "peaks">} state */
export function cardAddress(url, { dev, peaks }) {
  const query = new URLSearchParams();
  if (dev) query.set("device", dev);
  for (const [key, value] of Object.entries(peaks))
    query.append("peak", `${key}=${value}${isRateKey(key) ? "GFLOP/s" : "GB/s"}`);
  return `${url}${url.includes("?") ? "&" : "?"}${query}`;
}

/** @param {string} address @returns {Promise<HTMLElement | null>} */
async function fetchCard(address) {
  const response = await fetch(address, { headers: { accept: "text/html" } });
  if (!response.ok) return null;
  const found = new DOMParser().parseFromString(await response.text(), "text/html");
  const card = found.querySelector("[data-advice]");
  return card instanceof HTMLElement ? document.adoptNode(card) : null;
}

/** @param {HTMLButtonElement} button @returns {"part" | "q"} */
const keyOf = (button) => (button.dataset.adviceKey === "part" ? "part" : "q");

/** @param {ViewState} state @param {HTMLButtonElement} button */
const isChosen = (state, button) => state[keyOf(button)] === button.dataset.adviceFilter;

/**
 * Pointing at a finding, or going to it with the keyboard, shows where its points would land. A
 * chosen one stays shown.
 * @param {HTMLElement} root
 * @param {(landings: readonly Landing[] | null) => void} onLand
 * @returns {() => readonly Landing[] | null} those of the chosen finding
 */
function wireLandings(root, onLand) {
  const items = findAll(HTMLElement, "[data-advice-landing]", root);
  const chosen = () =>
    landingsOf(items.find((item) => item.querySelector('[aria-pressed="true"]')) ?? null);
  for (const item of items) {
    for (const name of ["pointerenter", "focusin"])
      item.addEventListener(name, () => onLand(landingsOf(item)));
    for (const name of ["pointerleave", "focusout"])
      item.addEventListener(name, () => onLand(chosen()));
  }
  return chosen;
}

/** @param {HTMLElement | null} item @returns {readonly Landing[] | null} */
const landingsOf = (item) => item && JSON.parse(item.dataset.adviceLanding ?? "[]");
