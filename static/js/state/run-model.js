// The page data of a run of hosts as rows, with the medians that hosts are held against. Pure.

/** @import { HostRow, MetricId, PackedColumn, RunData, RunModel, RunOp, RunStep } from "../types/run.js" */

const STATES = /** @type {const} */ (["read", "no accelerator", "unreadable", "another program"]);
const BYTES = 4; // of a 32-bit float

/** The values of a packed column; NaN is not known. @param {PackedColumn} column */
export function unpack(column) {
  const text = atob(column);
  const view = new DataView(new ArrayBuffer(text.length));
  for (let i = 0; i < text.length; i += 1) view.setUint8(i, text.charCodeAt(i));
  return Float32Array.from({ length: text.length / BYTES }, (_, i) =>
    view.getFloat32(i * BYTES, true),
  );
}

/** The lower median of what is known: always a value of a real host. @param {readonly (number | null)[]} values */
export function lowerMedian(values) {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  return known.length > 0 ? known[(known.length - 1) >> 1] : null;
}

/** @param {RunData} data @returns {RunModel} */
export function readRun(data) {
  const hosts = hostsOf(data);
  const nameOf = (/** @type {number} */ at) => hosts[at]?.name ?? "";
  const median = (/** @type {MetricId} */ id) => lowerMedian(hosts.map((host) => host[id]));
  return {
    hosts,
    ops: opsOf(data, nameOf),
    steps: stepsOf(data, nameOf),
    collectives: data.collectives.map((one, i) => ({ ...one, key: `c${i}` })),
    totalOps: data.ops.total,
    medians: {
      ratio: hosts.some(({ ratio }) => ratio !== null) ? 1 : null,
      work: median("work"),
      wait: median("wait"),
      bandwidth: median("bandwidth"),
    },
    waitIs: data.hosts.wait_is,
    representative: nameOf(data.representative),
    styles: data.styles,
    isArriving: data.arriving !== null,
    stepUs: data.step_us,
    shades: data.shades,
    histograms: data.histograms,
    figures: data.figures,
  };
}

/** Reads a packed column by place; null is not known. @param {PackedColumn} column */
function reader(column) {
  const values = unpack(column);
  return (/** @type {number} */ at) => (Number.isNaN(values[at]) ? null : values[at]);
}

/** @param {RunData} data @returns {HostRow[]} */
function hostsOf({ hosts, outliers, deviations, steps }) {
  const [step, ratio, work, wait, bandwidth, score, slow] = [
    hosts.step_us,
    hosts.ratio,
    hosts.work_us,
    hosts.wait_us,
    hosts.bandwidth_gbs,
    hosts.score,
    hosts.slow_steps,
  ].map(reader);
  const chips = chipsOf(hosts.chips);
  const critical = new Map();
  for (const at of steps.critical) critical.set(at, (critical.get(at) ?? 0) + 1);
  const found = new Map(outliers.map((one) => [one.at, one]));
  return hosts.names.map((name, at) => ({
    key: `h${at}`,
    at,
    name,
    state: STATES[hosts.states[at]],
    reason: hosts.reasons[at] ?? "",
    step: step(at),
    ratio: ratio(at),
    work: work(at),
    wait: wait(at),
    bandwidth: bandwidth(at),
    score: score(at),
    slowSteps: slow(at) ?? 0,
    chips: chips[at],
    kind: found.get(at)?.kind ?? "",
    sentence: found.get(at)?.sentence ?? "",
    critical: critical.get(at) ?? 0,
    deviations: deviations[at] ?? [],
  }));
}

/** @param {RunData["hosts"]["chips"]} chips */
function chipsOf({ counts, ratio, slow, names }) {
  const read = reader(ratio);
  const isSlow = new Set(slow);
  let first = 0;
  return counts.map((count) => {
    const found = Array.from({ length: count }, (_, i) => ({
      name: names[i] ?? `chip ${i}`,
      ratio: read(first + i),
      isSlow: isSlow.has(first + i),
    }));
    first += count;
    return found;
  });
}

/** @param {RunData} data @param {(at: number) => string} nameOf @returns {RunOp[]} */
function opsOf({ ops }, nameOf) {
  const [gflops, intensity, min, median, p95, max, imbalance, lost] = [
    ops.gflops,
    ops.intensity,
    ops.min_us,
    ops.median_us,
    ops.p95_us,
    ops.max_us,
    ops.imbalance_ratio,
    ops.lost_us,
  ].map(reader);
  return ops.names.map((name, i) => ({
    key: `o${i}`,
    name,
    category: ops.categories[i],
    gflops: gflops(i),
    intensity: intensity(i),
    minUs: min(i) ?? 0,
    medianUs: median(i) ?? 0,
    p95Us: p95(i) ?? 0,
    maxUs: max(i) ?? 0,
    imbalance: imbalance(i),
    lostUs: lost(i) ?? 0,
    worst: nameOf(ops.max_host[i]),
  }));
}

/** @param {RunData} data @param {(at: number) => string} nameOf @returns {RunStep[]} */
function stepsOf({ steps }, nameOf) {
  const [length, least, middle, p95, most] = [
    steps.max_us,
    steps.min_work_us,
    steps.median_work_us,
    steps.p95_work_us,
    steps.max_work_us,
  ].map(unpack);
  return steps.labels.map((name, i) => ({
    key: `s${i}`,
    name,
    lengthUs: length[i],
    least: least[i],
    middle: middle[i],
    p95: p95[i],
    most: most[i],
    critical: nameOf(steps.critical[i]),
  }));
}
