// `GET …/parts`: the same program on other devices, per core, in us.

import type { ComputeRoof, Measure, MemoryRoof } from "./page-data.js";

/** The program on one device, over the operations whose bound is known there. */
export interface DeviceLine {
  name: string;
  bound_us: number;
  estimate_us: number;
  measured_us: number;
  covered_ratio: number;
  limits: { label: string; ratio: number }[];
  /** Operations that something else binds there. */
  changed: { ops: number; share_ratio: number };
  notes: string[];
}

export interface OnDevice extends DeviceLine {
  id: string;
  /** Its main memory's roof; null: not known. */
  memory: MemoryRoof | null;
  /** Its roof of the unit that is the main one here, else its own main one; null: not known. */
  compute: ComputeRoof | null;
  /** Least time per op; null: not known. */
  us: Measure[];
  /** Index into `bounds` per op. */
  bound_by: number[];
}

export interface OnParts {
  here: DeviceLine;
  devices: OnDevice[];
}

/** A device beside the profile's own, with its line. */
export interface Other extends OnDevice {
  token: string;
  dash: string;
}
