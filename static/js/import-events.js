// An import as the server tells it: one event per change, for as long as the connection holds.

const ENDS = new Set(["ready", "failed"]);

/** Proxies that hold events back say nothing at all: then asking is better than listening. */
const FIRST_WORD_MS = 3000;

/**
 * @param {string} url
 * @param {object} options
 * @param {(status: any) => void} options.onStatus called with each state
 * @param {() => void} options.onTrouble the connection broke; the browser opens it again
 * @param {AbortSignal} options.signal
 * @returns {Promise<boolean>} whether the last state was heard; false where events do not come through
 */
export function listen(url, { onStatus, onTrouble, signal }) {
  return new Promise((resolve) => {
    const source = new EventSource(url);
    const end = (heard) => {
      clearTimeout(patience);
      signal.removeEventListener("abort", stop);
      source.close();
      resolve(heard);
    };
    const stop = () => end(false);
    const patience = setTimeout(stop, FIRST_WORD_MS);
    const hear = (event) => {
      clearTimeout(patience);
      onStatus(JSON.parse(event.data));
      if (ENDS.has(event.type)) end(true);
    };
    for (const type of ["importing", ...ENDS]) source.addEventListener(type, hear);
    source.addEventListener("error", () => {
      // Closed for good: another status than 200, or no event stream. Otherwise it connects again.
      if (source.readyState === EventSource.CLOSED) end(false);
      else onTrouble();
    });
    signal.addEventListener("abort", stop);
  });
}
