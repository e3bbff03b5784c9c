// The card beside the pointer: ops, program points and column help. Own elements, text only.

import { count, flopRate, intensity, peakBandwidth } from "../text/format.js";
import { transferFacts } from "../text/link-words.js";
import {
  cardFacts,
  memoryRows,
  opReader,
  opSentence,
  otherFacts,
  pointFacts,
  pointReader,
} from "../text/op-facts.js";
import { middleCut } from "../text/names.js";
import { boundWord, programName } from "../text/words.js";
import { entry, html, part } from "../ui/dom.js";
import { placeAt } from "../ui/floating.js";
import { boundBadge, categoryBadge } from "../ui/marks.js";

/** @import { MemoryRoof, ProgramPoint } from "../types/page-data.js" */
/** @import { Model, Row, View } from "../types/model.js" */
/** @import { Pointed } from "../chart/card.js" */
/** @import { Fact, Get } from "../text/op-facts.js" */
/** @import { Child } from "../ui/dom.js" */

const MARGIN = 8; // from the window's edge
const NAME_LETTERS = 80; // two lines of the card

/**
 * Level, bandwidth and intensity of every memory that has either.
 * @param {Model} model
 * @param {Get} get
 */
export function memoryTable(model, get) {
  const { head, rows } = memoryRows(model, get);
  /** @param {string[]} cells */
  const row = ([label, ...values]) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, label),
      ...values.map((text) => html("td", {}, text)),
    );
  const headers = head.map((text) => html("th", { scope: "col" }, text));
  return html(
    "table",
    { class: "memory small-text" },
    html("thead", {}, html("tr", {}, ...headers)),
    html("tbody", {}, ...rows.map(row)),
  );
}

/** @param {readonly Fact[]} facts @param {string} [className] */
export const factList = (facts, className) =>
  html("dl", { class: className }, ...facts.flatMap(([term, text]) => entry(term, text)));

/**
 * Above an element, or below it where there is no room.
 * @param {HTMLElement} card
 * @param {Element} anchor
 */
function placeAbove(card, anchor) {
  const frame = anchor.getBoundingClientRect();
  const { height } = card.getBoundingClientRect();
  const above = frame.top - height - MARGIN;
  const left = Math.min(frame.left, innerWidth - card.offsetWidth - MARGIN);
  card.style.left = `${Math.max(MARGIN, left)}px`;
  card.style.top = `${above > MARGIN ? above : frame.bottom + MARGIN}px`;
}

/** @param {Model} model */
export function createHoverCard(model) {
  const card = part("hover-card");

  /** @param {PointerEvent} event @param {Child[]} content */
  function put(event, content) {
    card.replaceChildren(...content.filter((child) => child != null));
    card.hidden = false;
    placeAt(card, event.clientX, event.clientY);
  }

  return {
    hide() {
      card.hidden = true;
    },
    /** @param {View} view @param {Row} row @param {PointerEvent} event */
    showOp: (view, row, event) => put(event, opContent(model, view, row)),
    /** @param {ProgramPoint} point @param {PointerEvent} event */
    showProgram: (point, event) => put(event, pointContent(model, point)),
    /** @param {Pointed} pointed a ridge @param {PointerEvent} event */
    showRidge(pointed, event) {
      const roof = model.roofs.memory.find(({ id }) => id === pointed.row);
      if (roof) put(event, ridgeContent(roof, pointed));
    },
    /** @param {{ name: string, lines: string[] }} block of the time @param {PointerEvent} event */
    showBlock: ({ name, lines }, event) =>
      put(event, [
        html("div", { class: "name" }, html("bdi", {}, middleCut(name, NAME_LETTERS))),
        ...lines.map((line) => html("div", {}, html("bdi", {}, middleCut(line, NAME_LETTERS)))),
      ]),
    /** @param {{ label: string, sub: string, help: string }} column @param {Element} anchor */
    showHelp({ label, sub, help }, anchor) {
      if (!help) return;
      const title = [label, sub].filter(Boolean).join(", ");
      card.replaceChildren(html("div", { class: "title" }, title), html("p", {}, help));
      card.hidden = false;
      placeAbove(card, anchor);
    },
  };
}

/** @typedef {ReturnType<typeof createHoverCard>} HoverCard */

/** @param {Row} row */
const chips = (row) => row.chips.map((text) => html("span", { class: "op-chip" }, text));

/** @param {Model} model @param {View} view @param {Row} row */
function opContent(model, view, row) {
  const get = opReader(view, row);
  const others = otherFacts(model, row);
  return [
    html(
      "div",
      { class: "name" },
      html("bdi", {}, middleCut(row.short, NAME_LETTERS)),
      ...chips(row),
    ),
    html(
      "div",
      { class: "badges" },
      categoryBadge(model.categories[row.category]),
      boundBadge(
        model.bounds[row.bound],
        boundWord(model.words, model.bounds[row.bound], row.cost),
      ),
      html("span", {}, `rank ${count(get("rank"))}`),
    ),
    factList([...cardFacts(model, row, get), ...transferFacts(model, row, get)]),
    memoryTable(model, get),
    others.length > 0 ? factList(others, "others") : null,
    html("div", { class: "sentence" }, opSentence(model, view, row)),
  ];
}

/** @param {Model} model @param {ProgramPoint} point */
function pointContent(model, point) {
  const get = pointReader(point);
  const bound = model.bounds[point.bound_by];
  const outlier = html("span", { class: "sev-warning" }, "unlike the other steps");
  return [
    html("div", { class: "name" }, programName(point)),
    html(
      "div",
      { class: "badges" },
      bound ? boundBadge(bound) : null,
      point.is_outlier ? outlier : null,
    ),
    factList(pointFacts(model, point)),
    memoryTable(model, get),
  ];
}

/** @param {MemoryRoof} roof @param {Pointed} ridge */
function ridgeContent(roof, { x, y }) {
  const sentence = `With fewer FLOPs per byte ${roof.label} is the limit, with more it is compute.`;
  return [
    html("div", { class: "title" }, `Ridge point of ${roof.label}`),
    factList([
      ["Intensity", intensity(x)],
      ["FLOP rate", flopRate(y, 4)],
      ["Bandwidth", peakBandwidth(roof.gbs)],
    ]),
    html("div", { class: "sentence" }, sentence),
  ];
}
