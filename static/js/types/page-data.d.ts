// The data of one profile's page, as docs/page-data.md describes them. The end of a name is its unit.

import type { ChartFigure } from "./figure.js";

export type Value = string | number | null;
/** `null`: not measured, which is not 0. */
export type Measure = number | null;

/** A measure that may not be there at all. */
export type Maybe = Measure | undefined;

/**
 * Columns of rates in GFLOP/s and GiB/s, times in µs, intensities in FLOP/byte, ratios as
 * fractions.
 */
export type MeasureId =
  | `${string}_us`
  | `${string}_gflops`
  | `${string}_gops`
  | `${string}_gibs`
  | `${string}_intensity`
  | `${string}_ratio`;

/** Columns whose values are numbers. */
export type NumberId = MeasureId | "rank" | "occurrences" | "compute_unit";

/** The type of the values in a column of this id. */
export type ValueOf<Id extends string> = Id extends NumberId ? Measure : Value;

export type Unit =
  | "text"
  | "count"
  | "time_us"
  | "gflops"
  | "gops"
  | "gibs"
  | "gbs"
  | "flop_per_byte"
  | "ratio"
  | "bytes"
  | "bound"
  | "roof"
  | "category"
  | "cost"
  | "cause"
  | "source"
  | "program";

export type Origin = "profile" | "measured" | "catalogue" | "calibrated" | "user";

export interface LineStyle {
  /** Name of a CSS custom property. */
  token: string;
  dash: string;
}

/** The shares of a roof that programs reach; `ratio` is the upper end. */
export interface Sustained {
  low_ratio: number;
  ratio: number;
  source: string;
}

export interface ComputeRoof extends LineStyle {
  id: string;
  /** Compute unit; null: all work counts against it. */
  unit: string | null;
  covers: string[];
  label: string;
  gflops: number;
  origin: Origin;
  source: string;
  /** null: not known, or the peak itself was measured. */
  sustained: Sustained | null;
}

export interface MemoryRoof extends LineStyle {
  id: string;
  label: string;
  gibs: number;
  /** The slope: GFLOP/s = FLOP/byte × GB/s. */
  gbs: number;
  ridge_flop_per_byte: Measure;
  origin: Origin;
  source: string;
  sustained: Sustained | null;
}

export interface Roofs {
  /** The main one first. */
  compute: ComputeRoof[];
  /** Outermost first. */
  memory: MemoryRoof[];
}

/** A memory level of the profile. */
export interface Level extends LineStyle {
  id: string;
  label: string;
  /** Within a sentence. */
  spoken: string;
  is_main: boolean;
  /** It joins devices, or a device and its host. */
  is_link?: boolean;
  /** It has columns. */
  is_shown: boolean;
  peak_gibs: Measure;
  columns: {
    bandwidth: `${string}_gibs`;
    intensity: `${string}_intensity`;
    utilisation: `${string}_ratio`;
  };
}

/** A compute unit that work is split by. */
export interface WorkUnit {
  id: string;
  label: string;
  peak_gflops: Measure;
  columns: { rate: `${string}_gflops`; utilisation: `${string}_ratio` };
}

/** A resource that the work of ops takes time at. */
export interface Clock extends LineStyle {
  id: string;
  label: string;
  kind: "compute" | "memory" | "link";
  /** Of ops: work ÷ peak. */
  column: `${string}_us`;
}

export interface Bound extends LineStyle {
  id: string;
  label: string;
  /** The words for a program that it binds: "HBM-bound". */
  spoken: string;
  /** "link": a link, where it or its peak is not known. */
  kind: "flat" | "slanted" | "none" | "link";
  /** Memory level, where it is one. */
  level?: string;
}

export interface Axis {
  id: string;
  label: string;
  column: string;
}

export interface Column {
  id: string;
  label: string;
  unit: Unit;
  sub: string;
  default: boolean;
  help: string;
}

export interface Category {
  name: string;
  token: string;
  symbol: string;
}

/** How the rates of an op were obtained; only listed where some op has no time. */
export type Timing = "measured" | "rate" | "predicted";

/** Ops without a time, by index, and their rates if each took one second. */
export interface Predictions {
  op: number[];
  columns: Record<string, Measure[]>;
}

/** Ops that wait for asynchronous transfers: how long these took, from a peak of their link on. */
export interface Awaited {
  op: number[];
  /** Below all of `least_gbs`. */
  interval_us: number[];
  least_gbs: number[][];
  took_us: number[][];
}

export type Cost =
  "known" | "no_flops" | "flops_unknown" | "bytes_unknown" | "unknown" | "transfer" | "idle";

/** One array per column, an entry per op. */
export interface OpColumns {
  name: string[];
  /** Index into `categories`. */
  category: number[];
  /** Index into `bounds`. */
  bound_by: number[];
  cost: Cost[];
  timing?: Timing[];
  /** Id of the likely cause, where the op is above its roof. */
  above_roof?: (string | null)[];
  /** The cause above a compute roof, whatever the peaks. */
  compute_cause?: string[];
  memory_cause?: string[];
  /** Why cells of the op are empty that could have a rate, an intensity or a share. */
  not_shown?: (string | null)[];
  program_id?: (string | null)[];
  program?: string[];
  source?: string[];
  occurrences?: Measure[];
  /** Index into `roofs.compute`. */
  compute_unit?: Measure[];
  /** 1: the start of an asynchronous transfer, whose bytes move in the time of other ops. Listed where there are some. */
  is_start?: (0 | 1)[];
  /** 1: compute and memory need about as long. */
  at_ridge?: (0 | 1)[];
  /** Of transfers: the level id of their link, where that is known; bytes on the wire; time that a core only waited. */
  link?: (string | null)[];
  link_bytes?: Measure[];
  exposed_us?: Measure[];
  /** The part of the budget that owns its time: "work.hbm" is at and below that roof. */
  part?: (string | null)[];
  self_time_per_core_us: Measure[];
  saving_per_core_us: Measure[];
  flop_rate_gflops: Measure[];
  memory_bandwidth_gibs: Measure[];
  roofline_efficiency_ratio: Measure[];
  [id: MeasureId]: Measure[] | undefined;
  [id: string]: Value[] | undefined;
}

export type Scope = "total" | "total_hw" | "average" | "phase" | "step";

/** The whole program, its average step, or one step. */
export interface ProgramPoint {
  scope: Scope;
  label: string;
  /** 0 to 1 over the steps. */
  order: Measure;
  is_outlier: boolean;
  /** Rates are lower bounds: a part of the work is not known. */
  flop_is_least?: boolean;
  bytes_is_least?: boolean;
  /** Index into `bounds`. */
  bound_by: number;
  /** Index into `roofs.compute`. */
  compute_unit?: Measure;
  [id: MeasureId]: Measure | undefined;
  [id: string]: Value | boolean | undefined;
}

export interface SentProgram {
  count: number;
  columns: Record<string, (Value | boolean)[]>;
}

/** The view state that a link of the verdict, or "Show" beside a diagnostic, sets. */
export type Filter = Record<string, unknown>;

export type SegmentKind = "plain" | "strong" | "bound" | "link" | "caution";

/** A sentence is cut into segments where its style changes: a text, or a raw number. */
export interface Segment {
  kind: SegmentKind;
  text?: string;
  value?: number;
  unit?: string;
  token?: string;
  filter?: Filter;
  /** Which number of the subject it is, and its value in us or as a ratio, with all digits. */
  quantity?: Quantity;
  raw?: number;
}

/** The numbers of a subject that sentences mark. */
export type Quantity = "length" | "floor" | "roof_share" | "idle" | "saving";

/** A part of a template that is not plain text: a text, or a slot to be filled. */
export interface Styled {
  kind: SegmentKind;
  text?: string;
  slot?: string;
  /** The filling starts with a capital letter. */
  is_first?: boolean;
  /** The word that follows the count in the slot. */
  one?: string;
  many?: string;
}

/** Sentences by name, cut into parts. */
export type Templates = Record<string, (string | Styled)[]>;

export interface Words {
  sentences: Templates;
  /** Labels by id. */
  costs: Record<string, string>;
  causes: Record<string, string>;
}

/** The first lines: `do_first` is the beginning of `lead`. */
export interface Lines {
  headline: Segment[];
  do_first: Segment[];
  lead: Segment[];
}

/** What all numbers of the first lines are of; docs/subject.md. Times are in us per unit and core. */
export interface Subject {
  of: string;
  kind: "host" | "serving" | "range" | "step" | "capture" | "kernels";
  label: string;
  unit_word: string;
  count: number;
  cores: number;
  host: string | null;
  time_us: number;
  floor_us: Measure;
  gain_us: Measure;
  roof_ratio: Measure;
  known_ratio: Measure;
  idle_ratio: Measure;
  outside_us: Measure;
  class: string;
  ceiling: string | null;
  first: { finding: string; title: string; saving_us: Measure } | null;
  parts: { [part: string]: Measure | Record<string, number> };
  outside: { before_us: Measure; after_us: Measure };
  not_found: string | null;
}

export interface CategoryShare {
  category: number;
  ops: number;
  self_time_us: Measure;
  share_ratio: Measure;
  efficiency_ratio: Measure;
}

interface ViewData<Program> {
  /** Indices into `ops`, by self time. */
  op: number[];
  /** Aligned with `op`. */
  columns: { rank: number[]; self_share_ratio: Measure[]; [id: string]: Measure[] | undefined };
  total_time_per_core_us: Measure;
  /** Shares of the busy time whose work is known. */
  known_time_ratio: { flop: number; bytes: number; both: number };
  /** The program's share of its roof is a lower bound. */
  share_is_least: boolean;
  beyond: { ops: number; share_ratio: Measure };
  program: Program;
  verdict: Lines;
  categories: CategoryShare[];
}

export type SentView = ViewData<SentProgram>;
export type PageView = ViewData<ProgramPoint[]>;

export interface ProfileFile {
  name: string;
  size_bytes: Measure;
  host: string;
  cores: Measure;
}

export type Obtained = "measured" | "modelled" | "estimated" | "stated";

export interface Provenance {
  flop: Obtained;
  bytes: Obtained;
}

export interface Profile {
  id: string;
  created_at: string;
  captured_at: string | null;
  format: string;
  limits: string[];
  provenance: Provenance;
  files: ProfileFile[];
}

export interface Comparison {
  id: string;
  label: string;
  unit: "gflops" | "gbs";
  profile: Measure;
  catalogue: number;
  ratio: Measure;
  explanation: string;
}

export interface DeviceField {
  id: string;
  label: string;
  value: Value;
  unit: string;
  origin: Origin | null;
  help: string;
}

export interface Device {
  name: string;
  kind: "tpu" | "gpu" | "cpu" | "unknown";
  core_word: string;
  cores: number;
  hosts: number;
  wall_time_us: Measure;
  steps: number;
  part: { id: string; name: string } | null;
  comparisons: Comparison[];
  fields: DeviceField[];
}

export interface Diagnostic {
  severity: "error" | "warning" | "info";
  code: string;
  message: string;
  remedy: string;
  count: number;
  filter: Filter | null;
}

/** One part of the time: "below_roof.hbm", "exposed.ici", "idle" … */
export interface BudgetPart {
  id: string;
  label: string;
  time_us: number;
}

/** Means over the cores; the parts add up to the total. */
export interface Budget {
  total_us: number;
  floor_us: number;
  parts: BudgetPart[];
}

/** One entry per kind of transfer. */
export interface Transfers {
  /** Index of the op that waits for it, and of the one that starts it where that is another. */
  op: number[];
  start: (number | null)[];
  kind: string[];
  /** Level id; null: not known. */
  link: (string | null)[];
  group_size: Measure[];
  bytes: Measure[];
  time_us: Measure[];
  exposed_us: Measure[];
  achieved_gbs: Measure[];
  /** The rate is a lower bound: the end was not observed. */
  is_least: boolean[];
}

/** The shown parts of the names of ops: aligned with them. */
export interface OpNames {
  /** null: the name itself. */
  short: (string | null)[];
  /** Element type, shape: what is worth a word beside the name. */
  chips: string[][];
  /** Left out of every short name: all begin with it. */
  prefix: string;
  /** Folder of all source files. */
  source_prefix: string;
}

/** For each op the names of its groups, outermost first, as places in `names`. */
export interface OpGroups {
  names: string[];
  /** Ops whose work is that of others in the list. */
  containers: number[];
  path: number[][];
  source: number[][];
  kernel: number[][];
  dtype: number[][];
  phase: number[][];
}

/** The use of the cores in slices of the capture's time. */
export interface TimeStrip {
  /** From 0, the begin of the capture; one more than bins. */
  edges_us: number[];
  steps: { label: string; begin_us: number; end_us: number }[];
  /** Kinds of time that occur; what they leave of a bin was empty. */
  kinds: { id: string; label: string; token: string }[];
  /** The first is the mean of all cores. `parts`: percent of each bin, by kind. */
  lanes: { name: string; parts: Record<string, number[]> }[];
  /** The part of the capture that all numbers are of; null: the whole. */
  range: [number, number] | null;
}

interface PageOf<View> {
  schema: number;
  profile: Profile;
  subject?: Subject;
  device: Device;
  roofs: Roofs;
  /** Outermost first. */
  levels: Level[];
  units: WorkUnit[];
  clocks?: Clock[];
  bounds: Bound[];
  words: Words;
  x_axes: Axis[];
  columns: Column[];
  program_columns: Column[];
  categories: Category[];
  ops: {
    count: number;
    columns: OpColumns;
    predictions?: Predictions;
    awaited?: Awaited;
    groups?: OpGroups;
    names?: OpNames;
  };
  views: { in: View; out: View };
  serving?: Serving | null;
  /** null: the profile has no bins of time. */
  timeline?: TimeStrip | null;
  /** Hosts that can be shown alone, and the one that is, "" for all; only of several. */
  hosts?: { names: string[]; shown: string };
  /** The clock that ran ÷ the default one, and whether peaks follow it; only where they differ. */
  dvfs?: { scale: number; is_applied: boolean };
  /** null: the profile has no events in time. */
  budget?: Budget | null;
  transfers?: Transfers;
  diagnostics: Diagnostic[];
  /** The charts as the page opens. */
  figures: Record<"op" | "program", ChartFigure>;
}

/** As sent: program points as columns. */
export type SentPage = PageOf<SentView>;
/** As the page uses it: program points as objects. */
export type Page = PageOf<PageView>;

/** One launch of an op, where the profiler measured them one by one. */
export interface Launch {
  detail: string;
  time_us: Measure;
  flop: Measure;
  bytes: Record<string, Measure>;
}

/** The server's details of one op, which are read when it is opened. */
export interface OpDetails {
  name: string;
  long_name: string;
  source_stack?: string[];
  path?: string;
  /** The share of the compute roof with its two ends, where the op's compute unit is not known. */
  compute_range?: string;
  shapes?: { operands: string[]; results: string[] } | null;
  dtypes?: string[];
  producers?: string[];
  replica_groups?: string;
  group_size?: number | null;
  ceilings?: CeilingShare[];
  /** Why no unit is busier, as the profiler measured it. */
  why?: string;
  launch_count?: number;
  launches?: Launch[];
}

/** How much of an op's time one unit was busy, and useful (null: unknown). */
export interface CeilingShare {
  label: string;
  token: string;
  busy_ratio: number;
  useful_ratio: number | null;
}

/** A column of the card of a server: how its values are written, and what it means. */
export interface ServingColumn {
  id: string;
  label: string;
  unit: string;
  help: string;
}

/** Steps of a language-model server: a row per phase and batch, in the order of the columns. */
export interface Serving {
  columns: ServingColumn[];
  rows: (string | number | null)[][];
  note: string;
}
