// Page data, devices and the like for tests: small, but complete enough for every module.

import { readFileSync } from "node:fs";

/** @import { KnownBandwidth, KnownDevice, KnownRate } from "../../static/js/types/device-list.js" */
/** @import { Bound, Column, ComputeRoof, Cost, Level, MemoryRoof, OpColumns, Page, PageView, ProgramPoint, Segment, Templates, WorkUnit } from "../../static/js/types/page-data.js" */
/** @import { ChartFigure, ChartLayout } from "../../static/js/types/figure.js" */
/** @import { Filling } from "../../static/js/text/sentences.js" */

/**
 * Every sentence and number format as the server writes it.
 * @typedef {object} Golden
 * @property {[value: number, unit: string, text: string][]} numbers
 * @property {[value: number, digits: number, text: string][]} percents
 * @property {Record<string, [value: number, text: string][]>} writers by function of format.js
 * @property {Templates} templates
 * @property {{ sentence: string, fillings: Record<string, Filling>, segments: Segment[], text: string }[]} examples
 */
/** @type {Golden} */
export const GOLDEN = JSON.parse(
  readFileSync(new URL("../golden/words/words.json", import.meta.url), "utf-8"),
);

/**
 * @typedef {[name: string, category: string, bound: string, cost: Cost, share: number, intensity?: number, gflops?: number]} OpTuple
 */

/** Texts with plain spaces between number and unit. @param {string} text */
export const plain = (text) => text.replace(/[\u00a0\u202f]/g, " ");

/**
 * What is there: a test that needs it fails here if it is not.
 * @template T
 * @param {T} value
 * @returns {NonNullable<T>}
 */
export function there(value) {
  if (value === null || value === undefined) throw new Error("nothing is there");
  return value;
}

/** @param {number} gflops @param {Partial<ComputeRoof>} [extra] @returns {ComputeRoof} */
export const computeRoof = (gflops, extra = {}) => ({
  id: "peak",
  unit: null,
  covers: [],
  label: "Compute",
  gflops,
  origin: "profile",
  source: "",
  sustained: null,
  token: "--roof-compute",
  dash: "solid",
  ...extra,
});

/** @param {number} gbs @param {Partial<MemoryRoof>} [extra] @returns {MemoryRoof} */
export const memoryRoof = (gbs, extra = {}) => ({
  id: "hbm",
  label: "HBM",
  gibs: Number((gbs / 1.073741824).toPrecision(4)),
  gbs,
  ridge_flop_per_byte: null,
  origin: "profile",
  source: "",
  sustained: null,
  token: "--roof-hbm",
  dash: "solid",
  ...extra,
});

/** @param {string} id @param {string} label @returns {Level} */
export const level = (id, label) => ({
  id,
  label,
  spoken: label,
  token: `--roof-${id}`,
  dash: "solid",
  is_main: id === "hbm",
  is_link: false,
  is_shown: true,
  peak_gibs: null,
  columns: {
    bandwidth: `${id}_bandwidth_gibs`,
    intensity: `${id}_intensity`,
    utilisation: `${id}_utilisation_ratio`,
  },
});

/** @param {string} id @param {string} label @returns {WorkUnit} */
export const workUnit = (id, label) => ({
  id,
  label,
  peak_gflops: null,
  columns: { rate: `${id}_flop_rate_gflops`, utilisation: `${id}_utilisation_ratio` },
});

/** @param {string} id @param {Partial<Column>} [extra] @returns {Column} */
export const column = (id, extra = {}) => ({
  id,
  label: id,
  unit: "count",
  sub: "",
  default: false,
  help: "",
  ...extra,
});

/** @returns {Bound[]} compute, HBM and what has no bound */
const boundsOf = () => [
  {
    id: "Compute",
    label: "compute",
    spoken: "compute-bound",
    kind: "flat",
    token: "--roof-compute",
    dash: "solid",
  },
  {
    id: "HBM",
    label: "HBM",
    spoken: "HBM-bound",
    kind: "slanted",
    token: "--roof-hbm",
    dash: "solid",
    level: "hbm",
  },
  {
    id: "Unknown",
    label: "unknown",
    spoken: "without a known bound",
    kind: "none",
    token: "--roof-unknown",
    dash: "dash",
  },
];

/** @param {readonly OpTuple[]} ops @returns {PageView} */
const viewOf = (ops) => ({
  op: ops.map((_, i) => i),
  columns: { rank: ops.map((_, i) => i + 1), self_share_ratio: ops.map((op) => op[4]) },
  total_time_per_core_us: null,
  known_time_ratio: { flop: 1, bytes: 1, both: 1 },
  share_is_least: false,
  beyond: { ops: 0, share_ratio: 0 },
  program: [],
  categories: [],
  verdict: { headline: [], do_first: [], lead: [] },
});

/**
 * @param {readonly OpTuple[]} ops
 * @param {string[]} categories
 * @param {Bound[]} bounds
 * @returns {OpColumns}
 */
function opColumns(ops, categories, bounds) {
  const nothing = ops.map(() => null);
  return {
    name: ops.map((op) => op[0]),
    category: ops.map((op) => categories.indexOf(op[1])),
    bound_by: ops.map((op) => bounds.findIndex((bound) => bound.id === op[2])),
    cost: ops.map((op) => op[3]),
    bottleneck_intensity: ops.map((op) => op[5] ?? null),
    flop_rate_gflops: ops.map((op) => op[6] ?? null),
    self_time_per_core_us: nothing,
    gain_us: nothing,
    memory_bandwidth_gibs: nothing,
    roofline_efficiency_ratio: nothing,
  };
}

/** A figure without marks. @param {string} id @returns {ChartFigure} */
export function emptyFigure(id) {
  /** @returns {ChartLayout} */
  const layout = () => ({
    margin: { l: 0, r: 0, t: 0, b: 0 },
    xaxis: { range: [-1, 3] },
    yaxis: { range: [0, 5] },
    shapes: [],
    dragmode: "zoom",
  });
  const layouts = { wide: layout(), narrow: layout() };
  return { id, data: [], layouts, marks: "op", beyond: {}, legend: [], alt: "" };
}

/** @param {readonly OpTuple[]} ops @param {Partial<Page>} [extra] @returns {Page} */
export function pageWith(ops, extra = {}) {
  const categories = [...new Set(ops.map((op) => op[1]))];
  const bounds = boundsOf();
  return {
    schema: 1,
    pieces: {},
    figures: {
      op: emptyFigure("op"),
      program: emptyFigure("program"),
      links: emptyFigure("links"),
      gain: null,
    },
    profile: {
      id: "p",
      created_at: "2026-01-02T03:04:05Z",
      captured_at: null,
      environment: {},
      format: "XSpace",
      limits: [],
      provenance: { flop: "modelled", bytes: "modelled" },
      files: [],
    },
    groups: {
      by: null,
      unit: "ms",
      lists: [],
      waits: {},
      waiting_title: "",
      unnamed_us: 0,
      layers: [],
      note: "",
    },
    device: {
      name: "TPU",
      kind: "tpu",
      core_word: "TensorCore",
      cores: 1,
      hosts: 1,
      wall_time_us: null,
      steps: 0,
      part: null,
      comparisons: [],
      fields: [],
    },
    roofs: {
      compute: [computeRoof(100_000)],
      memory: [memoryRoof(1000, { ridge_flop_per_byte: 100 })],
    },
    levels: [level("hbm", "HBM")],
    units: [],
    words: {
      sentences: GOLDEN.templates,
      costs: { no_flops: "no FLOPs", unknown: "work unknown", idle: "idle" },
      causes: { asynchronous: "asynchronous transfer" },
    },
    bounds,
    x_axes: [{ id: "hbm", label: "HBM", column: "bottleneck_intensity" }],
    columns: [
      column("name", { label: "Operation", unit: "text", default: true }),
      column("self_share_ratio", { label: "Share", unit: "ratio", default: true }),
      column("width_us", { label: "Time", unit: "time_us", default: true }),
      column("hbm_bandwidth_gibs", { label: "HBM", unit: "gibs" }),
    ],
    program_columns: [],
    categories: categories.map((name) => ({ name, token: "--c1", symbol: "circle" })),
    ops: { count: ops.length, columns: opColumns(ops, categories, bounds) },
    views: { in: viewOf(ops), out: { ...viewOf(ops), op: [] } },
    diagnostics: [],
    ...extra,
  };
}

/** @param {Partial<ProgramPoint>} [extra] @returns {ProgramPoint} */
export const programPoint = (extra = {}) => ({
  scope: "total",
  label: "Total",
  order: null,
  is_outlier: false,
  bound_by: 0,
  ...extra,
});

/** @param {string} unit @param {number} gflops @param {string} [label] @returns {KnownRate} */
export const knownRate = (unit, gflops, label = unit) => ({
  unit,
  label,
  gflops,
  source: "sheet",
  note: "",
});

/** @param {string} level @param {number} gbs @param {string} [note] @returns {KnownBandwidth} */
export const knownBandwidth = (level, gbs, note = "") => ({
  level,
  label: level.toUpperCase(),
  gbs,
  source: "sheet",
  note,
});

/** @param {string} id @param {Partial<KnownDevice>} [extra] @returns {KnownDevice} */
export const knownDevice = (id, extra = {}) => ({
  id,
  name: id,
  vendor: "V",
  kind: "gpu",
  aliases: [],
  scope: "",
  devices_per_chip: 1,
  main_level: "hbm",
  memory_bytes: 8e9,
  compute: [],
  absent: [],
  sustained_matrix: null,
  memory: [],
  ...extra,
});

/** Where the numbers of `knownDevice` come from. */
export const SOURCES = { sheet: { title: "A data sheet" } };

/** Colours by their names. */
export const PAINT = { colour: (/** @type {string} */ token) => token, family: "sans" };
