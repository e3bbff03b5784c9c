// An import as the server tells it: one event per change, for as long as the connection holds.

/** @import { ImportStatus } from "./follow-import.js" */

const ENDS = new Set(["ready", "failed"]);

/**
 * The server says something several times a second. Silence is a lost connection, or a proxy that
 * holds events back: then asking is better than listening.
 */
const SILENCE_MS = 3000;

/**
 * @param {string} url
 * @param {object} options
 * @param {(status: ImportStatus) => void} options.onStatus called with each state
 * @param {() => void} options.onTrouble the connection broke; the browser opens it again
 * @param {AbortSignal} options.signal
 * @returns {Promise<ImportStatus | null>} the last state; null where events do not come through
 */
export function listen(url, { onStatus, onTrouble, signal }) {
  return new Promise((resolve) => {
    const source = new EventSource(url);
    /** @param {ImportStatus | null} last */
    const end = (last) => {
      clearTimeout(patience);
      signal.removeEventListener("abort", stop);
      source.close();
      resolve(last);
    };
    const stop = () => end(null);
    const giveUp = () => {
      onTrouble();
      end(null);
    };
    let patience = setTimeout(giveUp, SILENCE_MS);
    /** @param {MessageEvent<string>} event */
    const hear = (event) => {
      clearTimeout(patience);
      patience = setTimeout(giveUp, SILENCE_MS);
      const status = JSON.parse(event.data);
      onStatus(status);
      if (ENDS.has(event.type)) end(status);
    };
    for (const type of ["importing", ...ENDS]) source.addEventListener(type, hear);
    source.addEventListener("error", () => {
      // Closed for good: another status than 200, or no event stream. Otherwise it connects again.
      if (source.readyState === EventSource.CLOSED) end(null);
      else onTrouble();
    });
    signal.addEventListener("abort", stop);
  });
}
