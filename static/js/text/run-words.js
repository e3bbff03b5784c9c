// Words and numbers of a run of hosts. Pure.

import { bandwidth, DASH, duration, percent, significant } from "./format.js";

/** @import { HostRow, MetricId } from "../types/run.js" */

/** @type {Record<MetricId, { label: string }>} */
export const METRIC_WORDS = {
  ratio: { label: "Same-work ratio" },
  work: { label: "Work" },
  wait: { label: "Wait in collectives" },
  bandwidth: { label: "Bandwidth" },
};

/** @param {MetricId} metric @param {number | null} value */
export function metricText(metric, value) {
  if (value === null) return DASH;
  if (metric === "ratio") return significant(value, 4);
  return metric === "bandwidth" ? bandwidth(value) : duration(value, metric === "work" ? 4 : 3);
}

/** How a wait stands to the real one; nothing where it is exact. @param {string | null} waitIs */
export const waitNote = (waitIs) => (waitIs && waitIs !== "exact" ? waitIs : "");

/** @param {number} share */
export const signedShare = (share) => `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`;

/** A host as its move over the map is announced. @param {HostRow} host @param {MetricId} metric */
export function hostSaid(host, metric) {
  if (host.state !== "read") return `${host.name}, ${host.state}`;
  const value = `${METRIC_WORDS[metric].label} ${metricText(metric, host[metric])}`;
  return [host.name, value, host.kind].filter(Boolean).join(", ");
}
