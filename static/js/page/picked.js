// Several operations at once: what they add up to, and copies of them to paste.

import { sumOf } from "../state/op-sums.js";
import { DASH, count, decimalBytes, duration, flops, intensity, percent } from "../text/format.js";
import { buttonPart, entry, findAll, html, part } from "../ui/dom.js";
import { copyWithFeedback } from "../ui/clipboard.js";

/** @import { Model, Row } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { OpSum } from "../state/op-sums.js" */
/** @import { TextFormat } from "./downloads.js" */
/** @import { Store } from "../state/store.js" */

const ALL = 1 - 1e-9;

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 * @param {(rows: Row[], format: TextFormat) => string} options.textOf what to copy
 */
export function createPicked({ model, store, textOf }) {
  const bar = part("picked");
  /** @type {Row[]} */
  let rows = [];
  for (const button of findAll(HTMLElement, "[data-picked-copy]", bar))
    button.addEventListener("click", () => {
      const format = button.dataset.pickedCopy === "tsv" ? "tsv" : "markdown";
      copyWithFeedback(button, textOf(rows, format));
    });
  buttonPart("picked-clear").addEventListener("click", () => store.set({ sel: [] }));
  return {
    /** @param {ViewState} state */
    render(state) {
      const view = model.view(state.infeed);
      rows = state.sel.flatMap((op) => view.byOp.get(op) ?? []);
      bar.hidden = rows.length === 0;
      document.body.classList.toggle("with-picked", rows.length > 0);
      if (rows.length === 0) return;
      part("picked-text").textContent = rows.length === 1 ? "1 op" : `${count(rows.length)} ops`;
      const facts = sumFacts(sumOf(model, view, rows), model.coreWord);
      part("picked-sum").replaceChildren(
        ...facts.map(([term, value, title]) => html("div", { title }, ...entry(term, value))),
      );
    },
  };
}

/**
 * Terms and values of a sum. Work of which a part is not known is a lower bound; an intensity is of those operations
 * alone of which both FLOPs and bytes are known.
 * @param {OpSum} sum
 * @param {string} coreWord
 * @returns {[term: string, value: string, title: string][]}
 */
export function sumFacts(sum, coreWord) {
  const { time, share, efficiency, gain, flop, flopKnown, bytes, bytesKnown } = sum;
  return [
    [
      "Time",
      `${duration(time)} · ${percent(share)}`,
      `Self time per ${coreWord}, and its share of the whole`,
    ],
    ["FLOPs", least(flop, flopKnown, flops), knownText(flopKnown)],
    ["Bytes", least(bytes, bytesKnown, decimalBytes), knownText(bytesKnown)],
    ["Intensity", intensity(sum.intensity), knownText(sum.intensityKnown)],
    ["Of roof", percent(efficiency), "Weighted by time, each operation at most 100 %"],
    ["To gain", duration(gain), "Their time above their roofs"],
  ];
}

/**
 * @param {number | null} value
 * @param {number} known share of the time
 * @param {(value: number | null) => string} write
 */
function least(value, known, write) {
  if (value !== null && known > ALL) return write(value);
  return value ? `≥ ${write(value)}` : DASH;
}

/** @param {number} known */
const knownText = (known) =>
  known > ALL ? "" : `Known for ${percent(known)} of the time of these operations`;
