// The address of a viewer of traces that somebody has, with a range of time filled in. Pure.

const US_PER_MS = 1000;
const NS_PER_US = 1000;

/**
 * @typedef {object} Opened
 * @property {number} from in us from the begin of the capture
 * @property {number} to
 * @property {string} host empty where all are shown
 */

/**
 * The address with `{from_ms}`, `{to_ms}`, `{from_ns}`, `{to_ns}` and `{host}` filled in.
 * @param {string} text as people paste it
 * @param {Opened} opened
 * @returns {string | null} null where it is not an address of the web
 */
export function viewerAddress(text, { from, to, host }) {
  const values = {
    "{from_ms}": String(from / US_PER_MS),
    "{to_ms}": String(to / US_PER_MS),
    "{from_ns}": String(Math.round(from * NS_PER_US)),
    "{to_ns}": String(Math.round(to * NS_PER_US)),
    "{host}": encodeURIComponent(host),
  };
  const filled = Object.entries(values).reduce(
    (address, [name, value]) => address.replaceAll(name, value),
    text.trim(),
  );
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(filled) ? filled : `http://${filled}`;
  if (!text.trim() || !URL.canParse(whole)) return null;
  const { protocol, href } = new URL(whole);
  return protocol === "http:" || protocol === "https:" ? href : null;
}
