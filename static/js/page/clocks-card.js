// The clocks of every op, where a program has so few that groups would repeat the table. As presentation/first_view/clocks.py.

import { clocksOf } from "../text/clock-words.js";
import { duration } from "../text/format.js";
import { opReader } from "../text/op-facts.js";
import { html, part, svg } from "../ui/dom.js";
import { mark } from "../ui/marks.js";
import { entryOf } from "./cells.js";

/** @import { Model, Row, View } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { ClockTime } from "../text/clock-words.js" */

const MOST_OPS = 3;

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {(row: Row) => void} options.onSelect
 */
export function createClocksCard({ model, onSelect }) {
  return {
    /** Shows it in place of the groups, unless the link asks for these. @param {ViewState} state */
    render(state) {
      const view = model.view(state.infeed);
      const items = state.by ? [] : clockItems(model, view, onSelect);
      part("clocks-card").hidden = items.length === 0;
      part("op-clocks").replaceChildren(...items);
    },
  };
}

/** @param {Model} model @param {View} view @param {(row: Row) => void} onSelect */
function clockItems(model, view, onSelect) {
  const rows = view.rows.filter(({ cost }) => cost !== "idle");
  if (rows.length > MOST_OPS) return [];
  const found = rows.map((row) => ({
    row,
    measured: view.reader("total_time_per_core_us")(row),
    clocks: clocksOf(model, opReader(view, row)),
  }));
  if (found.every(({ clocks }) => clocks === null)) return [];
  return found.map(({ row, measured, clocks }) =>
    html(
      "li",
      {},
      head(model, row, { measured: Number(measured), onSelect }),
      html(
        "ul",
        { class: "clock-bars" },
        ...(clocks?.times ?? []).map((one) => bar(one, clocks?.longest ?? 1)),
      ),
    ),
  );
}

/** @param {Model} model @param {Row} row @param {{ measured: number, onSelect: (row: Row) => void }} options */
function head(model, row, { measured, onSelect }) {
  const category = entryOf(model.categories, row.category);
  return html(
    "button",
    { type: "button", class: "op-clocks-name", on: { click: () => onSelect(row) } },
    category ? mark(category.symbol, `var(${category.token})`) : null,
    html("bdi", {}, row.short),
    html("span", { class: "muted" }, `measured ${duration(measured)}`),
  );
}

/** @param {ClockTime} time @param {number} longest */
function bar({ clock, us, isLongest }, longest) {
  const width = `${((100 * us) / longest).toFixed(1)}%`;
  return html(
    "li",
    { class: isLongest ? "strong" : "" },
    html("span", {}, clock.label),
    svg(
      "svg",
      { class: `track of${clock.token}`, "aria-hidden": "true" },
      svg("rect", { width, height: "100%" }),
    ),
    html("span", { class: "amount" }, duration(us)),
  );
}
