// Bars of the times of steps, and the program's shares of the peaks. As presentation/first_view/step_times.py.

import { columnScale, percent } from "../text/format.js";
import { around, find, html, part, svg } from "../ui/dom.js";

/** @import { DeviceField, ProgramPoint } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */

const MOST_BARS = 60;
const MOST_NAMES = 10;
const MOST_LETTERS = 34; // of all names below the bars
const FULL = 64; // pixels of the longest bar
const TOP = 16; // pixels above it, for its time
const NAMES_AT = TOP + FULL + 14;

/** @typedef {{ step: ProgramPoint, first: ProgramPoint, last: ProgramPoint }} StepGroup */

/** @type {readonly (readonly [id: string, name: string, definition: string])[]} */
const DEFINITIONS = [
  ["mfu", "MFU", "model FLOPs ÷ peak"],
  ["hfu", "HFU", "all FLOPs done ÷ peak"],
  ["memory_bandwidth_utilisation", "", "bytes ÷ peak bandwidth"],
];

/**
 * @param {object} options
 * @param {(point: ProgramPoint | null) => void} options.onLight
 * @param {(point: ProgramPoint) => void} options.onClick
 */
export function createStepTimes({ onLight, onClick }) {
  const bars = find(SVGSVGElement, "[data-step-bars]");
  /** @type {StepGroup[]} */
  let groups = [];
  /** @param {Event} event */
  const stepAt = (event) => {
    const bar = around(event, "[data-bar]");
    return bar ? groups[Number(bar.getAttribute("data-bar"))].step : null;
  };
  bars.addEventListener("pointerover", (event) => onLight(stepAt(event)));
  bars.addEventListener("pointerleave", () => onLight(null));
  bars.addEventListener("click", (event) => {
    const step = stepAt(event);
    if (step) onClick(step);
  });

  /** Knows the steps of the bars from now on. @param {ProgramPoint[]} points */
  function adopt(points) {
    const steps = points.filter((point) => point.scope === "step" && timeOf(point) > 0);
    groups = steps.length < 2 ? [] : grouped(steps);
    return steps;
  }

  return {
    adopt,
    /** @param {Model} model @param {ProgramPoint[]} points */
    draw(model, points) {
      const steps = adopt(points);
      part("step-times").hidden = steps.length < 2;
      if (groups.length > 0) drawBars(bars, steps, groups);
      showUsed(model);
    },
    /** @param {ProgramPoint | null} point */
    light(point) {
      for (const bar of bars.querySelectorAll("[data-bar]"))
        bar.classList.toggle("lit", groups[Number(bar.getAttribute("data-bar"))].step === point);
    },
  };
}

/** @param {ProgramPoint} point */
const timeOf = (point) => point.total_time_per_core_us ?? 0;

/** Neighbours share a bar where there are many: that of the longest. @param {ProgramPoint[]} steps */
function grouped(steps) {
  const together = Math.ceil(steps.length / MOST_BARS);
  /** @type {StepGroup[]} */
  const found = [];
  for (let i = 0; i < steps.length; i += together) {
    const group = steps.slice(i, i + together);
    const step = group.reduce((most, one) => (timeOf(one) > timeOf(most) ? one : most));
    found.push({ step, first: group[0], last: group[group.length - 1] });
  }
  return found;
}

/** @param {Element} root @param {ProgramPoint[]} steps @param {StepGroup[]} groups */
function drawBars(root, steps, groups) {
  const longest = steps.reduce((most, step) => Math.max(most, timeOf(step)), 0);
  const scale = columnScale("time_us", longest);
  const middle = median(steps.map(timeOf));
  const at = TOP + FULL - (FULL * middle) / longest;
  part("step-times-median").textContent = `median ${scale.text(middle)} ${scale.unit}`;
  root.replaceChildren(
    ...groups.flatMap((group, i) => barNodes(group, i, { groups, longest, scale })),
    svg("line", { class: "step-median", x1: 0, x2: "100%", y1: at, y2: at }),
  );
}

/**
 * @param {StepGroup} group
 * @param {number} number
 * @param {{ groups: StepGroup[], longest: number, scale: ReturnType<typeof columnScale> }} chart
 */
function barNodes({ step, first, last }, number, { groups, longest, scale }) {
  const wide = 100 / groups.length;
  const height = (FULL * timeOf(step)) / longest;
  const y = TOP + FULL - height;
  const time = scale.text(timeOf(step));
  const of = first === last ? "" : `, the longest of steps ${first.label} to ${last.label}`;
  const rect = svg(
    "rect",
    {
      "data-bar": number,
      x: `${(number + 0.06) * wide}%`,
      width: `${wide * 0.88}%`,
      y,
      height,
    },
    svg("title", {}, `Step ${step.label}: ${time} ${scale.unit}${of}`),
  );
  const isFew = groups.length <= MOST_NAMES;
  const x = `${(number + 0.5) * wide}%`;
  const isNamed = isFew || number === 0 || number === groups.length - 1;
  /** @type {SVGElement[]} */
  const nodes = [rect];
  if (step.is_outlier && isFew) nodes.push(svg("text", { class: "odd", x, y: y - 4 }, time));
  if (isNamed) nodes.push(svg("text", { x, y: NAMES_AT }, nameOf(first, groups)));
  return nodes;
}

/** "2 (decode, 4)", or "2" where such names would touch. @param {ProgramPoint} first @param {StepGroup[]} groups */
function nameOf({ label }, groups) {
  const letters = groups.reduce((sum, group) => sum + group.first.label.length, 0);
  return letters > MOST_LETTERS ? label.replace(/ \(.*/, "") : label;
}

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** MFU, HFU and the share of the main memory's bandwidth, where they are known. @param {Model} model */
function showUsed({ device, levels }) {
  const main = levels.find(({ is_main: isMain }) => isMain)?.label ?? "Memory";
  const rows = DEFINITIONS.flatMap(([id, name, definition]) => {
    const field = device.fields.find((one) => one.id === id);
    return field ? [usedRow(field, name || main, definition)] : [];
  });
  part("used-shares").hidden = rows.length === 0;
  part("used-shares").replaceChildren(...rows);
}

/** @param {DeviceField} field @param {string} name @param {string} definition */
function usedRow(field, name, definition) {
  const least = field.label.includes("at least") ? "≥ " : "";
  const share = typeof field.value === "number" ? percent(field.value, 0) : "–";
  return html(
    "div",
    { title: `${field.label}. ${field.help ?? ""}` },
    html("dt", {}, name),
    html("dd", { class: "what" }, definition),
    html("dd", {}, `${least}${share}`),
  );
}
