// The choices of a visitor: all of them are in the address.

import type { Infeed } from "./model.js";
import type { Pin } from "./pins.js";

/** x0, x1, y0, y1 as log10. */
export type Box = [number, number, number, number];

/** GFLOP/s and GB/s by compute unit ("compute": the main one) or memory level. */
export type PeaksByKey = Readonly<Record<string, number>>;

/** The keys of groups of ops. */
export type GroupBy =
  "module" | "layer" | "source" | "category" | "program" | "kernel" | "dtype" | "phase" | "bound";

export interface ViewState {
  /** With or without infeed and outfeed. */
  infeed: Infeed;
  /** Substring, or /regex/. */
  q: string;
  /** What the server was asked to find beside the longest operations, as a query; not in the address. */
  listing: string;
  /** Category names; empty means all. */
  cat: readonly string[];
  /** Bound ids; empty means all. */
  bound: readonly string[];
  /** A part of the budget, or a kind of parts ("below_roof"); null means all. */
  part: string | null;
  /** The id of the finding whose operations are shown; null means all. */
  finding: string | null;
  /** The grouping of the time; null: the profile's usual one. */
  by: GroupBy | null;
  /** The id of the group whose ops are shown; null means all. */
  group: string | null;
  /** Ids of the groups that are open. */
  open: readonly string[];
  /** Least share of time, percent. */
  min: number;
  /** Keep the longest ops that make this percent of the time. */
  cover: number;
  /** Selected rectangle of the chart. */
  box: Box | null;
  /** X axis id. */
  x: string;
  /** The height of a point: its FLOP rate, or its share of its own roof. */
  y: "rate" | "share";
  roofs: "auto" | "all" | "none";
  /** Key of the one compute roof that is drawn; null: those in use. */
  prec: string | null;
  /** The meaning of the marker area. */
  size: "time" | "equal";
  /** The content of the automatic range. */
  fit: "time" | "all";
  zoom: Box | null;
  /** Selected op, an index into `ops`. */
  op: number | null;
  /** Ops of which the sum is shown, indices into `ops`. */
  sel: readonly number[];
  /** Pinned operations and program points, with their notes. */
  pins: readonly Pin[];
  /** Selected program point, its label. */
  step: string | null;
  /** Column id, "-" first for descending. */
  sort: string;
  /** Shown columns; empty means the page's default. */
  cols: readonly string[];
  /** Shown columns of the program and its steps; empty means all. */
  pcols: readonly string[];
  /** The part of the capture's time that the page is of, in us from its begin; null: to its ends. */
  from_us: number | null;
  to_us: number | null;
  /** The host that the page is of; null: all. */
  host: string | null;
  /** Whether peaks are those at the clock that ran. */
  dvfs: "on" | "off";
  /** The subject that the first sentences and the advice are of; null: the default one. */
  of: string | null;
  tab: "ops" | "timeline" | "hardware" | "details" | null;
  /** First is 1. */
  page: number;
  /** Device whose peaks count instead of the profile's. */
  dev: string | null;
  /** Peaks set by hand. */
  peaks: PeaksByKey;
  /** Other devices to compare with. */
  vs: readonly string[];
}
