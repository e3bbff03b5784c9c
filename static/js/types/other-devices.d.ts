// `GET …/parts`: what the subject would take on other parts, in us per unit and core.

import type { ComputeRoof, Measure, MemoryRoof } from "./page-data.js";

/** The subject on one part. */
export interface DeviceLine {
  name: string;
  /** null: less than half of the time is covered. */
  time_us: Measure;
  change_us: Measure;
  covered_ratio: number;
  bound: string;
  /** Time, change, bound and cover as cells. */
  texts: string[];
  notes: string[];
}

export interface PartLine extends DeviceLine {
  id: string;
}

export interface OnDevice extends PartLine {
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
  usual: PartLine[];
}

/** A device beside the profile's own, with its line. */
export interface Other extends OnDevice {
  token: string;
  dash: string;
}
