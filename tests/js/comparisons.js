// Comparisons for tests: small, but with a pair, a class of twins, a group and ops of one run.

/** @import { ChangeRow, Comparison, PairData, RowSide, SideData } from "../../static/js/types/comparison.js" */

/** @param {Partial<SideData>} [given] @returns {SideData} */
export const sideData = (given = {}) => ({
  time_us: 10,
  calls: 2,
  flop_per_call: 1000,
  bytes_per_call: 100,
  main_memory_bytes_per_call: 100,
  roofline_efficiency_ratio: 0.5,
  bound_by: "hbm",
  source: "model.py:3",
  ...given,
});

/** @param {string} name @param {number} from @param {number} to @param {Partial<PairData>} [given] @returns {PairData} */
export const pair = (name, from, to, given = {}) => ({
  a: name,
  b: name,
  tier: "1",
  change_us: to - from,
  terms: { calls: 0, work: 0, traffic: to - from, peaks: 0, closeness: 0, unknown: 0 },
  a_names: [name],
  b_names: [name],
  category: "loop fusion",
  path: `jit(f)/${name}`,
  a_side: sideData({ time_us: from }),
  b_side: sideData({ time_us: to }),
  ...given,
});

/** @param {Partial<Comparison>} [given] @returns {Comparison} */
export const comparison = (given = {}) => ({
  unit: "step",
  units: ["step", "capture"],
  a_us: 1000,
  b_us: 900,
  change_us: -100,
  terms: { traffic: -110, new: 10, idle: 0 },
  matched: { 1: 0.9, only: 0.1 },
  ops: [pair("mul", 200, 100), pair("add", 50, 40), pair("same", 30, 30)],
  groups: [
    {
      scope: "jit(f)/mlp",
      a: ["x", "y"],
      b: ["z"],
      category: "loop fusion",
      change_us: 0,
      terms: { regrouped: 0, closeness: 0 },
      a_sides: [sideData(), sideData({ flop_per_call: null })],
      b_sides: [sideData({ time_us: 20 })],
    },
  ],
  only_a: [],
  only_b: [{ ...sideData(), name: "fresh", category: "copy", path: "" }],
  verdict: { state: "less", headline: "", lead: "" },
  comparable: true,
  categories: [],
  captures: {
    a: { labels: ["A"], time_us: [1000], chosen: 0, middle_half_us: null },
    b: { labels: ["B"], time_us: [900], chosen: 0, middle_half_us: null },
  },
  tested: null,
  page: {
    per: "a step",
    terms: [],
    tiers: [],
    styles: {},
    bounds: {},
  },
  ...given,
});

/** @param {Partial<RowSide>} [given] @returns {RowSide} */
export const rowSide = (given = {}) => ({
  names: ["op"],
  timeUs: 10,
  calls: 1,
  flop: 1e6,
  bytes: 1e4,
  efficiency: null,
  bound: null,
  source: "",
  ...given,
});

/** @param {string} key @param {Partial<ChangeRow>} [given] @returns {ChangeRow} */
export const changeRow = (key, given = {}) => ({
  key,
  kind: "pair",
  name: key,
  searched: key,
  category: "copy",
  path: "",
  tier: "1",
  a: rowSide(),
  b: rowSide(),
  changeUs: 0,
  terms: {},
  ...given,
});
