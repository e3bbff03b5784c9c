// The list of known devices, as docs/devices-data.md describes it. Rates in GFLOP/s and GB/s (1e9) per profiler device.

import type { Sustained } from "./page-data.js";

export interface KnownPeak {
  label: string;
  /** Key of `sources`. */
  source: string;
  note: string;
}

export interface KnownRate extends KnownPeak {
  unit: string;
  gflops: number;
}

export interface KnownBandwidth extends KnownPeak {
  level: string;
  gbs: number;
}

export interface KnownDevice {
  id: string;
  name: string;
  vendor: string;
  kind: string;
  aliases: string[];
  /** The word for one profiler device. */
  scope: string;
  devices_per_chip: number;
  memory_bytes: number | null;
  /** The main memory; null where its bandwidth is not known. */
  main_level: string | null;
  compute: KnownRate[];
  /** The shares of the matrix unit's rates that programs reach; `source` is a key of `sources`. */
  sustained_matrix: Sustained | null;
  /** Compute units that it does not have. */
  absent: string[];
  memory: KnownBandwidth[];
  /** One way; of ICI, one link. */
  links?: KnownBandwidth[];
  /** Per chip: bytes that a memory needs under way for its whole bandwidth. */
  in_flight?: { level: string; latency_ns: number; bytes: number; source: string }[];
}

export interface DeviceList {
  sources: Record<string, { title: string }>;
  devices: KnownDevice[];
}
