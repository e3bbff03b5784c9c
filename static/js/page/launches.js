// The single launches of an op, where the profiler measured them one by one.

import { html } from "../ui/dom.js";
import { count, decimalBytes, duration, flops, quantity } from "../text/format.js";
import { factList } from "./hover-card.js";

/** @import { Launch, OpDetails } from "../types/page-data.js" */
/** @import { Fact } from "../text/op-facts.js" */
/** @import { Level } from "../types/model.js" */

const MOST = 50;

/**
 * @param {OpDetails} details of the op, as the server sends them
 * @param {readonly Level[]} levels of the page, outermost first
 * @returns {Node[]} nothing for profilers without launches
 */
export function launchContent(
  { launches = [], launch_count: all = launches.length, launch_times: spread },
  levels,
) {
  const times = timesContent(spread);
  if (launches.length === 0) return times;
  const shown = launches.slice(0, MOST);
  const moved = levels.filter(({ id }) => shown.some((launch) => launch.bytes[id] != null));
  const head = ["Time", "FLOPs", ...moved.map(({ label }) => label)];
  const note = all > shown.length ? `The first ${shown.length} of ${count(all)}` : count(all);
  return [
    ...times,
    html("h3", {}, "Launches ", html("small", { class: "muted" }, note)),
    html(
      "div",
      { class: "launches", tabindex: 0, role: "region", "aria-label": "Launches, scrollable" },
      html(
        "table",
        {},
        html(
          "thead",
          {},
          html("tr", {}, ...head.map((label) => html("th", { scope: "col" }, label))),
        ),
        html("tbody", {}, ...shown.flatMap((launch) => launchRows(launch, moved, head.length))),
      ),
    ),
  ];
}

/** How much the launches differ. @param {OpDetails["launch_times"]} found */
function timesContent(found) {
  if (!found) return [];
  /** @type {Fact[]} */
  const facts = [
    ["Half take at most", duration(found.p50_us)],
    ["90 % take at most", duration(found.p90_us)],
    ["99 % take at most", duration(found.p99_us)],
  ];
  if (found.p95_gibs != null) facts.push(["95 % reach at most", quantity(found.p95_gibs, "gibs")]);
  return [
    html("h3", {}, "Times of launches ", html("small", { class: "muted" }, count(found.count))),
    factList(facts, "facts"),
  ];
}

/**
 * Numbers, and above them how it was launched when that differs from nothing.
 * @param {Launch} launch
 * @param {readonly Level[]} levels
 * @param {number} width columns
 */
function launchRows({ detail, time_us: time, flop, bytes }, levels, width) {
  const numbers = html(
    "tr",
    {},
    html("td", {}, duration(time)),
    html("td", {}, flops(flop)),
    ...levels.map(({ id }) => html("td", {}, decimalBytes(bytes[id]))),
  );
  return detail
    ? [
        html("tr", { class: "detail" }, html("th", { scope: "row", colspan: width }, detail)),
        numbers,
      ]
    : [numbers];
}
