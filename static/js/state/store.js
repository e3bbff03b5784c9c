// The view state, its listeners, and its place in the address bar and in the history of the browser.

import { toQuery } from "./query.js";

/** @import { ViewState } from "../types/view-state.js" */

/** @typedef {(state: ViewState, previous: ViewState) => void} Listener */

/**
 * @param {ViewState} initial
 * @param {(next: ViewState, state: ViewState) => Promise<boolean> | null} [prepare] what a change needs before it is
 *   shown; null: nothing. False: the change is dropped
 */
export function createStore(initial, prepare = () => null) {
  let state = initial;
  /** Changes that wait for what they need. @type {Partial<ViewState>} */
  let waiting = {};
  at = last = entryNumber();
  /** @type {Listener[]} */
  const listeners = [];
  /** @type {ReadonlySet<number> | null} */
  let hovered = null;
  /** @type {(() => void)[]} */
  const hoverListeners = [];
  /** @param {ViewState} next */
  function use(next) {
    const previous = state;
    state = next;
    for (const listener of listeners) listener(state, previous);
  }
  /** @param {Partial<ViewState>} change @param {boolean} isStep */
  function commit(change, isStep) {
    const next = { ...state, ...change };
    writeAddress(next, isStep ? "" : Object.keys(change).sort().join());
    use(next);
  }
  return {
    get: () => state,
    /**
     * @param {Partial<ViewState>} change
     * @param {{ isStep?: boolean }} [options] `isStep`: always an entry of its own in the history
     */
    set(change, { isStep = false } = {}) {
      const wanted = { ...waiting, ...change };
      const prepared = prepare({ ...state, ...wanted }, { ...state, ...waiting });
      if (prepared === null) return commit(change, isStep);
      waiting = wanted;
      return prepared.then((isShown) => {
        // What was changed meanwhile asks again, with this change in it.
        if (waiting !== wanted) return;
        waiting = {};
        if (isShown) commit(wanted, isStep);
      });
    },
    /** Takes the state of the history entry that the browser has gone to. @param {ViewState} next */
    restore(next) {
      waiting = {};
      forgetPending();
      lastKeys = "";
      at = entryNumber();
      use(next);
    },
    /** Operations of what is pointed at elsewhere, such as a finding; null: of nothing. Not of the address. */
    get hovered() {
      return hovered;
    },
    set hovered(ops) {
      if (ops === hovered) return;
      hovered = ops;
      for (const listener of hoverListeners) listener();
    },
    /** @param {() => void} listener */
    onHovered: (listener) => void hoverListeners.push(listener),
    /** @param {Listener} listener */
    subscribe: (listener) => void listeners.push(listener),
  };
}

/** @typedef {ReturnType<typeof createStore>} Store */

/** @type {ReturnType<typeof setTimeout> | undefined} */
let pending;
let write = () => {};
let lastWritten = -Infinity;
/** Keys of the last change, and when it was: dragging a slider is one entry of the history. */
let lastKeys = "";
let lastChange = -Infinity;
/** The number of this page's entry in the history, and of its last one. */
let at = 0;
let last = 0;

/**
 * Browsers refuse more than about 100 history changes in half a minute, which dragging a slider would reach:
 * the first change is written at once, those right after it together.
 */
const PAUSE_MS = 400;
/** Changes of the same thing in quick succession are undone together. */
const TOGETHER_MS = 1000;

/** @param {ViewState} state @param {string} keys that change */
function writeAddress(state, keys) {
  const address = addressOf(state);
  const now = performance.now();
  const goesOn = keys !== "" && keys === lastKeys && now - lastChange < TOGETHER_MS;
  if (goesOn) replaceSoon(address);
  else if (address !== location.pathname + location.search) push(address);
  lastKeys = keys;
  lastChange = now;
}

/** @param {string} address */
function push(address) {
  finish();
  at = last = at + 1;
  lastWritten = performance.now();
  history.pushState({ roofline: at }, "", address);
}

/** @param {string} address */
function replaceSoon(address) {
  clearTimeout(pending);
  write = () => {
    forgetPending();
    lastWritten = performance.now();
    history.replaceState({ roofline: at }, "", address);
  };
  const wait = lastWritten + PAUSE_MS - performance.now();
  if (wait <= 0) write();
  else pending = setTimeout(write, wait);
}

/** Writes what waits to be written. */
function finish() {
  write();
  forgetPending();
}

function forgetPending() {
  clearTimeout(pending);
  write = () => {};
}

function entryNumber() {
  const number = Number(history.state?.roofline);
  return Number.isFinite(number) ? number : 0;
}

/** Back to the view before the last change; never off this page. */
export function undo() {
  finish();
  if (at > 0) history.back();
}

/** Forward again, as far as this page knows that there is something. */
export function redo() {
  if (at < last) history.forward();
}

/** This page's address with the view state in it. @param {ViewState} state */
export function addressOf(state) {
  const query = toQuery(state);
  return `${location.pathname}${query ? `?${query}` : ""}`;
}
