// How busy each unit was while an op ran, as counted: a bar per ceiling, its useful part inside.

import { percent } from "../text/format.js";
import { html } from "../ui/dom.js";

/** @import { CeilingShare, OpDetails } from "../types/page-data.js" */

/** @param {OpDetails} details @returns {Node[]} nothing for profilers without busy shares */
export function ceilingContent({ ceilings = [], why = "" }) {
  if (ceilings.length === 0) return [];
  return [
    html("h3", {}, "Busy units ", html("small", { class: "muted" }, "useful part filled")),
    html("ul", { class: "clock-bars ceilings" }, ...ceilings.map(bar)),
    ...(why ? [html("p", { class: "muted" }, `Why no unit is busier: ${why}.`)] : []),
  ];
}

/** @param {CeilingShare} share */
function bar({ label, token, busy_ratio: busy, useful_ratio: useful }) {
  const inside = useful === null ? "" : `, ${percent(useful)} useful`;
  return html(
    "li",
    {},
    html("span", {}, label),
    html(
      "span",
      { class: "track", "aria-hidden": "true" },
      filled("busy", busy, token),
      ...(useful === null ? [] : [filled("useful", Math.min(useful, busy), token)]),
    ),
    html("span", { class: "amount", title: `${percent(busy)} busy${inside}` }, percent(busy)),
  );
}

/** @param {string} kind @param {number} ratio @param {string} token */
const filled = (kind, ratio, token) =>
  html("i", {
    class: kind,
    vars: { "--w": `${(100 * ratio).toFixed(2)}%`, "--c": `var(${token})` },
  });
