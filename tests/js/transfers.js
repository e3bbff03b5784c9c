// A page with transfers over links, for tests.

import { level, memoryRoof, pageWith } from "./builders.js";
import { createModel } from "../../static/js/state/model.js";

/** Two reductions over ICI, the start of the second, and one over a link that is not known. */
export function modelWithTransfers() {
  const page = pageWith([
    ["all-reduce", "all-reduce", "HBM", "transfer", 0.3],
    ["all-reduce-done", "all-reduce-done", "HBM", "transfer", 0.2],
    ["all-reduce-start", "all-reduce-start", "HBM", "transfer", 0.1],
    ["mystery", "all-reduce", "HBM", "transfer", 0.1],
    ["fusion", "fusion", "HBM", "known", 0.3, 10, 100],
  ]);
  const ici = { ...level("ici", "ICI"), is_main: false, is_link: true };
  page.levels = [...page.levels, ici];
  page.roofs.memory.push(memoryRoof(100, { id: "ici", label: "ICI", origin: "catalogue" }));
  Object.assign(page.ops.columns, {
    link: ["ici", "ici", "ici", null, null],
    is_start: [0, 0, 1, 0, 0],
    roofline_efficiency_ratio: [0.44, 1.5, null, null, 0.5],
    ici_bandwidth_gibs: [41, 140, null, null, null],
    link_bytes: [64.4e9, 1e9, null, null, null],
    exposed_us: [1_460_000, 0, null, 4_000, null],
  });
  page.transfers = {
    op: [0, 1],
    start: [null, 2],
    kind: ["all-reduce", "all-reduce"],
    link: ["ici", "ici"],
    group_size: [2, 4],
    bytes: [64.4e9, 1e9],
    time_us: [1_460_000, 10],
    exposed_us: [1_460_000, 0],
    achieved_gbs: [44.1, 150],
    is_least: [false, true],
  };
  return createModel(page);
}
