// The card beside the pointer: one host or one operation of a run.

import { duration, flopRate, intensity, percent } from "../text/format.js";
import { METRIC_WORDS, metricText, waitNote } from "../text/run-words.js";
import { METRICS } from "../state/run-query.js";
import { entry, html, part } from "../ui/dom.js";
import { placeAt } from "../ui/floating.js";

/** @import { HostRow, RunModel, RunOp } from "../types/run.js" */

/** @param {RunModel} model */
export function createRunCard(model) {
  const card = part("hover-card");
  /** @param {Node[] | null} content @param {PointerEvent} event */
  const show = (content, event) => {
    card.hidden = content === null;
    if (content === null) return;
    card.replaceChildren(...content);
    placeAt(card, event.clientX, event.clientY);
  };
  return {
    /** @param {HostRow | null} host @param {PointerEvent} event */
    host: (host, event) => show(host && hostCard(host, model), event),
    /** @param {RunOp | null} op @param {PointerEvent} event */
    op: (op, event) => show(op && opCard(op), event),
  };
}

/** @param {HostRow} host @param {RunModel} model */
function hostCard(host, model) {
  const head = html("div", { class: "name" }, host.name);
  if (host.state !== "read")
    return [head, html("div", {}, [host.state, host.reason].filter(Boolean).join(": "))];
  const facts = METRICS.flatMap((id) => {
    const note = id === "wait" ? waitNote(model.waitIs) : "";
    const value = metricText(id, host[id]);
    return entry(METRIC_WORDS[id].label, note && host.wait !== null ? `${note} ${value}` : value);
  });
  const said = host.kind || host.reason;
  const kind = said ? html("div", { class: "badges" }, said) : null;
  return [head, ...(kind ? [kind] : []), html("dl", {}, ...facts)];
}

/** @param {RunOp} op */
function opCard(op) {
  return [
    html("div", { class: "name" }, op.name),
    html("div", { class: "badges" }, op.category),
    html(
      "dl",
      {},
      ...entry("Least", duration(op.minUs)),
      ...entry("Median", duration(op.medianUs)),
      ...entry("p95", duration(op.p95Us)),
      ...entry("Most", `${duration(op.maxUs)} on ${op.worst}`),
      ...entry("Imbalance", percent(op.imbalance)),
      ...entry("Time lost over hosts", duration(op.lostUs)),
      ...entry("FLOP rate of the median", flopRate(op.gflops)),
      ...entry("Intensity", intensity(op.intensity)),
    ),
  ];
}
