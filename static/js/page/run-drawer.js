// One host of a run against the others, at the right of the page.

import { duration, significant } from "../text/format.js";
import { METRIC_WORDS, metricText, signedShare, waitNote } from "../text/run-words.js";
import { buttonPart, entry, find, html, part, svg } from "../ui/dom.js";

/** @import { ChipRow, DeviationData, HostRow, MetricId, RunModel } from "../types/run.js" */

const WIDTH = 150; // pixels of a chip's bar
const MIDDLE = 30; // where a ratio of 1 lies
const SLOWEST = 0.08; // above 1, as long as the lane

/**
 * `linksOf` gives what leads from a host to other pages.
 * @param {{ model: RunModel, onClose: () => void, linksOf: (host: HostRow) => Element[] }} options
 */
export function createRunDrawer({ model, onClose, linksOf }) {
  const drawer = find(HTMLElement, "#drawer");
  buttonPart("drawer-close").addEventListener("click", onClose);
  return {
    /** @param {HostRow | null} host @param {boolean} isFocused */
    show(host, isFocused) {
      drawer.hidden = host === null;
      document.body.classList.toggle("with-drawer", host !== null);
      if (host === null) return;
      part("drawer-title").textContent = host.name;
      const body = part("drawer-body");
      body.replaceChildren(...content(host, model, linksOf(host)));
      body.scrollTop = 0;
      if (isFocused) buttonPart("drawer-close").focus();
    },
  };
}

/** @param {HostRow} host @param {RunModel} model @param {Element[]} links */
function content(host, model, links) {
  const said = host.sentence || standing(host, model);
  const head = html("p", { class: "say" }, said);
  if (host.state !== "read") return [head];
  return [
    head,
    ...links,
    ...(host.chips.length > 0 ? chips(host.chips) : []),
    ...deviations(host, model),
    html("h3", {}, "Against the run"),
    html("dl", { class: "facts" }, ...facts(host, model)),
  ];
}

/** @param {HostRow} host @param {RunModel} model */
function standing(host, model) {
  if (host.state !== "read") return [host.state, host.reason].filter(Boolean).join(": ");
  if (host.name === model.representative)
    return "The representative: its operations are nearest to the median ones.";
  if (model.isArriving) return "Not judged yet: hosts are still arriving.";
  return ["This host has no verdict.", host.reason].filter(Boolean).join(" ");
}

/** @param {ChipRow[]} found */
function chips(found) {
  const row = (/** @type {ChipRow} */ chip) =>
    html(
      "tr",
      {},
      html("th", { scope: "row", title: chip.name }, chip.name),
      html("td", {}, chip.ratio === null ? "" : bar(chip.ratio, chip.isSlow)),
      html("td", {}, metricText("ratio", chip.ratio)),
    );
  return [
    html("h3", {}, "Chips, same-work ratio"),
    html("table", { class: "dumb small-text" }, html("tbody", {}, ...found.map(row))),
  ];
}

/** @param {number} ratio @param {boolean} isSlow */
function bar(ratio, isSlow) {
  const away = ((ratio - 1) / SLOWEST) * (WIDTH - MIDDLE);
  const length = Math.min(WIDTH - MIDDLE, Math.max(1.5, Math.abs(away)));
  const x = away < 0 ? Math.max(0, MIDDLE - length) : MIDDLE;
  const width = away < 0 ? Math.min(MIDDLE, length) : length;
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} 12`, "aria-hidden": "true" },
    svg("line", { x1: MIDDLE, x2: MIDDLE, y1: 0, y2: 12 }),
    svg("rect", { class: isSlow ? "slow" : "", x, y: 2, width, height: 8, rx: 2 }),
  );
}

/** @param {HostRow} host @param {RunModel} model */
function deviations({ deviations: found }, { representative }) {
  if (found.length === 0) return [];
  const heads = ["Operation", "representative", "here", "change"];
  const row = (/** @type {DeviationData} */ one) => {
    const { name, time_us: here, representative_us: there } = one;
    const change = there > 0 ? signedShare(here / there - 1) : "only here";
    return html(
      "tr",
      {},
      html("th", { scope: "row", title: name }, name),
      html("td", {}, duration(there)),
      html("td", {}, duration(here)),
      html("td", { class: here > there ? "bad" : null }, change),
    );
  };
  return [
    html("h3", {}, `Largest deviations from ${representative}`),
    html(
      "table",
      { class: "dumb small-text ops" },
      html("thead", {}, html("tr", {}, ...heads.map((one) => html("th", { scope: "col" }, one)))),
      html("tbody", {}, ...found.map(row)),
    ),
  ];
}

/** @param {HostRow} host @param {RunModel} model */
function facts(host, { medians, waitIs, steps, stepUs }) {
  const against = (/** @type {MetricId} */ id) => {
    const note = id === "wait" && host.wait !== null ? waitNote(waitIs) : "";
    const value = `${note} ${metricText(id, host[id])}`.trim();
    const middle =
      medians[id] === null || id === "ratio" ? "" : `, median ${metricText(id, medians[id])}`;
    return entry(METRIC_WORDS[id].label, value + middle);
  };
  const score =
    host.score === null ? "–" : `${significant(host.score).replace("-", "−")}, threshold 3.5`;
  const step = `this host ${duration(host.step)}, run ${duration(stepUs)}`;
  return [
    ...(steps.length > 0 ? entry("Step", step) : []),
    ...against("ratio"),
    ...against("work"),
    ...against("wait"),
    ...against("bandwidth"),
    ...entry("Score of its work", score),
    ...entry("Critical in", `${host.critical} of ${steps.length} steps`),
  ];
}
