// The page through the user's choice of peaks and of other devices; the device list is read when first needed.

import { otherDevices, withOthers } from "../metrics/other-devices.js";
import { chosenRoofs, isWhatIf } from "../metrics/peaks.js";
import { withRoofs } from "../metrics/whatif.js";

/** @import { DeviceList, KnownDevice } from "../types/device-list.js" */
/** @import { Page } from "../types/page-data.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Other } from "../metrics/other-devices.js" */

/**
 * @typedef {Pick<ViewState, "dev" | "peaks" | "vs">} Choice the view state that changes what the page data say
 *
 * @typedef {object} Seen
 * @property {Page} page the page data to show
 * @property {KnownDevice | null} device the chosen device; null: the profile's own
 * @property {string[]} unknown what the link names and neither the profile nor the device list has
 * @property {Other[]} others
 */

/** @param {Choice} a @param {Choice} b */
export const isSameChoice = (a, b) => a.dev === b.dev && a.peaks === b.peaks && a.vs === b.vs;

/**
 * @param {Page} own the server's page data
 * @param {string} url of the device list
 */
export function createChosenHardware(own, url) {
  /** @type {DeviceList | null} */
  let list = null;
  /** @type {Promise<DeviceList> | null} */
  let asked = null;
  /**
   * @type {{ state: Choice, list: DeviceList | null, seen: Seen } | null} the last answer: most changes of state leave the choice alone
   */
  let last = null;

  /** @param {Choice} state @returns {Seen} */
  function compute(state) {
    const { roofs, device, unknown } = chosenRoofs(own, list, state);
    const page = isWhatIf(state) ? withRoofs(own, roofs) : own;
    const others = list === null ? [] : otherDevices(page, list, state.vs);
    const missing = state.vs.filter((id) => !others.some((other) => other.id === id));
    return { page: withOthers(page, others), device, unknown: [...unknown, ...missing], others };
  }
  return {
    ownPage: own,
    /** Null until it has been read. */
    get list() {
      return list;
    },
    /** Reads the device list; a failure is asked again the next time. */
    load() {
      const promise = asked ?? readList(url);
      asked = promise;
      promise.then(
        (found) => {
          list = found;
        },
        () => {
          asked = null;
        },
      );
      return promise;
    },
    /** @param {Choice} state */
    needsList: (state) => list === null && (state.dev !== null || state.vs.length > 0),
    /**
     * @param {Choice} state
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

/** @param {string} url @returns {Promise<DeviceList>} */
async function readList(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return response.json();
}
