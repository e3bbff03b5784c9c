// The page data of a run of hosts (`exports/run_page.py`), and what the page makes of it. Times are us
// per core; null is not known. A packed column is base64 of little-endian 32-bit floats, NaN not known.

import type { ChartFigure } from "./figure.js";

export type PackedColumn = string;

export interface CollectiveData {
  name: string;
  kind: string;
  group: string;
  ranks: number;
  instances: number | null;
  transfer_us: number;
  mean_wait_us: number;
  wait_is: string;
  waited_for: string;
}

export interface DeviationData {
  name: string;
  category: string;
  time_us: number;
  representative_us: number;
}

export interface RunData {
  hosts: {
    names: string[];
    states: number[];
    reasons: Record<string, string>;
    wait_is: string | null;
    step_us: PackedColumn;
    work_us: PackedColumn;
    wait_us: PackedColumn;
    ratio: PackedColumn;
    score: PackedColumn;
    slow_steps: PackedColumn;
    bandwidth_gbs: PackedColumn;
    chips: { counts: number[]; ratio: PackedColumn; slow: number[]; names: string[] };
  };
  outliers: { at: number; kind: string; sentence: string }[];
  deviations: Record<string, DeviationData[]>;
  step_us: number | null;
  representative: number;
  ops: {
    names: string[];
    categories: string[];
    max_host: number[];
    total: number;
    lost_us: PackedColumn;
    gflops: PackedColumn;
    intensity: PackedColumn;
    min_us: PackedColumn;
    median_us: PackedColumn;
    p95_us: PackedColumn;
    max_us: PackedColumn;
    imbalance_ratio: PackedColumn;
  };
  steps: {
    labels: string[];
    critical: number[];
    max_us: PackedColumn;
    min_work_us: PackedColumn;
    median_work_us: PackedColumn;
    p95_work_us: PackedColumn;
    max_work_us: PackedColumn;
  };
  collectives: CollectiveData[];
  styles: Record<string, { token: string; symbol: string } | undefined>;
  /** Of each host a digit, 0 (fastest) to 8 (slowest); "-": not known, "x": not read. */
  shades: Record<MetricId, string>;
  histograms: Record<MetricId, ChartFigure>;
  figures: { steps: ChartFigure; roofline: ChartFigure };
  arriving: { read: number; total: number } | null;
}

export interface ChipRow {
  name: string;
  ratio: number | null;
  isSlow: boolean;
}

export interface HostRow {
  key: string;
  at: number;
  name: string;
  state: "read" | "no accelerator" | "unreadable" | "another program";
  reason: string;
  step: number | null;
  ratio: number | null;
  work: number | null;
  wait: number | null;
  bandwidth: number | null;
  score: number | null;
  slowSteps: number;
  chips: ChipRow[];
  kind: string;
  sentence: string;
  critical: number;
  deviations: DeviationData[];
}

export interface RunOp {
  key: string;
  name: string;
  category: string;
  gflops: number | null;
  intensity: number | null;
  minUs: number;
  medianUs: number;
  p95Us: number;
  maxUs: number;
  imbalance: number | null;
  lostUs: number;
  worst: string;
}

export interface RunStep {
  key: string;
  name: string;
  lengthUs: number;
  least: number;
  middle: number;
  p95: number;
  most: number;
  critical: string;
}

export interface RunCollective extends CollectiveData {
  key: string;
}

export type MetricId = "ratio" | "work" | "wait" | "bandwidth";

export interface RunModel {
  hosts: HostRow[];
  ops: RunOp[];
  steps: RunStep[];
  collectives: RunCollective[];
  totalOps: number;
  medians: Record<MetricId, number | null>;
  waitIs: string | null;
  representative: string;
  stepUs: number | null;
  shades: RunData["shades"];
  histograms: RunData["histograms"];
  figures: RunData["figures"];
  styles: RunData["styles"];
  isArriving: boolean;
}

export type RunTab = "ops" | "collectives" | "steps" | "hosts";

export interface RunState {
  host: string;
  metric: MetricId;
  tab: RunTab;
  sort: string;
  q: string;
  page: number;
}
