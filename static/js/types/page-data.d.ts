// How the browser reads the documents of contract.d.ts: columns have types by their ids, and program
// points are objects. The end of a name is its unit.

import type * as Sent from "./contract.js";

export type * from "./contract.js";

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

export type Origin = Sent.MemoryRoof["origin"];
export type LineStyle = Pick<Sent.Bound, "token" | "dash">;

export interface Level extends Omit<Sent.Level, "columns"> {
  columns: {
    bandwidth: `${string}_gibs`;
    intensity: `${string}_intensity`;
    utilisation: `${string}_ratio`;
  };
}

export interface WorkUnit extends Omit<Sent.WorkUnit, "columns"> {
  columns: { rate: `${string}_gflops`; utilisation: `${string}_ratio` };
}

export interface Clock extends Omit<Sent.Clock, "column"> {
  column: `${string}_us`;
}

export interface Column extends Omit<Sent.Column, "unit"> {
  unit: Unit;
}

/** How the rates of an op were obtained; only listed where some op has no time. */
export type Timing = "measured" | "rate" | "predicted";

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
  gain_us: Measure[];
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

/** The view state that a link of the verdict, or "Show" beside a diagnostic, sets. */
export type Filter = Record<string, unknown>;

export type SegmentKind = Sent.Segment["kind"];

export interface Segment extends Omit<Sent.Segment, "filter" | "quantity"> {
  filter?: Filter;
  quantity?: Quantity;
}

export interface Diagnostic extends Omit<Sent.Diagnostic, "filter"> {
  filter: Filter | null;
}

/** The numbers of a subject that sentences mark. */
export type Quantity = "length" | "floor" | "roof_share" | "idle" | "saving";

/** Sentences by name, cut into parts. */
export type Templates = Record<string, (string | Sent.Styled)[]>;

/** The first lines: `do_first` is the beginning of `lead`. */
export type Lines = Record<"headline" | "do_first" | "lead", Segment[]>;

interface ViewData<Program> extends Omit<Sent.SentView, "columns" | "program" | "verdict"> {
  /** Aligned with `op`. */
  columns: { rank: number[]; self_share_ratio: Measure[]; [id: string]: Measure[] | undefined };
  program: Program;
  verdict: Lines;
}

export type SentView = ViewData<Sent.SentProgram>;
export type PageView = ViewData<ProgramPoint[]>;

export type Obtained = "measured" | "modelled" | "estimated" | "stated";
export type Provenance = Sent.Profile["provenance"];

/** Keys that documents of earlier releases lack. */
type Later = "subject" | "verdict" | "clocks" | "serving" | "timeline" | "budget" | "transfers";
type Narrowed = "levels" | "units" | "clocks" | "columns" | "program_columns" | "diagnostics";

interface PageOf<View>
  extends
    Omit<Sent.SentPage, Later | Narrowed | "ops" | "views">,
    Partial<Pick<Sent.SentPage, Exclude<Later, "clocks">>> {
  levels: Level[];
  units: WorkUnit[];
  clocks?: Clock[];
  columns: Column[];
  program_columns: Column[];
  diagnostics: Diagnostic[];
  ops: Pick<Sent.Ops, "count" | "predictions" | "awaited"> &
    Partial<Pick<Sent.Ops, "groups" | "names">> & { columns: OpColumns };
  views: { in: View; out: View };
  /** Of the page, as HTML, by the names of their places. */
  pieces: Record<string, string>;
}

/** As sent: program points as columns. */
export type SentPage = PageOf<SentView>;
/** `GET …/facts` and `GET …/view`: keys and columns of the page data in two documents. */
export type Facts = Partial<Omit<SentPage, "ops" | "views">> & {
  ops: { columns: object };
  views: object;
};
export type ViewOfPeaks = Facts;
/** As the page uses it: program points as objects. */
export type Page = PageOf<PageView>;
