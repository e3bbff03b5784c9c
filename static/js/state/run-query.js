// The view of a run's page in its address: the host, the colour of the map, the table. Pure.

/** @import { MetricId, RunState, RunTab } from "../types/run.js" */

/** @type {readonly MetricId[]} */
export const METRICS = ["ratio", "work", "wait", "bandwidth"];
/** @type {readonly RunTab[]} */
export const TABS = ["ops", "collectives", "steps", "hosts"];
/** The first order of a table. @type {Record<RunTab, string>} */
export const SORTS = { ops: "-lost", collectives: "-wait", steps: "", hosts: "" };

/** @param {string} search @returns {RunState} */
export function parseRun(search) {
  const query = new URLSearchParams(search);
  const tab = TABS.find((one) => one === query.get("tab")) ?? "ops";
  return {
    host: query.get("host") ?? "",
    metric: METRICS.find((one) => one === query.get("metric")) ?? "ratio",
    tab,
    sort: query.get("sort") ?? SORTS[tab],
    q: query.get("q") ?? "",
    page: Math.max(1, Math.floor(Number(query.get("page"))) || 1),
  };
}

/** The query of a view, without the parts that are as at first. @param {RunState} state */
export function runQuery({ host, metric, tab, sort, q, page }) {
  const query = new URLSearchParams();
  if (host) query.set("host", host);
  if (metric !== "ratio") query.set("metric", metric);
  if (tab !== "ops") query.set("tab", tab);
  if (sort !== SORTS[tab]) query.set("sort", sort);
  if (q) query.set("q", q);
  if (page > 1) query.set("page", String(page));
  return query.toString();
}
