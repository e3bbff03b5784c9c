// The tab "Other hardware": what the program would take at least on each device, and an estimate.

import { DASH, count, duration, percent, significant } from "../text/format.js";
import { find, html, part } from "../ui/dom.js";

/** @import { Model } from "../types/model.js" */
/** @import { DeviceLine } from "../types/other-devices.js" */
/** @import { ChosenHardware } from "../state/chosen-hardware.js" */
/** @import { Store } from "../state/store.js" */

/** @type {readonly { label: string, sub: string, help: string, left?: boolean }[]} */
const COLUMNS = [
  {
    label: "Device",
    sub: "",
    help: "What one of this profile’s cores is compared with: one profiler device.",
    left: true,
  },
  {
    label: "At least",
    sub: "per device",
    help: "Lower bound: for each operation the longest of FLOPs ÷ compute peak and bytes ÷ bandwidth, summed.",
  },
  {
    label: "Estimate",
    sub: "same share of roof",
    help: "An assumption: every operation reaches the same share of its roof as here.",
  },
  {
    label: "Speed",
    sub: "estimate, here = 1",
    help: "Measured time of the covered operations ÷ the estimate.",
  },
  {
    label: "Limited by",
    sub: "share of the bound",
    help: "What binds, by the time it makes of the lower bound.",
    left: true,
  },
  {
    label: "Bound changes",
    sub: "operations",
    help: "Operations that something else binds there, and their share of the time.",
  },
  {
    label: "Covered",
    sub: "of measured time",
    help: "Share of the measured time whose operations have a lower bound on this device.",
  },
];

/** Below this share of its roof an operation waits for something else, as the server counts. */
const LATENCY_EFFICIENCY = 0.05;

/**
 * @typedef {object} DeviceRow
 * @property {DeviceLine} line
 * @property {{ token: string, dash: string, onRemove: () => void } | null} other null: the profile's own device
 */

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 * @param {ChosenHardware} options.hardware
 * @param {(anchor: HTMLElement) => void} options.onAdd
 */
export function createOtherDevicesTable({ model, store, hardware, onAdd }) {
  const add = part("hardware-add");
  add.addEventListener("click", () => onAdd(add));
  part("hardware-head").replaceChildren(...COLUMNS.map(createHeader));

  /** @param {string} id */
  const remove = (id) => store.set({ vs: store.get().vs.filter((other) => other !== id) });

  /** @returns {DeviceRow[]} */
  function rows() {
    const here = hardware.seen?.here;
    if (!here) return [];
    const others = model.others.map((line, i) => ({
      line,
      other: { token: line.token, dash: `vs-${i + 1}`, onRemove: () => remove(line.id) },
    }));
    return [{ line: { ...here, name: `${here.name}, here` }, other: null }, ...others];
  }

  return {
    render() {
      const { length } = model.others;
      part("hardware-count").textContent = length > 0 ? count(length) : "";
      part("hardware-empty").hidden = length > 0;
      find(HTMLElement, "#hardware-table").hidden = length === 0;
      part("hardware-note").hidden = length === 0;
      if (length === 0) return;
      const shown = rows();
      part("hardware-rows").replaceChildren(...shown.map(createRow));
      part("hardware-note").replaceChildren(
        html("p", {}, noteText(model.device.core_word)),
        ...notesOf(shown).map(([text, names]) => noteLine(text, names)),
      );
    },
  };
}

/**
 * The notes on the devices, each sentence once, with those that it is about.
 * @param {DeviceRow[]} rows
 * @returns {[text: string, names: string[]][]}
 */
function notesOf(rows) {
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const { line } of rows)
    for (const text of line.notes) found.set(text, [...(found.get(text) ?? []), line.name]);
  return [...found];
}

/** @param {string} text @param {string[]} names */
const noteLine = (text, names) => html("p", {}, html("b", {}, `${names.join(", ")}: `), text);

/** @param {typeof COLUMNS[number]} column */
function createHeader({ label, sub, help, left }) {
  const words = [html("span", {}, label), sub ? html("small", {}, sub) : null];
  const attributes = { scope: "col", class: left ? "left" : null, title: help || null };
  return html("th", attributes, html("div", {}, ...words));
}

/** @param {string} text @param {string | null} [className] */
const cell = (text, className = null) => html("td", { class: className }, text);

/** @param {DeviceRow} row */
function createRow(row) {
  const { line } = row;
  const known = line.bound_us > 0;
  return html(
    "tr",
    {},
    rowHead(row),
    cell(known ? duration(line.bound_us) : DASH),
    cell(estimateText(row)),
    cell(known ? speedText(row) : DASH),
    cell(limitsText(line), "left"),
    cell(changedText(row)),
    cell(percent(line.covered_ratio)),
  );
}

/** "HBM 66 % · compute 34 %". @param {DeviceLine} line */
const limitsText = ({ limits }) =>
  limits.map(({ label, ratio }) => `${label} ${percent(ratio, 0)}`).join(" · ") || DASH;

/** @param {DeviceRow} row */
function rowHead({ line: { name }, other }) {
  if (!other) return html("th", { scope: "row", class: "left" }, name);
  const { token, dash, onRemove } = other;
  const swatch = html("i", { class: `swatch ${dash}`, vars: { "--swatch": `var(${token})` } });
  const button = {
    class: "linkish",
    type: "button",
    "aria-label": `Remove ${name}`,
    on: { click: onRemove },
  };
  const remove = html("button", button, "remove");
  return html("th", { scope: "row", class: "left" }, swatch, name, remove);
}

/** @param {DeviceRow} row */
function estimateText({ line, other }) {
  if (!other) return `${duration(line.measured_us)} measured`;
  return line.bound_us > 0 ? duration(line.estimate_us) : DASH;
}

/** Measured time over the estimate. @param {DeviceRow} row */
const speedText = ({ line, other }) =>
  other ? `${significant(line.measured_us / line.estimate_us, 2)}×` : `${significant(1, 2)}×`;

/** @param {DeviceRow} row */
function changedText({ line: { changed }, other }) {
  if (!other) return "";
  return changed.ops === 0 ? "none" : `${count(changed.ops)} · ${percent(changed.share_ratio)}`;
}

/** @param {string} coreWord */
const noteText = (coreWord) =>
  `Per ${coreWord}, over listed operations with known work; one profiler device against one. FLOPs and bytes are those counted here: padding for another matrix unit, smaller caches and communication change them. Operations below ${percent(LATENCY_EFFICIENCY, 0)} of their roof wait for something else; the estimate keeps that wait as it is.`;
