// An import as the server tells it: one event per change, for as long as the connection holds.

const ENDS = new Set(["ready", "failed"]);

/**
 * The server says something several times a second. Silence is a lost connection, or a proxy that
 * holds events back: then asking is better than listening.
 */
const SILENCE_MS = 3000;

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
    const giveUp = () => {
      onTrouble();
      end(false);
    };
    let patience = setTimeout(giveUp, SILENCE_MS);
    const hear = (event) => {
      clearTimeout(patience);
      patience = setTimeout(giveUp, SILENCE_MS);
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
