// The page through the user's choice of peaks and of other devices; the device list is read when first needed.

import { otherDevices, withOthers } from "../metrics/other-devices.js";
import { chosenRoofs, isWhatIf } from "../metrics/peaks.js";
import { withRoofs } from "../metrics/whatif.js";

/**
 * @typedef {object} Seen
 * @property {any} page the page data to show
 * @property {any} device the chosen device; null: the profile's own
 * @property {string[]} unknown what the link names and nobody knows
 * @property {import("../metrics/other-devices.js").Other[]} others
 */

/** The view state that changes what the page data say. */
const CHOICE = ["dev", "peaks", "vs"];

export const isSameChoice = (a, b) => CHOICE.every((key) => a[key] === b[key]);

/**
 * @param {any} own the server's page data
 * @param {string} url of the device list
 */
export function createChosenHardware(own, url) {
  /** @type {any} */
  let list = null;
  /** @type {Promise<any> | null} */
  let asked = null;
  /** @type {{ state: any, list: any, seen: Seen } | null} the last answer: most changes of state leave the choice alone */
  let last = null;

  /** @returns {Seen} */
  function compute(state) {
    const { roofs, device, unknown } = chosenRoofs(own, list, state);
    const page = isWhatIf(state) ? withRoofs(own, roofs) : own;
    const others = list === null ? [] : otherDevices(page, list, state.vs);
    const missing = state.vs.filter((id) => !others.some((other) => other.id === id));
    return { page: withOthers(page, others), device, unknown: [...unknown, ...missing], others };
  }
  return {
    ownPage: own,
    /** @returns {any} null until it has been read */
    get list() {
      return list;
    },
    /** Reads the device list; a failure is asked again the next time. */
    load() {
      asked ??= fetch(url).then(async (response) => {
        if (!response.ok) throw new Error(`The server answered ${response.status}.`);
        list = await response.json();
        return list;
      });
      asked.catch(() => {
        asked = null;
      });
      return asked;
    },
    /** @param {import("./query.js").ViewState} state */
    needsList: (state) => list === null && (state.dev !== null || state.vs.length > 0),
    /**
     * @param {import("./query.js").ViewState} state
     * @returns {Seen}
     */
    pageFor(state) {
      if (last === null || last.list !== list || !isSameChoice(last.state, state))
        last = { state, list, seen: compute(state) };
      return last.seen;
    },
  };
}

/** @typedef {ReturnType<typeof createChosenHardware>} ChosenHardware */
