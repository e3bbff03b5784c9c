// The card beside the pointer: one pair, group or op of a comparison.

import { TERM_NAMES, fromTo, signedDuration } from "../text/compare-words.js";
import { duration, intensity, percent, significant } from "../text/format.js";
import { entry, html, part } from "../ui/dom.js";
import { placeAt } from "../ui/floating.js";

/** @import { ChangeRow, Comparison, RowSide } from "../types/comparison.js" */

/** @param {Comparison} found @param {number} least us; smaller terms are left out */
export function createCompareCard({ page }, least) {
  const card = part("hover-card");
  const tiers = new Map(page.tiers.map(({ id, label }) => [id, label]));

  /** @param {ChangeRow} row */
  function content(row) {
    const { a, b } = row;
    const label = tiers.get(row.tier) ?? "";
    const terms = Object.entries(row.terms).filter(([, us]) => Math.abs(us) > least);
    terms.sort(([, x], [, y]) => Math.abs(y) - Math.abs(x));
    /** @param {(side: RowSide) => string} read */
    const both = (read) => fromTo(a && read(a), b && read(b));
    return [
      html("div", { class: "name" }, row.name),
      html(
        "div",
        { class: "badges" },
        `${row.category} · ${row.tier === "only" ? label : `tier ${row.tier}, ${label}`}`,
      ),
      html(
        "dl",
        {},
        ...entry(
          "Time",
          both((side) => duration(side.timeUs)),
        ),
        ...entry("Change", signedDuration(row.changeUs)),
        ...entry(
          "Calls",
          both((side) => significant(side.calls)),
        ),
        ...entry(
          "Intensity",
          both((side) =>
            side.flop !== null && side.bytes ? intensity(side.flop / side.bytes) : "–",
          ),
        ),
        ...entry(
          "Share of roof",
          both((side) => percent(side.efficiency, 0)),
        ),
        ...terms.flatMap(([name, us]) => entry(TERM_NAMES[name] ?? name, signedDuration(us))),
        ...(b?.source || a?.source ? entry("Source", b?.source || a?.source || "") : []),
      ),
    ];
  }

  return {
    /** @param {ChangeRow | null} row @param {PointerEvent} event */
    show(row, event) {
      card.hidden = row === null;
      if (row === null) return;
      card.replaceChildren(...content(row));
      placeAt(card, event.clientX, event.clientY);
    },
  };
}
