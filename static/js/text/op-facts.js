// Terms and values that the card and the drawer show of an op or a program point. Pure.

import { computeRoof } from "./roofs.js";
import { unheldUnit } from "./roofs.js";
import { count, DASH, duration, flopRate, intensity, percent, quantity } from "./format.js";
import { rateWord } from "./provenance.js";
import { AT_BEST, atLeast, placeSentence } from "./words.js";

/** @import { Measure, ProgramPoint, Timing, Unit, Value, ValueOf } from "../types/page-data.js" */
/** @import { Model, Row, View } from "../types/model.js" */
/** @import { Other } from "../types/other-devices.js" */

/**
 * @typedef {readonly [term: string, value: string]} Fact
 *
 * @typedef {<Id extends string>(id: Id) => ValueOf<Id>} Get a value of one op or program point
 */

/**
 * Several numbers on one line; missing ones are left out, nothing at all is "–".
 * @param {...string} parts
 */
export const joined = (...parts) =>
  parts.filter((text) => !text.startsWith(DASH)).join(" · ") || DASH;

/** @param {View} view @param {Row} row @returns {Get} */
export const opReader = (view, row) => (id) => view.reader(id)(row);

/** @param {ProgramPoint} point @returns {Get} */
export const pointReader = (point) =>
  /** @type {Get} */ ((/** @type {string} */ id) => point[id] ?? null);

/** @param {Value} value */
const textOrNull = (value) => (typeof value === "string" ? value : null);

/** One sentence about an op. @param {Model} model @param {View} view @param {Row} row */
export function opSentence(model, view, row) {
  const get = opReader(view, row);
  const op = {
    cost: row.cost,
    bound: model.bounds[row.bound],
    efficiency: get("roofline_efficiency_ratio"),
    aboveRoof: textOrNull(get("above_roof")),
    notShown: textOrNull(get("not_shown")),
    unheld: unheldUnit(model, view, row),
    gainUs: get("gain_us"),
    timing: row.timing,
    ...ceilingOf(model, row, get),
  };
  return placeSentence(op, model.words.sentences);
}

/**
 * The sustained rate of the roof that binds an op.
 * @param {Model} model
 * @param {Row} row
 * @param {Get} get
 */
function ceilingOf(model, row, get) {
  const compute = computeRoof(model, get("compute_unit"));
  const { kind, level } = model.bounds[row.bound];
  const memory = model.roofs.memory.find(({ id }) => id === level) ?? null;
  const roof = kind === "flat" ? compute : memory;
  return { sustained: roof?.sustained?.ratio ?? 1 };
}

/**
 * "FLOP rate, estimated": a term, and how its quantity was obtained.
 * @param {Model} model
 * @param {string} term
 * @param {Unit} unit of the quantity
 */
const obtained = ({ profile }, term, unit) =>
  [term, rateWord(profile.provenance, unit)].filter(Boolean).join(", ");

/**
 * "peak", or whose peak: "Tensor core bf16 peak" where work is split by compute unit.
 * @param {Model} model
 * @param {Get} get
 */
export function peakName(model, get) {
  const unit = get("compute_unit");
  if (unit === null && model.units.length > 0 && (get("flop_rate_gflops") ?? 0) > 0)
    return "a peak that is unknown";
  if (unit === null || unit === undefined) return "peak";
  return `${computeRoof(model, unit)?.label ?? ""} peak`.trimStart();
}

/**
 * The rate against its peak.
 * @param {Model} model
 * @param {Get} get
 * @param {Timing} [timing] how the rate was obtained
 * @param {boolean} [isLeast] a part of the work is not known
 * @returns {Fact}
 */
function rateFact(model, get, timing = "measured", isLeast = false) {
  const share = percent(get("compute_efficiency_ratio"));
  const ofPeak = `${share} of ${peakName(model, get)}`;
  const term = obtained(model, "FLOP rate", "gflops");
  const rate = atLeast(flopRate(get("flop_rate_gflops")), isLeast);
  return [term, joined(timing === "predicted" ? `${rate} ${AT_BEST}` : rate, ofPeak)];
}

/** Self and total time with their shares. @param {Get} get @param {Row} row */
const timeTexts = (get, row) => ({
  self: joined(duration(get("self_time_per_core_us")), percent(row.share)),
  total: duration(get("total_time_per_core_us")),
});

/** The card of an op. @param {Model} model @param {Row} row @param {Get} get @returns {Fact[]} */
export function cardFacts(model, row, get) {
  const { self, total } = timeTexts(get, row);
  const each = `${duration(get("avg_time_us"))} each`;
  const program = [...new Set([get("program"), get("program_id")])].filter(Boolean).join(" · ");
  return [
    [`Self time per ${model.coreWord}`, self],
    [`Total time per ${model.coreWord}`, total],
    ["Occurrences", joined(count(get("occurrences")), each)],
    rateFact(model, get, row.timing),
    ["FLOP rate, model", flopRate(get("model_flop_rate_gflops"))],
    ["Program", program || DASH],
  ];
}

/**
 * The card of a program point.
 * @param {Model} model
 * @param {ProgramPoint} point
 * @returns {Fact[]}
 */
export function pointFacts(model, point) {
  const get = pointReader(point);
  return [
    [`Time per ${model.coreWord}`, duration(get("total_time_per_core_us"))],
    rateFact(model, get, "measured", point.flop_is_least),
    ["FLOP rate, model", flopRate(get("model_flop_rate_gflops"))],
    ["Attainable", flopRate(get("attainable_gflops"))],
    ["Largest use", percent(get("roofline_efficiency_ratio"))],
  ];
}

/** The drawer's part on time. @param {Row} row @param {Get} get @returns {Fact[]} */
export function timeFacts(row, get) {
  const { self, total } = timeTexts(get, row);
  const stalled = get("dma_stall_ratio");
  return [
    ["Self", self],
    ["Total", total],
    ["Occurrences", count(get("occurrences"))],
    ["Each", duration(get("avg_time_us"))],
    ["To gain", duration(get("gain_us"))],
    // Most profilers do not count it, and a TPU's leaves the zeros out.
    .../** @type {Fact[]} */ (stalled ? [["Stalled by DMA", percent(stalled)]] : []),
  ];
}

/** The share of the roof; a prediction has none. @param {Row} row @param {Get} get */
const roofShare = ({ timing }, get) =>
  timing === "predicted" ? AT_BEST : percent(get("roofline_efficiency_ratio"));

/**
 * The drawer's part on compute.
 * @param {Model} model
 * @param {Row} row
 * @param {Get} get
 * @returns {Fact[]}
 */
export const computeFacts = (model, row, get) => [
  [obtained(model, "FLOP rate, normalised", "gflops"), flopRate(get("flop_rate_gflops"))],
  ["FLOP rate, model", flopRate(get("model_flop_rate_gflops"))],
  [`Share of ${peakName(model, get)}`, percent(get("compute_efficiency_ratio"))],
  ["Attainable here", flopRate(get("attainable_gflops"))],
  ["Share of roof", roofShare(row, get)],
];

/** The drawer's part on the origin. @param {Get} get @returns {Fact[]} */
export const originFacts = (get) => [
  ["Source", String(get("source") || DASH)],
  ["Program", String(get("program") || DASH)],
  ["Program ID", String(get("program_id") || DASH)],
];

/**
 * Level, bandwidth and intensity of every memory that has either, as a table.
 * @param {Model} model
 * @param {Get} get
 */
export function memoryRows(model, get) {
  /** @param {string} label @param {Measure} rate @param {Measure} ratio */
  const row = (label, rate, ratio) => [label, quantity(ofWork(rate), "gibs"), intensity(ratio)];
  // The bytes of a start move until long after its time.
  /** @param {Measure} rate */
  const ofWork = (rate) => (get("is_start") ? null : rate);
  const levels = model.levels
    .map(({ label, columns }) => ({
      label,
      rate: get(columns.bandwidth),
      ratio: get(columns.intensity),
    }))
    .filter(({ rate, ratio }) => rate !== null || ratio !== null);
  return {
    head: ["Memory", obtained(model, "bandwidth", "gibs"), "intensity"],
    rows: [
      row("all levels", get("memory_bandwidth_gibs"), get("operational_intensity")),
      ...levels.map(({ label, rate, ratio }) => row(label, rate, ratio)),
    ],
  };
}

/**
 * The least time of an op on each device compared with, and what binds there where that differs.
 * @param {Model} model
 * @param {Row} row
 * @returns {Fact[]}
 */
export function otherFacts({ others, bounds }, { op, bound }) {
  /** @param {Other} other */
  const text = ({ us, bound_by: there }) => {
    const differs = us[op] !== null && there[op] !== bound;
    return [duration(us[op]), differs ? bounds[there[op]].spoken : ""].filter(Boolean).join(" · ");
  };
  return others.map((other) => [`At least on ${other.name}`, text(other)]);
}

/**
 * Why an op has no place on any roofline.
 * @param {Model} model
 * @param {Row} row
 * @param {Get} get
 */
export function withoutPlace(model, row, get) {
  if (row.cost === "idle") return "Idle time has no place on a roofline.";
  if (row.cost === "unknown") return "Nothing is known about its work.";
  if (row.cost === "transfer") return "A link binds it, so it has no place on this roofline.";
  if (row.cost === "bytes_unknown")
    return "Its bytes are unknown, so it has no place on a roofline.";
  if (row.cost === "known") return "No peak is known for the memory it uses.";
  const level = model.levels[0];
  const moved = level ? get(level.columns.bandwidth) : null;
  const why = row.cost === "no_flops" ? "It does no FLOPs" : "Its FLOPs are unknown";
  const what = `${why}, so it has no place on a roofline.`;
  return level && moved ? `${what} It moves ${quantity(moved, "gibs")} of ${level.label}.` : what;
}
