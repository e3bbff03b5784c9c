// One peak of the menu of peaks: its field, where its value comes from, and what is to be said about it.

import { peakRate, peakBandwidth } from "../text/format.js";
import { html, isFile, isHosted } from "../ui/dom.js";

/** @import { PeakRow } from "../state/peak-rows.js" */
/** @import { ComputeRoof, MemoryRoof, Origin } from "../types/page-data.js" */

/**
 * Origin of a peak: the word beside it, and what it means. As presentation/first_view/summary.py.
 * @type {Record<Origin, readonly [word: string, meaning: string]>}
 */
const ORIGINS = {
  profile: ["profile", "The profile states it."],
  measured: ["measured", "The profiler measured it."],
  catalogue: ["catalogue", "Published for this part."],
  calibrated: ["calibrated", "Measured by roofline calibrate, not a data-sheet value."],
  user: ["set by you", "Set by you, in this page’s address."],
};

const EXAMPLE = { gflops: "989 TFLOP/s", gbs: "1.2 TB/s" };

/**
 * @param {PeakRow} row
 * @param {string} coreWord
 * @param {(text: string) => void} onChange empty: undoes a peak that was set by hand
 */
export function createPeakField({ key, kind, label }, coreWord, onChange) {
  const field = html("input", {
    class: "field",
    type: "text",
    placeholder: "unknown",
    autocomplete: "off",
    spellcheck: "false",
    "data-peak": key,
    on: { change: () => onChange(field.value) },
  });
  field.disabled = isFile() && !isHosted();
  const undo = undoButton(label, () => onChange(""));
  const swatch = html("i", { class: "swatch" });
  const name = html("span", { class: "text" });
  const origin = html("span", { class: "origin-line row" });
  const remarks = html("div", { class: "remarks" });
  const item = html("li", {}, html("label", {}, swatch, name, field), origin, remarks);

  return {
    key,
    item,
    focus() {
      field.focus();
      field.select();
    },
    /**
     * @param {PeakRow} row
     * @param {{ isWrong: boolean, isSet: boolean }} status `isWrong`: what was written cannot be read
     * @param {Node[]} differences
     */
    show(row, { isWrong, isSet }, differences) {
      swatch.style.setProperty("--swatch", `var(${row.roof?.token ?? "--ink-3"})`);
      name.textContent = row.label;
      name.title = row.label;
      field.setAttribute("aria-label", `${row.label} peak per ${coreWord}`);
      field.setAttribute("aria-invalid", String(isWrong));
      // Text that cannot be read stays, so that the user can mend it.
      if (!isWrong) field.value = peakText(row);
      origin.replaceChildren(...(row.roof ? [originTag(row.roof)] : []), ...(isSet ? [undo] : []));
      remarks.replaceChildren(...(isWrong ? [wrongNote(kind)] : []), ...differences);
    },
  };
}

/** @typedef {ReturnType<typeof createPeakField>} PeakField */

/** @param {ComputeRoof | MemoryRoof} roof */
function originTag({ origin, source }) {
  const [word, meaning] = ORIGINS[origin];
  const title = [meaning, source].filter(Boolean).join(" ");
  return html("span", { class: origin === "user" ? "origin mine" : "origin", title }, word);
}

/** @param {PeakRow} row */
function peakText({ roof }) {
  if (roof === null) return "";
  return "gflops" in roof ? peakRate(roof.gflops) : peakBandwidth(roof.gbs);
}

/** @param {string} label @param {() => void} onClick */
const undoButton = (label, onClick) =>
  html(
    "button",
    {
      class: "linkish",
      type: "button",
      "aria-label": `Undo the peak of ${label}`,
      on: { click: onClick },
    },
    "undo",
  );

/** @param {PeakRow["kind"]} kind */
const wrongNote = (kind) =>
  html(
    "p",
    { class: "wrong", role: "alert" },
    `Write a positive number and a unit, as in “${EXAMPLE[kind]}”.`,
  );
