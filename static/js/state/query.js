// View state and query string, both ways. Pure. Saved links never break: a changed key means a new version here.

import { DIMENSIONS } from "./group-keys.js";
import { isRateKey } from "../text/roofs.js";
import { parseAmount } from "../text/amounts.js";
import { readPin, writePin } from "./pins.js";

/** The version this page writes; older ones are upgraded, newer ones cannot be read. */
export const VERSION = 1;

/** @import { Filter } from "../types/page-data.js" */
/** @import { Box, PeaksByKey, ViewState } from "../types/view-state.js" */

/** @type {Readonly<ViewState>} */
export const DEFAULTS = Object.freeze({
  from_us: null,
  to_us: null,
  host: null,
  dvfs: "off",
  of: null,
  infeed: "in",
  q: "",
  listing: "",
  cat: [],
  bound: [],
  part: null,
  finding: null,
  by: null,
  group: null,
  open: [],
  min: 0,
  cover: 100,
  box: null,
  x: "auto",
  y: "rate",
  roofs: "auto",
  prec: null,
  size: "time",
  fit: "time",
  zoom: null,
  op: null,
  sel: [],
  pins: [],
  step: null,
  sort: "-width_us",
  cols: [],
  pcols: [],
  tab: null,
  page: 1,
  dev: null,
  peaks: Object.freeze({}),
  vs: [],
});

const FILTER_KEYS = /** @type {const} */ ([
  "q",
  "cat",
  "bound",
  "part",
  "finding",
  "group",
  "min",
  "cover",
  "box",
]);

/**
 * @template T
 * @typedef {(text: string) => T | undefined} Reader undefined: the text means no such value
 */

/**
 * @template {string} T
 * @param {...T} allowed
 * @returns {Reader<T>}
 */
const oneOf =
  (...allowed) =>
  (text) =>
    allowed.find((one) => one === text);

/** @param {number} low @param {number} high @returns {Reader<number>} */
const between = (low, high) => (text) => {
  const value = Number(text);
  return text !== "" && value >= low && value <= high ? value : undefined;
};

/** @param {number} low @returns {Reader<number>} */
const wholeFrom = (low) => (text) =>
  /^\d+$/.test(text) && Number(text) >= low ? Number(text) : undefined;

/** @type {Reader<Box>} */
function readBox(text) {
  const numbers = text.split(",").map(Number);
  const [x0, x1, y0, y1] = numbers;
  const isBox = numbers.length === 4 && numbers.every(Number.isFinite) && x0 < x1 && y0 < y1;
  return isBox ? [x0, x1, y0, y1] : undefined;
}

/** @param {Box} box */
const writeBox = (box) => box.map((value) => Number(value.toFixed(4))).join(",");

/** Links of earlier releases name layers by "path". @param {string} text */
function readGrouping(text) {
  return oneOf(...DIMENSIONS)(text === "path" ? "layer" : text);
}

/** @type {Reader<string>} */
const anyText = (text) => text;
/** @type {Reader<number[]>} */
const readNumbers = (text) =>
  /^\d+(,\d+)*$/.test(text) ? [...new Set(text.split(",").map(Number))] : undefined;
/** @type {Reader<string[]>} */
const readIds = (text) => text.split(",").filter(Boolean);

/**
 * @typedef {Exclude<keyof ViewState, "cat" | "bound" | "open" | "pins" | "peaks" | "listing">} SingleKey a key with one value in the address
 */

const isFold = oneOf("ops", "timeline", "hardware", "details");

/**
 * How each single-valued key is read; a value that does not fit leaves the default.
 * @type {{ [Key in SingleKey]: Reader<ViewState[Key]> }}
 */
const READ = {
  from_us: between(0, 1e15),
  to_us: between(0, 1e15),
  host: (text) => text || undefined,
  dvfs: oneOf("on", "off"),
  of: (text) => text || undefined,
  infeed: oneOf("in", "out"),
  q: anyText,
  part: (text) => text || undefined,
  finding: (text) => text || undefined,
  by: readGrouping,
  group: (text) => text || undefined,
  min: between(0, 100),
  cover: between(1, 100),
  box: readBox,
  x: (text) => (text === "bottleneck" ? "auto" : text), // of earlier releases
  y: oneOf("rate", "share"),
  roofs: oneOf("auto", "all", "none"),
  prec: (text) => text || undefined,
  size: oneOf("time", "equal"),
  fit: oneOf("time", "all"),
  zoom: readBox,
  op: wholeFrom(0),
  sel: readNumbers,
  step: anyText,
  sort: anyText,
  cols: readIds,
  pcols: readIds,
  // The table of the program was a tab of its own once.
  tab: (text) => (text === "program" ? "details" : isFold(text)),
  page: wholeFrom(1),
  dev: (text) => text || undefined,
  vs: readIds,
};

/**
 * The value that a control means; its default where the text means none.
 * @template {SingleKey} Key
 * @param {Key} key
 * @param {string} text
 * @returns {ViewState[Key]}
 */
export const parseValue = (key, text) => READ[key](text) ?? DEFAULTS[key];

/**
 * @template {SingleKey} Key
 * @param {ViewState} state changed in place
 * @param {Key} key
 * @param {URLSearchParams} params
 * @returns {string[]} the value with its key, where it means nothing
 */
function readInto(state, key, params) {
  const text = params.get(key);
  const value = text === null ? undefined : READ[key](text);
  if (value !== undefined) state[key] = value;
  return text && value === undefined ? [`${key} “${text}”`] : [];
}

const PEAK = "peak.";

/**
 * `peak.hbm=1200`, in GB/s, or with a unit as people write it.
 * @param {URLSearchParams} params
 * @returns {{ peaks: PeaksByKey, unreadable: string[] }}
 */
function readPeaks(params) {
  /** @type {Record<string, number>} */
  const peaks = {};
  const unreadable = [];
  for (const [key, text] of params) {
    if (!key.startsWith(PEAK)) continue;
    const name = key.slice(PEAK.length);
    const value = parseAmount(text, isRateKey(name) ? "gflops" : "gbs");
    if (value === null) unreadable.push(`${key} “${text}”`);
    else peaks[name] = value;
  }
  return { peaks, unreadable };
}

/**
 * @param {string} search a query string, with or without "?"
 * @returns {{ state: ViewState, newer: string | null, unreadable: string[] }} `newer`: the version of a link this
 *   page cannot read; `unreadable`: values that mean nothing, each with its key
 */
export function parseQuery(search) {
  const params = new URLSearchParams(search);
  const version = params.get("v");
  if (version !== null && Number(version) !== VERSION)
    return { state: { ...DEFAULTS }, newer: version, unreadable: [] };
  const { peaks, unreadable } = readPeaks(params);
  for (const text of params.getAll("pin")) if (!readPin(text)) unreadable.push(`pin “${text}”`);
  /** @type {ViewState} */
  const state = {
    ...DEFAULTS,
    cat: params.getAll("cat"),
    bound: params.getAll("bound"),
    open: params.getAll("open"),
    pins: params.getAll("pin").flatMap((text) => readPin(text) ?? []),
    peaks,
  };
  for (const key of keysOf(READ)) unreadable.push(...readInto(state, key, params));
  if (!params.has("by")) state.by = readGrouping(params.get("timeby") ?? "") ?? null;
  state.dev ??= params.get("device") || null; // as the API spells it
  if (!params.has("q")) state.q = params.get("roofline_op_name") ?? state.q;
  return { state, newer: null, unreadable };
}

/**
 * @template {object} T
 * @param {T} object
 */
const keysOf = (object) => /** @type {(keyof T)[]} */ (Object.keys(object));

/** @param {readonly string[]} ids */
const joinIds = (ids) => ids.join(",");

/**
 * The state in the address: key and value, the keys of lists several times.
 * @param {ViewState} state
 * @param {keyof ViewState} key
 * @returns {[string, string][]}
 */
function written(state, key) {
  switch (key) {
    case "cat":
    case "bound":
    case "open":
      return state[key].map((item) => [key, item]);
    case "pins":
      return state.pins.map((pin) => ["pin", writePin(pin)]);
    case "peaks":
      return Object.entries(state.peaks).map(([name, peak]) => [PEAK + name, sixDigits(peak)]);
    case "box":
    case "zoom":
      return [[key, state[key] ? writeBox(state[key]) : ""]];
    case "cols":
    case "pcols":
    case "vs":
      return [[key, joinIds(state[key])]];
    case "sel":
      return [[key, joinIds(state.sel.map(String))]];
    default:
      return [[key, String(state[key])]];
  }
}

/** @param {number} value */
const sixDigits = (value) => String(Number(value.toPrecision(6)));

/**
 * @param {ViewState} state
 * @returns {string} query string without "?"; defaults are left out, and nothing else means an empty string
 */
export function toQuery(state) {
  const params = new URLSearchParams();
  for (const key of keysOf(DEFAULTS)) {
    if (key === "listing" || state[key] === null || isSame(state[key], DEFAULTS[key])) continue;
    for (const [name, text] of written(state, key)) params.append(name, text);
  }
  return params.size ? `v=${VERSION}&${params}` : "";
}

/** @param {ViewState[keyof ViewState]} a @param {ViewState[keyof ViewState]} b */
function isSame(a, b) {
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  const [mine, others] = [Object.entries(a), new Map(Object.entries(b))];
  return mine.length === others.size && mine.every(([key, value]) => others.get(key) === value);
}

/**
 * What the server finds beside the longest operations, where a profile has more than it lists: a part of their name,
 * another order. Patterns look through the longest alone.
 * @param {ViewState} state
 */
export function listingOf({ q, sort }) {
  const query = new URLSearchParams();
  if (q && !q.startsWith("/")) query.set("q", q);
  const isOfOther = /^-?on_/.test(sort); // columns of other devices are the browser's
  if (sort !== DEFAULTS.sort && !isOfOther) query.set("sort", sort);
  return String(query);
}

/**
 * The state with every filter off; axis, selection and table stay.
 * @param {ViewState} state
 * @returns {ViewState}
 */
export function withoutFilters(state) {
  const { q, cat, bound, part, finding, group, min, cover, box } = DEFAULTS;
  return { ...state, q, cat, bound, part, finding, group, min, cover, box, page: 1 };
}

/**
 * The state after following a link of the verdict or of a diagnostic: its keys replace all filters.
 * @param {ViewState} state
 * @param {Filter} filter
 * @returns {ViewState}
 */
export function withFilter(state, filter) {
  const known = Object.entries(filter).filter(([key]) => key in DEFAULTS);
  return { ...withoutFilters(state), ...Object.fromEntries(known) };
}

/** True when some op may be hidden by a filter. @param {ViewState} state */
export function isFiltered(state) {
  return FILTER_KEYS.some((key) => !isSame(state[key], DEFAULTS[key]));
}
