// View state and query string, both ways. Pure. Saved links never break: a changed key means a new version here.

import { isRateKey, parseAmount } from "../metrics/peaks.js";

/** The version this page writes; older ones are upgraded, newer ones cannot be read. */
export const VERSION = 1;

/**
 * @typedef {[number, number, number, number]} Box x0, x1, y0, y1 as log10
 *
 * @typedef {object} ViewState
 * @property {"in" | "out"} infeed with or without infeed and outfeed
 * @property {string} q substring, or /regex/
 * @property {readonly string[]} cat category names; empty means all
 * @property {readonly string[]} bound bound ids; empty means all
 * @property {number} min least share of time, percent
 * @property {number} cover keep the longest ops that make this percent of the time
 * @property {Box | null} box selected rectangle of the chart
 * @property {string} x x axis id
 * @property {"auto" | "all" | "none"} roofs
 * @property {"time" | "equal"} size what the marker area means
 * @property {"time" | "all"} fit what the automatic range holds
 * @property {Box | null} zoom
 * @property {number | null} op selected op, an index into `ops`
 * @property {string | null} step selected program point, its label
 * @property {string} sort column id, "-" first for descending
 * @property {readonly string[]} cols shown columns; empty means the page's default
 * @property {"ops" | "program" | "hardware"} tab
 * @property {number} page first is 1
 * @property {string | null} dev device whose peaks count instead of the profile's
 * @property {Readonly<Record<string, number>>} peaks set by hand, GFLOP/s and GB/s by compute unit ("compute": the main one) or memory level
 * @property {readonly string[]} vs other devices to compare with
 */

/** @type {Readonly<ViewState>} */
export const DEFAULTS = Object.freeze({
  infeed: "in",
  q: "",
  cat: [],
  bound: [],
  min: 0,
  cover: 100,
  box: null,
  x: "bottleneck",
  roofs: "auto",
  size: "time",
  fit: "time",
  zoom: null,
  op: null,
  step: null,
  sort: "-self_share_ratio",
  cols: [],
  tab: "ops",
  page: 1,
  dev: null,
  peaks: Object.freeze({}),
  vs: [],
});

const FILTER_KEYS = ["q", "cat", "bound", "min", "cover", "box"];

const oneOf =
  (...allowed) =>
  (text) =>
    allowed.includes(text) ? text : undefined;
const between = (low, high) => (text) => {
  const value = Number(text);
  return text !== "" && value >= low && value <= high ? value : undefined;
};
const wholeFrom = (low) => (text) =>
  /^\d+$/.test(text) && Number(text) >= low ? Number(text) : undefined;

function readBox(text) {
  const numbers = text.split(",").map(Number);
  const usable =
    numbers.length === 4 &&
    numbers.every(Number.isFinite) &&
    numbers[0] < numbers[1] &&
    numbers[2] < numbers[3];
  return usable ? numbers : undefined;
}

const writeBox = (box) => box.map((value) => Number(value.toFixed(4))).join(",");

/** How each single-valued key is read; a value that does not fit leaves the default. */
const READ = {
  infeed: oneOf("in", "out"),
  q: (text) => text,
  min: between(0, 100),
  cover: between(1, 100),
  box: readBox,
  x: (text) => text,
  roofs: oneOf("auto", "all", "none"),
  size: oneOf("time", "equal"),
  fit: oneOf("time", "all"),
  zoom: readBox,
  op: wholeFrom(0),
  step: (text) => text,
  sort: (text) => text,
  cols: (text) => text.split(",").filter(Boolean),
  tab: oneOf("ops", "program", "hardware"),
  page: wholeFrom(1),
  dev: (text) => text || undefined,
  vs: (text) => text.split(",").filter(Boolean),
};

const PEAK = "peak.";

/** `peak.hbm=1200`, in GB/s, or with a unit as people write it. */
function readPeaks(params) {
  const peaks = {};
  for (const [key, text] of params) {
    const name = key.slice(PEAK.length);
    const value = key.startsWith(PEAK)
      ? parseAmount(text, isRateKey(name) ? "gflops" : "gbs")
      : null;
    if (value !== null) peaks[name] = value;
  }
  return peaks;
}

/**
 * @param {string} search a query string, with or without "?"
 * @returns {{ state: ViewState, newer: string | null }} `newer`: the version of a link this page cannot read
 */
export function parseQuery(search) {
  const params = new URLSearchParams(search);
  const version = params.get("v");
  if (version !== null && Number(version) !== VERSION)
    return { state: { ...DEFAULTS }, newer: version };
  /** @type {any} */
  const state = {
    ...DEFAULTS,
    cat: params.getAll("cat"),
    bound: params.getAll("bound"),
    peaks: readPeaks(params),
  };
  for (const [key, read] of Object.entries(READ)) {
    const text = params.get(key);
    const value = text === null ? undefined : read(text);
    if (value !== undefined) state[key] = value;
  }
  if (!params.has("q") && params.has("roofline_op_name")) state.q = params.get("roofline_op_name");
  return { state, newer: null };
}

const joinIds = (ids) => ids.join(",");
const WRITE = { box: writeBox, zoom: writeBox, cols: joinIds, vs: joinIds };

/**
 * @param {ViewState} state
 * @returns {string} query string without "?"; defaults are left out, and nothing else means an empty string
 */
export function toQuery(state) {
  const params = new URLSearchParams();
  for (const [key, standard] of Object.entries(DEFAULTS)) {
    const value = state[key];
    if (value === null || isSame(value, standard)) continue;
    if (key === "cat" || key === "bound") for (const item of value) params.append(key, item);
    else if (key === "peaks")
      for (const [name, peak] of Object.entries(value))
        params.set(PEAK + name, String(Number(peak.toPrecision(6))));
    else params.set(key, WRITE[key] ? WRITE[key](value) : String(value));
  }
  return params.size ? `v=${VERSION}&${params}` : "";
}

function isSame(a, b) {
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** The state with every filter off; axis, selection and table stay. */
export function withoutFilters(state) {
  const cleared = { ...state, page: 1 };
  for (const key of FILTER_KEYS) cleared[key] = DEFAULTS[key];
  return cleared;
}

/** The state after following a link of the verdict or of a diagnostic: its keys replace all filters. */
export function withFilter(state, filter) {
  const known = Object.entries(filter).filter(([key]) => key in DEFAULTS);
  return { ...withoutFilters(state), ...Object.fromEntries(known) };
}

/** True when some op may be hidden by a filter. */
export function isFiltered(state) {
  return FILTER_KEYS.some((key) => !isSame(state[key], DEFAULTS[key]));
}
