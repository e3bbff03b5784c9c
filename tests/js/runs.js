// Page data of a run of hosts for tests: four hosts, the third of which is slow, and one unreadable.

/** @import { ChartFigure } from "../../static/js/types/figure.js" */
/** @import { HostRow, RunData } from "../../static/js/types/run.js" */

/** A column as the server packs it; null is not known. @param {(number | null)[]} values */
export function packed(values) {
  const view = new DataView(new ArrayBuffer(4 * values.length));
  values.forEach((value, i) => view.setFloat32(4 * i, value ?? NaN, true));
  return btoa(String.fromCharCode(...new Uint8Array(view.buffer)));
}

/** @type {ChartFigure} */
const FIGURE = {
  id: "steps",
  data: [],
  layouts: /** @type {ChartFigure["layouts"]} */ ({}),
  marks: null,
  beyond: {},
  legend: [],
  alt: "",
};

/** @returns {RunData} */
export const runData = () => ({
  hosts: {
    names: ["a", "b", "c", "d", "e.pb"],
    states: [0, 0, 0, 0, 2],
    reasons: { 4: "cut off" },
    wait_is: "at least",
    step_us: packed([120, 120, 121, 120, null]),
    work_us: packed([100, 101, 108, 100, null]),
    wait_us: packed([9, 8, 0, 9, null]),
    ratio: packed([1, 1.001, 1.08, null, null]),
    score: packed([0, 0.2, 9, 0, null]),
    slow_steps: packed([0, 0, 2, 0, 0]),
    bandwidth_gbs: packed([500, 501, 470, 500, null]),
    chips: {
      counts: [2, 2, 2, 1, 0],
      ratio: packed([1, 1, 1, 1.001, 1.08, 1, null]),
      slow: [4],
      names: ["tpu 0", "tpu 1"],
    },
  },
  outliers: [{ at: 2, kind: "slow chip", sentence: "c takes 8 % more time" }],
  deviations: { 2: [{ name: "mul", category: "fusion", time_us: 54, representative_us: 50 }] },
  step_us: 120,
  representative: 0,
  ops: {
    names: ["mul", "add"],
    categories: ["fusion", "fusion"],
    max_host: [2, 1],
    total: 7,
    lost_us: packed([12, 3]),
    gflops: packed([20, null]),
    intensity: packed([1e3, null]),
    min_us: packed([50, 10]),
    median_us: packed([50, 10]),
    p95_us: packed([54, 11]),
    max_us: packed([54, 11]),
    imbalance_ratio: packed([0.06, 0.07]),
  },
  steps: {
    labels: ["0", "1", "2"],
    critical: [2, 2, 1],
    max_us: packed([120, 121, 119]),
    min_work_us: packed([99, 99, 98]),
    median_work_us: packed([100, 100, 100]),
    p95_work_us: packed([101, 101, 101]),
    max_work_us: packed([108, 108, 102]),
  },
  collectives: [],
  styles: { fusion: { token: "--c2", symbol: "circle" } },
  shades: { ratio: "338-x", work: "338-x", wait: "338-x", bandwidth: "338-x" },
  histograms: { ratio: FIGURE, work: FIGURE, wait: FIGURE, bandwidth: FIGURE },
  figures: { steps: FIGURE, roofline: FIGURE },
  arriving: null,
});

/** @param {Partial<HostRow>} given @returns {HostRow} */
export const hostRow = (given) => ({
  key: "h0",
  at: 0,
  name: "a",
  state: "read",
  reason: "",
  step: 120,
  ratio: 1,
  work: 100,
  wait: 1,
  bandwidth: 500,
  score: 0,
  slowSteps: 0,
  chips: [],
  kind: "",
  sentence: "",
  critical: 0,
  deviations: [],
  ...given,
});
