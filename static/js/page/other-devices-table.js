// The tab "Other hardware": what the program would take at least on each device, and an estimate.

import { html, part } from "../ui/dom.js";
import { count, duration, percent, significant } from "../text/format.js";
import { LATENCY_EFFICIENCY, ownBounds, summarise } from "../metrics/other-devices.js";
import { deviceNotes, leftText, limitsText } from "../text/other-devices-words.js";

const COLUMNS = [
  ["Device", "", "What one of this profile’s cores is compared with: one profiler device."],
  [
    "At least",
    "per device",
    "Lower bound: for each operation the longest of FLOPs ÷ compute peak and bytes ÷ bandwidth, summed.",
  ],
  [
    "Estimate",
    "same share of roof",
    "An assumption: every operation reaches the same share of its roof as here.",
  ],
  ["Speed", "estimate, here = 1", "Measured time of the covered operations ÷ the estimate."],
  ["Limited by", "share of the bound", "What binds, by the time it makes of the lower bound."],
  [
    "Bound changes",
    "operations",
    "Operations that something else binds there, and their share of the time.",
  ],
  [
    "Covered",
    "of measured time",
    "Share of the measured time whose operations have a lower bound on this device.",
  ],
  ["What to know", "", ""],
];

/**
 * @param {object} options
 * @param {import("../state/model.js").Model} options.model
 * @param {import("../state/store.js").Store} options.store
 * @param {import("../state/chosen-hardware.js").ChosenHardware} options.hardware
 * @param {(anchor: HTMLElement) => void} options.onAdd
 */
export function createOtherDevicesTable({ model, store, hardware, onAdd }) {
  const body = part("hardware-rows");
  const note = part("hardware-note");
  const empty = part("hardware-empty");
  const table = body.closest("table");
  const add = part("hardware-add");
  add.addEventListener("click", () => onAdd(add));
  part("hardware-head").replaceChildren(
    ...COLUMNS.map(([label, sub, help], i) =>
      html(
        "th",
        { scope: "col", class: i === 0 || i === 4 || i === 7 ? "left" : null, title: help || null },
        html("div", {}, html("span", {}, label), sub ? html("small", {}, sub) : null),
      ),
    ),
  );

  const remove = (id) => store.set({ vs: store.get().vs.filter((other) => other !== id) });

  function row(name, summary, notes, { token, dash, onRemove }) {
    const cell = (text, className = null) => html("td", { class: className }, text);
    const changed =
      summary.changed.ops === 0
        ? "none"
        : `${count(summary.changed.ops)} · ${percent(summary.changed.share)}`;
    const known = summary.boundUs > 0;
    return html(
      "tr",
      {},
      html(
        "th",
        { scope: "row", class: "left" },
        token
          ? html("i", { class: `swatch ${dash}`, vars: { "--swatch": `var(${token})` } })
          : null,
        name,
        onRemove
          ? html(
              "button",
              {
                class: "linkish",
                type: "button",
                "aria-label": `Remove ${name}`,
                on: { click: onRemove },
              },
              "remove",
            )
          : null,
      ),
      cell(known ? duration(summary.boundUs) : duration(null)),
      cell(
        known && onRemove
          ? duration(summary.estimateUs)
          : onRemove
            ? duration(null)
            : `${duration(summary.measuredUs)} measured`,
      ),
      cell(
        known
          ? `${significant(summary.measuredUs / (onRemove ? summary.estimateUs : summary.measuredUs), 2)}×`
          : duration(null),
      ),
      cell(limitsText(summary, model.bounds), "left"),
      cell(onRemove ? changed : "", null),
      cell(percent(summary.coveredShare)),
      html("td", { class: "left notes" }, ...notes.map((text) => html("p", {}, text))),
    );
  }

  return {
    render() {
      const { others } = model;
      const view = model.view(store.get().infeed);
      part("hardware-count").textContent = others.length > 0 ? count(others.length) : "";
      empty.hidden = others.length > 0;
      table.hidden = others.length === 0;
      note.hidden = others.length === 0;
      if (others.length === 0) return;
      const own = summarise(view, ownBounds(model));
      body.replaceChildren(
        row(`${model.device.name}, here`, own, [leftText(own, model)].filter(Boolean), {
          token: null,
          dash: "",
          onRemove: null,
        }),
        ...others.map((other, i) => {
          const summary = summarise(view, other);
          return row(
            other.name,
            summary,
            deviceNotes({ other, summary, model, list: hardware.list }),
            { token: other.token, dash: `vs-${i + 1}`, onRemove: () => remove(other.id) },
          );
        }),
      );
      note.textContent = `Per ${model.device.core_word}, over listed operations with known work; one profiler device against one. FLOPs and bytes are those counted here: padding for another matrix unit, smaller caches and communication change them. Operations below ${percent(LATENCY_EFFICIENCY, 0)} of their roof wait for something else; the estimate keeps that wait as it is.`;
    },
  };
}
