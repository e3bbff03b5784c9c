// The figures of the page: those that came with it, and those that the server draws as the address says.

import { isRateKey } from "../text/roofs.js";
import { DEFAULTS } from "../state/query.js";
import { isShare } from "../state/places.js";
import { JOINED } from "../state/model.js";

/** @import { Page } from "../types/page-data.js" */
/** @import { ViewState } from "../types/view-state.js" */

/** @typedef {Page["figures"]} Figures */

const MOST_KEPT = 24; // figures: 30 kB each for a thousand operations
const KEYS = /** @type {const} */ (["infeed", "x", "y", "roofs", "prec", "size", "fit"]);

/**
 * What the server is asked for; empty for the figures of a page that opens.
 * @param {ViewState} state
 * @param {readonly number[]} joined the ops to join, where that is not all
 */
export function figureQuery(state, joined) {
  const query = new URLSearchParams(state.listing);
  for (const key of KEYS)
    if (state[key] !== null && state[key] !== DEFAULTS[key]) query.set(key, String(state[key]));
  if (state.zoom) query.set("zoom", state.zoom.join(","));
  // Own ceilings are drawn at rates, and where levels are not joined.
  if (state.op !== null && (state.x === JOINED || !isShare(state)))
    query.set("op", String(state.op));
  if (joined.length > 0) query.set("ops", joined.join(","));
  if (state.vs.length > 0) query.set("vs", state.vs.join(","));
  if (state.dev) query.set("device", state.dev);
  for (const [key, value] of Object.entries(state.peaks))
    query.append("peak", `${key}=${value}${isRateKey(key) ? "GFLOP/s" : "GB/s"}`);
  return String(query);
}

/**
 * Whether the figures of a state came with its view.
 * @param {ViewState} state
 * @param {readonly number[]} joined
 */
export const comesWithView = (state, joined) =>
  figureQuery({ ...state, infeed: "in", dev: null, peaks: {}, listing: "" }, joined) === "";

/**
 * Asks for figures; of several questions under way the newest is answered.
 * @param {string} url
 */
export function createFigures(url) {
  /** @type {Map<string, Figures>} */
  const kept = new Map();
  let asked = new AbortController();

  /** @param {string} query @returns {Promise<Figures>} */
  async function ask(query) {
    const { signal } = asked;
    const response = await fetch(`${url}${url.includes("?") ? "&" : "?"}${query}`, { signal });
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    return response.json();
  }

  return {
    /** At once where they are known. @param {string} query @returns {Figures | Promise<Figures>} */
    get(query) {
      asked.abort();
      const known = kept.get(query);
      if (known) return known;
      asked = new AbortController();
      return ask(query).then((figures) => {
        const [oldest] = kept.keys();
        if (kept.size >= MOST_KEPT) kept.delete(oldest);
        kept.set(query, figures);
        return figures;
      });
    },
  };
}
