// The clocks of an op in the drawer: one bar per resource, beside the time that was measured.

import { clocksOf } from "../text/clock-words.js";
import { duration } from "../text/format.js";
import { html } from "../ui/dom.js";

/** @import { Model, Row } from "../types/model.js" */
/** @import { Get } from "../text/op-facts.js" */

/** @param {Model} model @param {Row} row @param {Get} get */
export function clockContent(model, row, get) {
  const clocks = row.cost === "idle" ? null : clocksOf(model, get);
  if (!clocks) return [];
  const { times, measured, longest, sentence } = clocks;
  const bars = times.map(({ clock, us, isLongest }) =>
    bar(clock.label, us, { of: longest, token: clock.token, isStrong: isLongest }),
  );
  const whole = bar("Measured", measured, { of: longest, token: "--ink-2", isStrong: true });
  whole.classList.add("whole");
  return [
    html("h3", {}, `Clocks, per ${model.coreWord}`),
    html("ul", { class: "clock-bars" }, ...bars, whole),
    html("p", { class: "muted" }, sentence),
  ];
}

/**
 * @param {string} label
 * @param {number} us
 * @param {{ of: number, token: string, isStrong: boolean }} look
 */
const bar = (label, us, { of, token, isStrong }) =>
  html(
    "li",
    { class: isStrong ? "strong" : "" },
    html("span", {}, label),
    html(
      "span",
      { class: "track", "aria-hidden": "true" },
      html("i", { vars: { "--w": `${((100 * us) / of).toFixed(2)}%`, "--c": `var(${token})` } }),
    ),
    html("span", { class: "amount" }, duration(us)),
  );
