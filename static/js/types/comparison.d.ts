// The answer of `GET /api/v1/compare/page`. Times are us per unit and core; null is not known.

import type { Bound } from "./page-data.js";

/** Changes of time in us by term, those of a pair or of the whole. */
export type Terms = Record<string, number>;

export interface SideData {
  time_us: number;
  calls: number;
  flop_per_call: number | null;
  bytes_per_call: number | null;
  main_memory_bytes_per_call: number | null;
  roofline_efficiency_ratio: number | null;
  bound_by: string | null;
  source: string;
}

export interface PairData {
  a: string;
  b: string;
  tier: string;
  change_us: number;
  terms: Terms;
  a_names: string[];
  b_names: string[];
  category: string;
  path: string;
  a_side: SideData;
  b_side: SideData;
}

export interface GroupData {
  scope: string;
  a: string[];
  b: string[];
  category: string;
  change_us: number;
  terms: Terms;
  a_sides: SideData[];
  b_sides: SideData[];
}

export interface OnlyData extends SideData {
  name: string;
  category: string;
  path: string;
}

export interface CaptureTimes {
  labels: string[];
  time_us: number[];
  chosen: number;
  middle_half_us: [number, number] | null;
}

export type DrawnBound = Pick<Bound, "label" | "kind" | "token" | "dash">;

export interface Labelled {
  id: string;
  label: string;
}

export interface CategoryLook {
  name: string;
  token: string;
  symbol: string;
}

export interface PageWords {
  /** "a step", "an execution", "in the capture" */
  per: string;
  terms: Labelled[];
  tiers: Labelled[];
  styles: Record<string, CategoryLook>;
  bounds: Record<string, DrawnBound>;
}

export interface Comparison {
  unit: "step" | "execution" | "capture";
  /** Units that all captures have, the best first. */
  units: string[];
  a_us: number;
  b_us: number;
  change_us: number;
  terms: Terms;
  matched: Record<string, number>;
  ops: PairData[];
  groups: GroupData[];
  only_a: OnlyData[];
  only_b: OnlyData[];
  verdict: { state: string; headline: string; lead: string };
  comparable: boolean;
  categories: { category: string; change_us: number }[];
  captures: { a: CaptureTimes; b: CaptureTimes };
  tested: { ratio: number; p: number; low: number | null; high: number | null } | null;
  page: PageWords;
}

/** A row of the tables and a place on the chart: a pair, a group, or an op of one run. */
export interface ChangeRow {
  key: string;
  kind: "pair" | "group" | "a" | "b";
  /** Its name; "a → b" where the names differ. */
  name: string;
  /** The text that a search looks through. */
  searched: string;
  category: string;
  path: string;
  tier: string;
  a: RowSide | null;
  b: RowSide | null;
  changeUs: number;
  terms: Terms;
}

/** A side of a row: for a group all of its ops together. */
export interface RowSide {
  names: string[];
  timeUs: number;
  calls: number;
  /** All of the row's in the unit; null where one of its ops is not known. */
  flop: number | null;
  /** Bytes of the main memory, likewise. */
  bytes: number | null;
  efficiency: number | null;
  bound: string | null;
  source: string;
}

export type TabId = "changed" | "same" | "groups" | "only-a" | "only-b";

/** The reader's choices; all of it is in the address. */
export interface CompareState {
  tab: TabId;
  /** Column, "-" first for descending. */
  sort: string;
  q: string;
  page: number;
}
