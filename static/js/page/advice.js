// The card "What would help": each finding filters to its operations. The server wrote its words and numbers; by other
// peaks it writes another card, which stands in this one's place.

import { viewAddress } from "../state/chosen-hardware.js";
import { withFilter, withoutFilters } from "../state/query.js";
import { copyWithFeedback } from "../ui/clipboard.js";
import { find, findAll } from "../ui/dom.js";

/** @import { Finding, Model } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Landing } from "./landings.js" */
/** @import { Store } from "../state/store.js" */

const ITEM = "[data-advice-finding]";

/**
 * What a card says of its findings, by their ids.
 * @param {ParentNode} card
 * @returns {Map<string, Finding>}
 */
export const findingsOf = (card) =>
  new Map(
    findAll(HTMLElement, ITEM, card).map((item) => {
      const { adviceFinding = "", adviceOps = "[]", advicePart = null } = item.dataset;
      const title = find(HTMLElement, ".advice-title", item).textContent ?? "";
      return [adviceFinding, { title, ops: new Set(JSON.parse(adviceOps)), part: advicePart }];
    }),
  );

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 * @param {(landings: readonly Landing[] | null) => void} options.onLand a finding is pointed at, or none
 */
export function createAdvice({ model, store, onLand }) {
  const first = document.querySelector("[data-advice]");
  if (!(first instanceof HTMLElement)) return { render: () => {} };
  let card = first;
  let chosen = wire(card, store, onLand);
  const renderButtons = () => {
    const { finding } = store.get();
    for (const button of buttonsOf(card))
      button.setAttribute("aria-pressed", String(idOf(button) === finding));
    onLand(chosen());
  };
  const follow = followPeaks(first.dataset.adviceUrl ?? "", store.get(), (next) => {
    card.replaceWith(next);
    card = next;
    chosen = wire(card, store, onLand);
    model.findings = findingsOf(card);
    const { finding } = store.get();
    if (finding !== null && !model.findings.has(finding)) store.set({ finding: null });
    renderButtons();
  });
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

/** The finding that something belongs to. @param {HTMLElement} inside */
const idOf = (inside) => inside.closest(ITEM)?.getAttribute("data-advice-finding") ?? null;

/**
 * Makes the buttons of a card filters, and its findings show where their points would land.
 * @param {HTMLElement} card
 * @param {Store} store
 * @param {(landings: readonly Landing[] | null) => void} onLand
 */
function wire(card, store, onLand) {
  /** @param {HTMLElement} inside @param {boolean} isOn */
  const filter = (inside, isOn) => {
    const [state, finding] = [store.get(), idOf(inside)];
    if ((state.finding === finding) === isOn) return;
    store.set(isOn && finding ? withFilter(state, { finding }) : withoutFilters(state));
  };
  for (const button of buttonsOf(card))
    button.addEventListener("click", () => filter(button, idOf(button) !== store.get().finding));
  // Opening a finding shows its operations, too; closing it shows all of them again.
  for (const details of findAll(HTMLDetailsElement, "details[name]", card)) {
    const button = details.querySelector("[data-advice-filter]");
    details.querySelector("summary")?.addEventListener("click", () => {
      if (button) filter(details, !details.open);
      else if (store.get().finding !== null) store.set(withoutFilters(store.get()));
    });
  }
  for (const button of findAll(HTMLButtonElement, "[data-advice-copy]", card))
    button.addEventListener("click", () =>
      copyWithFeedback(button, button.previousElementSibling?.textContent ?? ""),
    );
  return wireLandings(card, onLand);
}

/**
 * Has the card of the page written again when the peaks change; the newest ones win, and the old ones stay until then
 * and where the server cannot.
 * @param {string} url
 * @param {ViewState} first the choice that the page's own cards are of
 * @param {(card: HTMLElement) => void} show
 * @returns {(state: ViewState) => void}
 */
function followPeaks(url, first, show) {
  const own = { ...first, vs: [], infeed: /** @type {const} */ ("in") };
  let asked = viewAddress(url, own);
  return async (state) => {
    const address = viewAddress(url, { ...state, infeed: "in", listing: "" });
    if (address === asked) return;
    asked = address;
    const card = await fetchCard(address).catch(() => null);
    if (card && address === asked) show(card);
  };
}

/** @param {string} address @returns {Promise<HTMLElement | null>} */
async function fetchCard(address) {
  const response = await fetch(address, { headers: { accept: "text/html" } });
  if (!response.ok) return null;
  const written = new DOMParser().parseFromString(await response.text(), "text/html");
  const found = written.querySelector("[data-advice]");
  return found instanceof HTMLElement ? document.adoptNode(found) : null;
}

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
