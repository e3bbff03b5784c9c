// The list beside the program chart. Ten thousand steps are ten thousand rows: only those in sight exist.

import { createStepTimes } from "./step-times.js";
import { columnScale, percent } from "../text/format.js";
import { atLeast, programName } from "../text/words.js";
import { around, find, findAll, html, part } from "../ui/dom.js";
import { icon, mark } from "../ui/marks.js";

/** @import { ProgramPoint, Scope } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */
/** @import { Store } from "../state/store.js" */

/** @type {Record<Scope, string>} */
const SCOPE_SYMBOLS = {
  total: "star",
  total_hw: "star-open",
  average: "diamond",
  phase: "square",
  step: "circle",
};
/** The token of a step's colour, by its place among the steps, 0 to 1. @param {number} order */
const stepToken = (order) => `--step-${Math.round(order * 8)}-of-8`;
const ROWS_AROUND = 6;
const USUAL_HEIGHT = 320; // before the list has been laid out

/**
 * @typedef {object} ProgramListOptions
 * @property {Model} model
 * @property {Store} store
 * @property {(point: ProgramPoint | null) => void} onLight
 * @property {(point: ProgramPoint) => void} onClick
 */

export class ProgramList {
  #options;
  #scroll = part("steps-scroll");
  #body = part("steps");
  #table = find(HTMLTableElement, "table", this.#scroll);
  /** @type {ProgramPoint[]} */
  #points = [];
  /** @type {ProgramPoint | null} */
  #lit = null;
  #drawn = "";
  #scales = chooseScales([]);
  #bars;

  /** @param {ProgramListOptions} options */
  constructor(options) {
    const { onLight, onClick } = options;
    this.#options = options;
    this.#bars = createStepTimes({ onLight, onClick });
    this.#body.addEventListener("pointerover", (event) => onLight(this.#pointAt(event)));
    this.#body.addEventListener("pointerleave", () => onLight(null));
    this.#body.addEventListener("click", (event) => {
      const point = this.#pointAt(event);
      if (point) onClick(point);
    });
    this.#scroll.addEventListener("scroll", () => this.#render(), { passive: true });
  }

  /** The rows and bars that the server wrote can be pointed at and chosen: they show the same. */
  adopt() {
    this.#points = this.#known;
    this.#bars.adopt(this.#points);
  }

  get #known() {
    const { model, store } = this.#options;
    return model.view(store.get().infeed).program;
  }

  draw() {
    const { model } = this.#options;
    this.#points = this.#known;
    this.#scales = chooseScales(this.#points);
    part("steps-time-unit").textContent = `${this.#scales.time.unit}/${model.coreWord}`;
    findAll(HTMLElement, "thead th", this.#table)[2].textContent = this.#scales.rate.unit;
    this.#bars.draw(model, this.#points);
    this.#drawn = "";
    this.#render();
  }

  /** @param {ProgramPoint | null} point @param {boolean} [intoView] */
  light(point, intoView = false) {
    this.#lit = point;
    this.#bars.light(point);
    if (point && intoView) showRow(this.#scroll, this.#points.indexOf(point));
    // Only classes: a row made anew under the pointer would lose the click that has begun on the old one.
    for (const row of findAll(HTMLElement, "[data-index]", this.#body))
      row.classList.toggle("lit", this.#points[Number(row.dataset.index)] === point);
  }

  /** @param {Event} event */
  #pointAt(event) {
    const row = around(event, "[data-index]");
    return row instanceof HTMLElement ? this.#points[Number(row.dataset.index)] : null;
  }

  #render() {
    const { scrollTop, clientHeight } = this.#scroll;
    const bottom = scrollTop + (clientHeight || USUAL_HEIGHT);
    const all = this.#points.length;
    const height = rowHeight(this.#scroll);
    const first = Math.max(0, Math.floor(scrollTop / height) - ROWS_AROUND);
    const last = Math.min(all, Math.ceil(bottom / height) + ROWS_AROUND);
    if (`${first}-${last} ${height}` === this.#drawn) return;
    this.#drawn = `${first}-${last} ${height}`;
    const rows = this.#points.slice(first, last).map((point, i) => this.#row(point, first + i));
    this.#body.replaceChildren(spacer(first * height), ...rows, spacer((all - last) * height));
    this.#table.setAttribute("aria-rowcount", String(all + 1));
  }

  /** @param {ProgramPoint} point @param {number} index */
  #row(point, index) {
    const { model, store } = this.#options;
    const isSelected = point.label === store.get().step;
    const classes = [point === this.#lit && "lit", isSelected && "selected"].filter(Boolean);
    return html(
      "tr",
      { class: classes.join(" "), "data-index": index, "aria-rowindex": index + 2 },
      rowHead(point),
      html("td", {}, this.#scales.time.text(point.total_time_per_core_us)),
      html("td", {}, atLeast(this.#scales.rate.text(point.flop_rate_gflops), point.flop_is_least)),
      shareCell(point, model),
    );
  }
}

/** @param {ProgramPoint} point */
function rowHead(point) {
  const isStep = point.scope === "step";
  const fill = isStep ? `var(${stepToken(point.order ?? 1)})` : "var(--star)";
  const button = html(
    "button",
    { type: "button" },
    mark(SCOPE_SYMBOLS[point.scope], fill),
    html("span", { class: "step-name", title: programName(point) }, programName(point)),
    point.is_outlier ? outlierMark() : null,
  );
  return html("th", { scope: "row", class: isStep ? null : "aggregate" }, button);
}

const outlierMark = () =>
  html(
    "span",
    {
      class: "sev-warning",
      role: "img",
      "aria-label": "unlike the other steps",
      title: "Unlike the other steps",
    },
    icon("warning"),
  );

/** @param {ProgramPoint} point @param {Model} model */
function shareCell(point, model) {
  const share = point.roofline_efficiency_ratio ?? null;
  const token = model.bounds[point.bound_by]?.token ?? "--ink-3";
  const vars = { "--v": Math.min(100, (share ?? 0) * 100), "--swatch": `var(${token})` };
  return html("td", { class: share === null ? null : "bar", vars }, percent(share, 0));
}

/** One unit per column. @param {ProgramPoint[]} points */
function chooseScales(points) {
  /** @param {"total_time_per_core_us" | "flop_rate_gflops"} id */
  const largest = (id) => points.reduce((most, point) => Math.max(most, point[id] ?? 0), 0);
  return {
    time: columnScale("time_us", largest("total_time_per_core_us")),
    rate: columnScale("gflops", largest("flop_rate_gflops")),
  };
}

/** Height of a row: larger for fingers. @param {HTMLElement} scroll */
const rowHeight = (scroll) => parseInt(getComputedStyle(scroll).getPropertyValue("--step-row"), 10);

/** Keeps the place of rows that do not exist. @param {number} pixels */
function spacer(pixels) {
  const cell = html("td", { colspan: 4 });
  cell.style.height = `${pixels}px`;
  return html("tr", { class: "spacer", "aria-hidden": "true" }, cell);
}

/** @param {HTMLElement} scroll @param {number} index */
function showRow(scroll, index) {
  const height = rowHeight(scroll);
  const top = index * height;
  const { scrollTop, clientHeight } = scroll;
  if (top < scrollTop || top > scrollTop + clientHeight - 2 * height)
    scroll.scrollTop = top - clientHeight / 2;
}
