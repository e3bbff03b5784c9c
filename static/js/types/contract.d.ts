// Generated from presentation/contract.py by tests/tools/contract.py: do not edit.

import type { ChartFigure as Figure } from "./figure.js";

/** Everything that one page shows: `GET /api/v1/profiles/{id}/page`. */
export interface SentPage {
  schema: number;
  profile: Profile;
  subject: Subject;
  verdict: Verdict;
  device: Device;
  roofs: Roofs;
  levels: Level[];
  units: WorkUnit[];
  clocks: Clock[];
  bounds: Bound[];
  words: Words;
  x_axes: Axis[];
  columns: Column[];
  program_columns: Column[];
  categories: Category[];
  ops: Ops;
  views: Views;
  hosts?: Hosts;
  dvfs?: Dvfs;
  serving: Serving | null;
  budget: Budget | null;
  groups: Groups;
  timeline: TimeStrip | null;
  transfers: Transfers;
  diagnostics: Diagnostic[];
  figures: Figures;
}

/** The capture: its program, time and files. */
export interface Profile {
  id: string;
  created_at: string;
  captured_at: string | null;
  format: string;
  environment: Record<string, string>;
  limits: string[];
  provenance: Record<"flop" | "bytes", "measured" | "modelled" | "estimated" | "stated">;
  files: ProfileFile[];
}

/** A file of the capture. */
export interface ProfileFile {
  name: string;
  size_bytes: number | null;
  host: string;
  cores: number | null;
}

/**  */
export interface Subject {
  of: string;
  kind: "host" | "serving" | "range" | "step" | "capture" | "kernels";
  label: string;
  unit_word: string;
  count: number;
  cores: number;
  host: string | null;
  time_us: number;
  floor_us: number | null;
  gain_us: number | null;
  roof_ratio: number | null;
  known_ratio: number | null;
  idle_ratio: number | null;
  outside_us: number | null;
  class: string;
  ceiling: string | null;
  first: First | null;
  parts: Record<string, number | null | Record<string, number>>;
  outside: Record<"before_us" | "after_us", number | null>;
  not_found: string | null;
}

/** What to do first. */
export interface First {
  finding: string;
  title: string;
  saving_us: number | null;
}

/** What binds the subject. */
export interface Verdict {
  class: string;
  ceiling: string | null;
  ratio: number | null;
  useful_ratio: number | null;
  also: string[];
  why: string | null;
  idle_ratio: number | null;
  waits: Record<string, number>;
  then: Place | null;
  known: Record<string, number | null>;
  is_least: boolean;
  largest_saving: First | null;
  coverage: number | null;
}

/**  */
export interface Place {
  class: string;
  ceiling: string | null;
  ratio: number | null;
  useful_ratio: number | null;
  also: string[];
  why: string | null;
}

/** The device and every field of its panel. */
export interface Device {
  name: string;
  kind: "tpu" | "gpu" | "cpu" | "unknown";
  core_word: string;
  cores: number;
  hosts: number;
  wall_time_us: number | null;
  steps: number;
  part: Record<"id" | "name", string> | null;
  comparisons: Comparison[];
  fields: DeviceField[];
}

/** A peak on which profile and catalogue differ. */
export interface Comparison {
  id: string;
  label: string;
  unit: "gflops" | "gbs";
  profile: number | null;
  catalogue: number;
  ratio: number | null;
  explanation: string;
}

/** A field of the device's panel. */
export interface DeviceField {
  id: string;
  label: string;
  value: string | number | null;
  unit: string;
  origin: "profile" | "measured" | "catalogue" | "calibrated" | "user" | null;
  help: string;
}

/** Known peaks; the main compute roof is the first, memories are outermost first. */
export interface Roofs {
  compute: ComputeRoof[];
  memory: MemoryRoof[];
}

/** A flat roof; without a `unit` all work counts against it. */
export interface ComputeRoof {
  id: string;
  label: string;
  token: string;
  dash: string;
  unit: string | null;
  covers: string[];
  gflops: number;
  origin: "profile" | "measured" | "catalogue" | "calibrated" | "user";
  source: string;
  sustained: Sustained | null;
}

/** The shares of a roof that programs reach; `ratio` is the upper end. */
export interface Sustained {
  low_ratio: number;
  ratio: number;
  source: string;
}

/** A slanted roof: GFLOP/s = FLOP/byte × `gbs`. */
export interface MemoryRoof {
  id: string;
  label: string;
  token: string;
  dash: string;
  gibs: number;
  gbs: number;
  ridge_flop_per_byte: number | null;
  origin: "profile" | "measured" | "catalogue" | "calibrated" | "user";
  source: string;
  sustained: Sustained | null;
}

/** A memory level, or a link; `spoken` within a sentence. */
export interface Level {
  id: string;
  label: string;
  token: string;
  dash: string;
  spoken: string;
  is_main: boolean;
  is_link: boolean;
  is_shown: boolean;
  peak_gibs: number | null;
  columns: Record<"bandwidth" | "intensity" | "utilisation", string>;
}

/** A compute unit that work is split by. */
export interface WorkUnit {
  id: string;
  label: string;
  peak_gflops: number | null;
  columns: Record<"rate" | "utilisation", string>;
}

/** A resource that work takes time at; `column` of the ops is that time. */
export interface Clock {
  id: string;
  label: string;
  token: string;
  dash: string;
  kind: "compute" | "memory" | "link";
  column: string;
}

/** A possible bound of a row: `spoken` of a program that it binds, `level` of a memory.
 *
 * The kind "link" is of a link, where it or its peak is not known.
 */
export interface Bound {
  id: string;
  label: string;
  token: string;
  dash: string;
  spoken: string;
  kind: "none" | "flat" | "slanted" | "link";
  level?: string;
}

/** Templates of sentences, cut into parts, and labels by id. */
export interface Words {
  sentences: Record<string, (string | Styled)[]>;
  costs: Record<string, string>;
  causes: Record<string, string>;
}

/** A part of a template that is not plain text: a `text`, or a `slot` to be filled.
 *
 * `one` and `many` are words that follow the count in that slot, `is_first` says that the filling
 * starts with a capital letter.
 */
export interface Styled {
  kind: "plain" | "strong" | "caution" | "bound" | "link";
  text?: string;
  slot?: string;
  is_first?: boolean;
  one?: string;
  many?: string;
}

/** A choice of the chart's x axis: the column it reads. */
export interface Axis {
  id: string;
  label: string;
  column: string;
}

/** A column of a table's menu; `default` is shown at first. */
export interface Column {
  id: string;
  label: string;
  unit: string;
  sub: string;
  default: boolean;
  help: string;
}

/** A kind of op and its mark. */
export interface Category {
  name: string;
  token: string;
  symbol: string;
}

/** One array per column, an entry per op. */
export interface Ops {
  count: number;
  columns: Record<string, any[]>;
  predictions?: Predictions;
  awaited?: Awaited;
  groups: OpGroups;
  names: OpNames;
}

/** Ops without a time, by index, and their rates if each took one second. */
export interface Predictions {
  op: number[];
  columns: Record<string, (number | null)[]>;
}

/** Ops that wait for asynchronous transfers: how long these took, from a peak of their link on.
 *
 * Below all of `least_gbs` they took `interval_us`.
 */
export interface Awaited {
  op: number[];
  interval_us: number[];
  least_gbs: number[][];
  took_us: number[][];
}

/** For each op the names of its groups, outermost first, as places in `names`.
 *
 * The work of `containers` is that of others in the list.
 */
export interface OpGroups {
  names: string[];
  containers: number[];
  module: number[][];
  layer: number[][];
  source: number[][];
  kernel: number[][];
  dtype: number[][];
  phase: number[][];
}

/** The shown parts of names, aligned with ops: a `short` name of `None` is the name itself.
 *
 * All short names begin with `prefix`, which is left out of each; `source_prefix` is the folder of
 * all source files.
 */
export interface OpNames {
  short: (string | null)[];
  chips: string[][];
  prefix: string;
  source_prefix: string;
}

/**  */
export interface Views {
  in: SentView;
  out: SentView;
}

/** One state of the infeed switch: `op` has indices into `ops`, by self time. */
export interface SentView {
  op: number[];
  columns: Record<string, any[]>;
  total_time_per_core_us: number | null;
  known_time_ratio: Record<"flop" | "bytes" | "both", number | null>;
  share_is_least: boolean;
  beyond: Beyond;
  program: SentProgram;
  verdict: Lines;
  categories: CategoryShare[];
}

/** Ops that are not listed. */
export interface Beyond {
  ops: number;
  share_ratio: number | null;
}

/** Program points as columns. */
export interface SentProgram {
  count: number;
  columns: Record<string, any[]>;
}

/** The first lines: `do_first` is the beginning of `lead`. */
export interface Lines {
  headline: Segment[];
  do_first: Segment[];
  lead: Segment[];
}

/** A piece of a sentence: `text`, or a raw `value` with its `unit`.
 *
 * `token` is the colour of a bound, `filter` the view state that a link sets. A number that a
 * headline writes has its kind (`quantity`, "length" or "floor") and its `raw` value, in us or as
 * a ratio.
 */
export interface Segment {
  kind: "plain" | "strong" | "caution" | "bound" | "link";
  text?: string;
  value?: number;
  unit?: string;
  token?: string;
  filter?: Record<string, any>;
  quantity?: string;
  raw?: number;
}

/** One category of a view: its place in `categories`, ops and time. */
export interface CategoryShare {
  category: number;
  ops: number;
  self_time_us: number | null;
  share_ratio: number | null;
  efficiency_ratio: number | null;
}

/** Hosts that can be shown alone, and the one that is; "" for all. */
export interface Hosts {
  names: string[];
  shown: string;
}

/** The clock that ran ÷ the default one, and whether peaks follow it. */
export interface Dvfs {
  scale: number;
  is_applied: boolean;
}

/** Steps of a language-model server: a column per phase and batch, a row per figure.
 *
 * The id of a phase is its address as a subject, such as "serving:decode.32".
 */
export interface Serving {
  phases: Named[];
  figures: ServingFigure[];
  note: string;
}

/** Whatever has an id and a name for people. */
export interface Named {
  id: string;
  label: string;
}

/** A row of the card of a server: its value in each phase, and what it means. */
export interface ServingFigure {
  id: string;
  label: string;
  unit: string;
  help: string;
  values: (number | null)[];
}

/** The time of the subject by resource; the parts add up to the total. */
export interface Budget {
  total_us: number;
  floor_us: number;
  parts: BudgetPart[];
}

/** One part of the time: "below_roof.hbm", "exposed.ici", "idle" … */
export interface BudgetPart {
  id: string;
  label: string;
  time_us: number;
}

/** The time of the subject by groups; rows of a list, `waits` and `unnamed_us` add up to it.
 *
 * `by` is the grouping that a page opens with, `None`: the ops themselves. Texts of times are in
 * `unit`. `note` says how to record what tells layers apart.
 */
export interface Groups {
  by: string | null;
  unit: string;
  lists: GroupList[];
  waits: Record<string, number>;
  waiting_title: string;
  unnamed_us: number;
  layers: LayerInstances[];
  note: string;
}

/** One grouping: its rows, those that take longest first; the last one may be all others.
 *
 * `shown` rows stand for all at first, and `more` for the rest; `None`: there is none. `waiting`
 * is the time of all waits as a text.
 */
export interface GroupList {
  id: string;
  label: string;
  rows: GroupRow[];
  waiting: string;
  shown: number;
  more: GroupRow | null;
}

/** The work of a group of ops in the subject, in us: four parts that add up to `time_us`.
 *
 * `wasted_us` is a part of `to_gain_us`; `gain_us` is what of it may go. `bound` is a place in
 * `bounds`. A `path` that ends with "" has the ops of no deeper group; that of several groups in
 * one row is empty. `cells` are its time, share of the roof and gain as texts, `title` all of it.
 */
export interface GroupRow {
  name: string;
  title: string;
  cells: string[];
  path: string[];
  op_count: number;
  time_us: number;
  needed_us: number;
  to_gain_us: number;
  wasted_us: number | null;
  unknown_us: number;
  impossible_us: number;
  gain_us: number;
  roof_ratio: number | null;
  known_ratio: number | null;
  bound: number;
  groups: GroupRow[];
}

/** All instances of a module in their order; `line` is what there is to say.
 *
 * `rest` is the time of all other work.
 */
export interface LayerInstances {
  name: string;
  direction: string;
  line: string;
  stands_out: boolean;
  instances: LayerInstance[];
  rest: string;
  rest_us: number;
}

/** One instance of a module; `median_ratio`: its time by that of those of equal work.
 *
 * `group` is the group of ops that it is in the grouping by layer, empty where ops are of all.
 */
export interface LayerInstance {
  name: string;
  text: string;
  group: string[];
  time_us: number;
  median_ratio: number | null;
}

/** The use of the cores in slices of time; `edges_us` has one more than bins.
 *
 * `range` is the part of the capture that all numbers are of; `None`: the whole.
 */
export interface TimeStrip {
  edges_us: number[];
  steps: StripStep[];
  kinds: (Record<"id" | "label" | "token", string>)[];
  lanes: Lane[];
  range: number[] | null;
}

/** A step of the capture's time. */
export interface StripStep {
  label: string;
  begin_us: number;
  end_us: number;
}

/** Percent of each bin, by kind; the first lane is the mean of all cores. */
export interface Lane {
  name: string;
  parts: Record<string, number[]>;
}

/** One entry per kind of transfer, by the op that waits for it. */
export interface Transfers {
  op: number[];
  start: (number | null)[];
  kind: string[];
  link: (string | null)[];
  group_size: (number | null)[];
  bytes: (number | null)[];
  time_us: (number | null)[];
  exposed_us: (number | null)[];
  achieved_gbs: (number | null)[];
  is_least: boolean[];
}

/** A note on the capture; `filter` is the view state that lists the ops it is about. */
export interface Diagnostic {
  severity: "error" | "warning" | "info";
  code: string;
  message: string;
  remedy: string;
  count: number;
  filter: Record<string, any> | null;
}

/** The charts of the page, as `GET /api/v1/profiles/{id}/figures` draws them anew, too. */
export interface Figures {
  op: Figure;
  program: Figure;
  links: Figure;
  gain: Gain | null;
}

/** The chart "Time to gain": `by` is the choice that a page opens with.
 *
 * `has_work` is true where the little work has a strip of its own. `equation` are the parts of the
 * time, which add up as printed to `total`. `picture` is the chart as a small `svg`, by `by`.
 */
export interface Gain {
  title: string;
  by: "op" | "group";
  op: GainChart;
  group: GainChart | null;
  group_label: string;
  total: string;
  equation: GainTerm[];
  has_work: boolean;
  picture: string;
}

/** The chart by one choice of blocks; `customdata` of its marks are places in `blocks`. */
export interface GainChart {
  figure: Figure;
  blocks: BlockWords[];
}

/** A block of the chart: what its card says, and its `ops` as rows of the page.
 *
 * `count` is how many operations it has, listed or not; `key` what it is a part of: "work",
 * "unknown", "impossible", "plain", "links", "transfers", "input", "host_wait", "unknown_wait".
 */
export interface BlockWords {
  name: string;
  lines: string[];
  ops: number[];
  count: number;
  key: string;
  gain_us: number;
}

/** One term of the equation: `part` is the filter of its operations, "" where none is listed.
 *
 * `amount` is in the unit of the subject's length; with the other terms it adds up to it, as
 * printed.
 */
export interface GainTerm {
  part: string;
  texture: string;
  amount: string;
  label: string;
  time_us: number;
  idle_ratio?: number;
}

/** The details of one op, which are read when it is opened; IDLE has names alone.
 *
 * `compute_range` is the share of the compute roof with its two ends, where the op's unit is not
 * known; `why` says why no unit is busier. `counted` says how another file of the program counted
 * the op. `roofline replay LINK` and the words of `replay` run it alone.
 */
export interface OpDetails {
  name: string;
  long_name: string;
  source_file?: string;
  source_line?: number | null;
  source_stack: string[];
  program_id?: string | null;
  program?: string;
  path?: string;
  shapes?: Record<"operands" | "results", string[]> | null;
  dtypes?: string[];
  producers?: string[];
  replica_groups?: string;
  group_size?: number | null;
  ceilings?: CeilingShare[];
  why?: string;
  compute_range?: string;
  counted?: string;
  replay?: string;
  launch_count?: number;
  launches?: Launch[];
  launch_times?: LaunchTimes;
}

/** How much of an op's time one unit was busy, and useful. */
export interface CeilingShare {
  label: string;
  token: string;
  busy_ratio: number;
  useful_ratio: number | null;
}

/** One launch of an op, where the profiler measured them one by one. */
export interface Launch {
  detail: string;
  time_us: number | null;
  flop: number | null;
  bytes: Record<string, number | null>;
}

/** Percentiles of an op's launches: of their times, and of the bandwidth that they reach. */
export interface LaunchTimes {
  count: number;
  p50_us: number;
  p90_us: number;
  p99_us: number;
  p95_gibs?: number;
}
