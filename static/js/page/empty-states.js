// Words in place of an empty chart or table: why it is empty, and the way out.

import { listingOf } from "../state/query.js";
import { emptyWords } from "../text/empty-words.js";
import { html, part } from "../ui/dom.js";
import { drawnOps } from "./visible-ops.js";

/** @import { Model, View } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { EmptyWords } from "../text/empty-words.js" */
/** @import { VisibleOps } from "./visible-ops.js" */

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {HTMLElement} options.table what stands in place of an empty table of operations
 * @param {() => void} options.onClear
 */
export function createEmptyStates({ model, table, onClear }) {
  const chart = part("chart-empty");

  /** @param {HTMLElement} element @param {EmptyWords} words */
  function fill(element, { title, lines, clear, code }) {
    const on = { click: onClear };
    const button = html("button", { class: "btn", type: "button", on }, "Clear all filters");
    element.replaceChildren(
      html("b", {}, title),
      ...lines.map((line) => html("span", {}, line)),
      ...(code ? captureLines(code) : []),
      ...(clear ? [button] : []),
    );
  }

  return {
    /** @param {VisibleOps} visible @param {ViewState} state */
    show(visible, state) {
      document.body.classList.toggle("no-ops", model.view("in").rows.length === 0);
      const drawn = drawnOps(visible).length;
      chart.hidden = drawn > 0;
      table.hidden = visible.shown.length > 0;
      if (drawn > 0) return;
      const words = emptyWords({
        format: model.profile.format,
        all: visible.view.rows.length,
        beyond: visible.view.beyond?.ops ?? 0,
        isSearching: isSearching(state, visible.view.beyond),
        isPattern: visible.view.beyond?.ops > 0 && state.q.startsWith("/"),
        shown: visible.shown.length,
        axis: model.axis(state.x).label,
        diagnostics: model.diagnostics,
      });
      fill(chart, words);
      if (!table.hidden) fill(table, { ...words, code: undefined }); // the chart has it
    },
  };
}

/** @param {ViewState} state @param {View["beyond"]} beyond */
const isSearching = (state, beyond) => beyond?.ops > 0 && listingOf(state) !== state.listing;

/** Why a capture may have none, and the lines that make one with operations. @param {string} code */
const captureLines = (code) => [
  html(
    "span",
    {},
    "Usual causes: the profiler stopped before the first step had run, or it recorded the host alone.",
  ),
  html("pre", { class: "mono" }, html("code", {}, code)),
];
