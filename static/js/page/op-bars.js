// Bars in the drawer of an op: the clock of each resource beside the measured time, and how busy each unit was.

import { clocksOf } from "../text/clock-words.js";
import { duration, percent } from "../text/format.js";
import { html } from "../ui/dom.js";

/** @import { OpDetails } from "../types/page-data.js" */
/** @import { Model, Row } from "../types/model.js" */
/** @import { Get } from "../text/op-facts.js" */

/** @param {Model} model @param {Row} row @param {Get} get */
export function clockContent(model, row, get) {
  const clocks = row.cost === "idle" ? null : clocksOf(model, get);
  if (!clocks) return [];
  const { times, measured, longest, sentence } = clocks;
  const bars = times.map(({ clock: { label, token }, us, isLongest }) =>
    bar(label, duration(us), token, [["", us / longest]], { class: isLongest ? "strong" : "" }),
  );
  const ofAll = /** @type {const} */ (["", measured / longest]);
  bars.push(bar("Measured", duration(measured), "--ink-2", [ofAll], { class: "strong whole" }));
  return [
    html("h3", {}, `Clocks, per ${model.coreWord}`),
    html("ul", { class: "clock-bars" }, ...bars),
    html("p", { class: "muted" }, sentence),
  ];
}

/** As counted, the useful part inside. @param {OpDetails} details @returns {Node[]} nothing for profilers without busy shares */
export function ceilingContent({ ceilings = [], why = "" }) {
  if (ceilings.length === 0) return [];
  const bars = ceilings.map(({ label, token, busy_ratio: busy, useful_ratio: useful }) => {
    const inside = useful === null ? "" : `, ${percent(useful)} useful`;
    const fills = /** @type {(readonly [string, number])[]} */ ([["busy", busy]]);
    if (useful !== null) fills.push(["useful", Math.min(useful, busy)]);
    return bar(label, percent(busy), token, fills, { title: `${percent(busy)} busy${inside}` });
  });
  return [
    html("h3", {}, "Busy units ", html("small", { class: "muted" }, "useful part filled")),
    html("ul", { class: "clock-bars ceilings" }, ...bars),
    ...(why ? [html("p", { class: "muted" }, `Why no unit is busier: ${why}.`)] : []),
  ];
}

/**
 * @param {string} label
 * @param {string} amount
 * @param {string} token of its colour
 * @param {readonly (readonly [kind: string, ratio: number])[]} fills one over the other
 * @param {{ class?: string, title?: string }} look
 */
function bar(label, amount, token, fills, { class: name = "", title }) {
  const filled = fills.map(([kind, ratio]) =>
    html("i", {
      class: kind,
      vars: { "--w": `${(100 * ratio).toFixed(2)}%`, "--c": `var(${token})` },
    }),
  );
  const track = html("span", { class: "track", "aria-hidden": "true" }, ...filled);
  const text = html("span", { class: "amount", title }, amount);
  return html("li", { class: name }, html("span", {}, label), track, text);
}
