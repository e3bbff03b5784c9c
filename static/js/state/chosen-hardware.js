// The page under the chosen peaks and beside other devices: the server computes it, the newest choice wins. Pure.

import { isRateKey, isWhatIf } from "../text/roofs.js";
import { unpacked } from "./model.js";

/** @import { DeviceList } from "../types/device-list.js" */
/** @import { Column, Facts, Page } from "../types/page-data.js" */
/** @import { OnParts, Other } from "../types/other-devices.js" */
/** @import { ViewState } from "../types/view-state.js" */

/**
 * @typedef {Pick<ViewState, "dev" | "peaks" | "vs" | "infeed" | "listing">} Choice the view state that the server computes
 *
 * @typedef {object} Seen
 * @property {Page} page
 * @property {Other[]} others devices beside it
 */

/** @param {Choice} a @param {Choice} b */
export const isSameChoice = (a, b) =>
  a.dev === b.dev &&
  a.peaks === b.peaks &&
  a.vs === b.vs &&
  a.infeed === b.infeed &&
  a.listing === b.listing;

/**
 * The parameters of a view, as addresses of pages write them.
 * @param {string} url may have a query
 * @param {Choice} choice
 * @param {readonly string[]} [devices] beside it
 */
export function viewAddress(url, { dev, peaks, infeed, listing }, devices = []) {
  const query = new URLSearchParams(listing);
  for (const id of devices) query.append("device", id);
  if (dev) query.set("dev", dev);
  if (infeed !== "in") query.set("infeed", infeed);
  for (const [key, value] of Object.entries(peaks))
    query.append("peak", `${key}=${value}${isRateKey(key) ? "GFLOP/s" : "GB/s"}`);
  return withQuery(url, String(query));
}

/** @param {string} url may have a query @param {string} query */
export const withQuery = (url, query) =>
  query ? `${url}${url.includes("?") ? "&" : "?"}${query}` : url;

/**
 * @param {object} options
 * @param {(listing: string) => Promise<Facts>} options.facts
 * @param {string} options.viewUrl
 * @param {string} options.partsUrl
 * @param {string} options.devicesUrl
 * @param {(url: string, signal?: AbortSignal) => Promise<any>} options.read
 */
export function createChosenHardware({ facts, viewUrl, partsUrl, devicesUrl, read }) {
  /** @type {DeviceList | null} */
  let list = null;
  /** @type {Promise<DeviceList> | null} */
  let asked = null;
  /** @type {Seen | null} */
  let seen = null;
  /** @type {Page | null} */
  let own = null;
  let newest = new AbortController();

  /** @param {Choice} choice @param {AbortSignal} signal @returns {Promise<Seen>} */
  async function load(choice, signal) {
    const [measured, view, beside] = await Promise.all([
      facts(choice.listing),
      read(viewAddress(viewUrl, choice), signal),
      choice.vs.length > 0 ? read(viewAddress(partsUrl, choice, choice.vs), signal) : null,
    ]);
    const page = unpacked(measured, view, choice.infeed);
    if (!isWhatIf(choice)) own = page;
    const others = othersOf(beside);
    return { page: withOthers(page, others), others };
  }
  return {
    /** The page by the profile's own peaks; null until it was seen. */
    get own() {
      return own;
    },
    /** Null until it has been read. */
    get list() {
      return list;
    },
    /** The newest page that has arrived. */
    get seen() {
      return seen;
    },
    /** Reads the device list; a failure is asked again the next time. */
    load() {
      const promise = asked ?? read(devicesUrl);
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
    /**
     * The page with, then without infeed and outfeed, under the same peaks and beside the devices that were seen.
     * @param {Choice} choice
     * @returns {Promise<Page[]>}
     */
    async both(choice) {
      const states = /** @type {const} */ (["in", "out"]);
      const views = states.map((infeed) => read(viewAddress(viewUrl, { ...choice, infeed })));
      const [measured, ...shown] = await Promise.all([facts(choice.listing), ...views]);
      return states.map((infeed, i) =>
        withOthers(unpacked(measured, shown[i], infeed), seen?.others ?? []),
      );
    },
    /** @param {Choice} state */
    needsList: (state) => state.dev !== null || state.vs.length > 0,
    /**
     * The page under a choice; null where a newer one was asked for meanwhile. Fails where the server does.
     * @param {Choice} choice
     * @returns {Promise<Seen | null>}
     */
    async ask(choice) {
      newest.abort();
      const mine = (newest = new AbortController());
      try {
        const found = await load(choice, mine.signal);
        if (mine.signal.aborted) return null;
        seen = found;
        return found;
      } catch (error) {
        if (mine.signal.aborted) return null;
        throw error;
      }
    },
  };
}

/** @typedef {ReturnType<typeof createChosenHardware>} ChosenHardware */

export const MOST_DEVICES = 4;
/** @type {readonly (readonly [token: string, dash: string])[]} */
const STYLES = [
  ["--vs-1", "9px,4px"],
  ["--vs-2", "3px,3px"],
  ["--vs-3", "12px,3px,3px,3px"],
  ["--vs-4", "6px,2px,2px,2px,2px,2px"],
];

/** @param {OnParts | null} beside @returns {Other[]} */
const othersOf = (beside) =>
  (beside?.devices ?? []).map((device, i) => {
    const [token, dash] = STYLES[i];
    return { ...device, token, dash };
  });

/** Column of the lower bound on a device. @param {string} id of the device */
export const boundTimeId = (id) => `on_${id}_us`;
/** Column of what binds on a device. @param {string} id of the device */
export const bindsId = (id) => `on_${id}_bound`;

/**
 * The page with two columns per other device: its lower bound, and what binds there.
 * @param {Page} page
 * @param {Other[]} others
 * @returns {Page}
 */
export function withOthers(page, others) {
  if (others.length === 0) return page;
  const at = 1 + page.columns.findIndex(({ id }) => id === "gain_us");
  const added = others.flatMap((other) => columnsOf(other, page, others.length));
  const values = Object.fromEntries(
    others.flatMap((other) => [
      [boundTimeId(other.id), other.us],
      [
        bindsId(other.id),
        page.ops.columns.bound_by.map((bound, op) => bindsText(page, other, op, bound)),
      ],
    ]),
  );
  return {
    ...page,
    columns: [...page.columns.slice(0, at), ...added, ...page.columns.slice(at)],
    ops: { ...page.ops, columns: { ...page.ops.columns, ...values } },
  };
}

/**
 * @param {Other} other
 * @param {Page} page
 * @param {number} devices how many are compared with
 * @returns {Column[]}
 */
function columnsOf({ id, name }, page, devices) {
  return [
    {
      id: boundTimeId(id),
      label: name,
      unit: "time_us",
      sub: `at least, per ${page.device.core_word}`,
      default: true,
      help: `Least self time on ${name}: the longest of FLOPs ÷ its compute peak and bytes ÷ its bandwidth.`,
    },
    {
      id: bindsId(id),
      label: name,
      unit: "text",
      sub: "bound by",
      default: devices <= 2,
      help: `What would bind the op on ${name}; where that differs from here, this says what binds here.`,
    },
  ];
}

/**
 * @param {Page} page
 * @param {Other} other
 * @param {number} op
 * @param {number} here what binds it here
 */
function bindsText({ bounds }, other, op, here) {
  if (other.us[op] === null) return null;
  const label = bounds[other.bound_by[op]].label;
  return other.bound_by[op] === here ? label : `${label}, here ${bounds[here].label}`;
}
