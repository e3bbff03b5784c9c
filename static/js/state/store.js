// The view state, its listeners, and its place in the address bar.

import { toQuery } from "./query.js";

/** @import { ViewState } from "../types/view-state.js" */

/** @typedef {(state: ViewState, previous: ViewState) => void} Listener */

/** @param {ViewState} initial */
export function createStore(initial) {
  let state = initial;
  /** @type {Listener[]} */
  const listeners = [];
  return {
    get: () => state,
    /** @param {Partial<ViewState>} change */
    set(change) {
      const previous = state;
      state = { ...state, ...change };
      writeAddress(state);
      for (const listener of listeners) listener(state, previous);
    },
    /** @param {Listener} listener */
    subscribe: (listener) => void listeners.push(listener),
  };
}

/** @typedef {ReturnType<typeof createStore>} Store */

/** @type {ReturnType<typeof setTimeout> | undefined} */
let pending;
let lastWritten = -Infinity;

/**
 * Browsers refuse more than about 100 history changes in half a minute, which dragging a slider would reach:
 * the first change is written at once, those right after it together.
 */
const PAUSE_MS = 400;

/** @param {ViewState} state */
function writeAddress(state) {
  clearTimeout(pending);
  const write = () => {
    lastWritten = performance.now();
    history.replaceState(null, "", addressOf(state));
  };
  const wait = lastWritten + PAUSE_MS - performance.now();
  if (wait <= 0) write();
  else pending = setTimeout(write, wait);
}

/** This page's address with the view state in it. @param {ViewState} state */
export function addressOf(state) {
  const query = toQuery(state);
  return `${location.pathname}${query ? `?${query}` : ""}`;
}
