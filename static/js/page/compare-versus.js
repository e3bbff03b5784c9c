// Other runs against A, one line each. Every one is compared with A: chained changes do not add up.

import { termsInWords } from "../text/compare-words.js";
import { percent } from "../text/format.js";
import { findAll, html, part } from "../ui/dom.js";

/** @import { Comparison } from "../types/comparison.js" */
/** @import { TimeScale } from "../text/compare-words.js" */

/**
 * @param {object} options
 * @param {string[]} options.base ids of A
 * @param {string[]} options.others ids
 * @param {Comparison["unit"]} options.unit
 * @param {TimeScale} options.scale
 * @param {(id: string) => string} options.without the address without this run
 */
export function showVersus({ base, others, unit, scale, without }) {
  part("versus").hidden = others.length === 0;
  for (const small of findAll(HTMLElement, "[data-versus-unit]")) small.textContent = scale.unit;
  const body = part("versus-rows");
  const rows = others.map((id) => {
    const row = html(
      "tr",
      {},
      head(id, base, "…"),
      ...cells("", "", "comparing…"),
      removal(id, without),
    );
    fill(row, id);
    return row;
  });
  body.replaceChildren(...rows);

  /** @param {HTMLTableRowElement} row @param {string} id */
  async function fill(row, id) {
    const query = new URLSearchParams([...base.map((a) => ["a", a]), ["b", id], ["unit", unit]]);
    try {
      const response = await fetch(`/api/v1/compare?${query}`);
      if (!response.ok) throw new Error((await response.json()).message);
      /** @type {Comparison} */
      const found = await response.json();
      const ratio = found.a_us > 0 ? found.change_us / found.a_us : 0;
      const change = `${scale.change(found.change_us)} (${found.change_us < 0 ? "−" : "+"}${percent(Math.abs(ratio))})`;
      const words = found.comparable ? termsInWords(found.terms, scale, 4) : found.verdict.headline;
      row.replaceChildren(
        head(id, base, found.captures.b.labels[0]),
        ...cells(`${scale.text(found.b_us)} ${scale.unit}`, change, words || "no change"),
        removal(id, without),
      );
    } catch (error) {
      const why = error instanceof Error ? error.message : "";
      row.replaceChildren(head(id, base, id), ...cells("–", "–", why), removal(id, without));
    }
  }
}

/** @param {string} id @param {string[]} base @param {string} title */
function head(id, [first, ...more], title) {
  const query = new URLSearchParams(more.map((one) => ["a", one])).toString();
  const href = `/c/${encodeURIComponent(first)}..${encodeURIComponent(id)}${query ? `?${query}` : ""}`;
  return html("th", { scope: "row" }, html("a", { href }, title));
}

/** @param {string} time @param {string} change @param {string} words */
const cells = (time, change, words) => [
  html("td", {}, time),
  html("td", {}, change),
  html("td", { class: "left terms" }, words),
];

/** @param {string} id @param {(id: string) => string} without */
const removal = (id, without) =>
  html("td", {}, html("a", { href: without(id), "aria-label": "Remove this run" }, "Remove"));
