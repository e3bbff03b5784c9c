// The budget above the charts: each part is a filter. The server wrote its words and numbers.

import { fitting, segmentTexts } from "../chart/bar-labels.js";
import { around, findAll, svg } from "../ui/dom.js";

/** @import { ViewState } from "../types/view-state.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Light } from "./light.js" */

const LABEL = { class: "part-label", x: 7, y: "50%", dy: "0.36em" };
/** Textures that words can be read on. */
const LABELLED = ["solid", "wait", "idle"];
const LEAST_WIDTH = 30; // pixels of a segment that a word has room in

/**
 * @param {object} options
 * @param {Store} options.store
 * @param {Light["help"]} options.onHelp
 */
export function createBudget({ store, onHelp }) {
  const first = document.querySelector("[data-budget]");
  if (!(first instanceof HTMLElement)) return { render: () => {}, draw: () => {}, show: () => {} };
  let root = first;
  /** @param {Event} event */
  const toggle = (event) => {
    const pressed = around(event, "button[data-part], [data-is-filter]");
    const part = pressed?.getAttribute("data-part");
    if (part) store.set({ part: store.get().part === part ? null : part, page: 1 });
  };
  const segments = () => findAll(SVGSVGElement, ".budget-part", root);
  let labelledWidth = -1;
  const draw = () => {
    labelledWidth = root.clientWidth;
    label(segments());
  };
  const sized = new ResizeObserver(() => {
    if (root.clientWidth !== labelledWidth) draw();
  });
  const wire = () => {
    root.addEventListener("click", toggle);
    for (const segment of segments()) wireHelp(segment, onHelp);
    sized.observe(root);
  };
  wire();
  /** @param {ViewState} state */
  const render = (state) => {
    for (const term of findAll(HTMLButtonElement, ".term[data-part]", root))
      term.setAttribute("aria-pressed", String(term.dataset.part === state.part));
    for (const segment of segments())
      segment.classList.toggle("dim", !isOf(state.part, segment.dataset.part ?? ""));
  };
  return {
    draw,
    render,
    /** The budget by other peaks takes its place. @param {HTMLElement | null} next */
    show(next) {
      if (!next) return;
      sized.unobserve(root);
      root.replaceWith(next);
      root = next;
      wire();
      render(store.get());
      draw();
    },
  };
}

/** @param {string | null} chosen a part or a kind of parts @param {string} part */
const isOf = (chosen, part) => chosen === null || part === chosen || part.split(".")[0] === chosen;

/** @param {SVGSVGElement} segment @param {Light["help"]} onHelp */
function wireHelp(segment, onHelp) {
  const { label = "", duration = "", percent = "", help = "" } = segment.dataset;
  const about = { label: capitalised(label), sub: `${duration}, ${percent}`, help };
  segment.addEventListener("pointerenter", () => onHelp(about, segment));
  segment.addEventListener("pointerleave", () => onHelp(null, segment));
}

/** @param {string} text */
const capitalised = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/**
 * Writes into each segment what fits. All are measured before any is written: each turn between the two is a layout.
 * @param {readonly SVGSVGElement[]} segments
 */
function label(segments) {
  for (const segment of segments) segment.querySelector(".part-label")?.remove();
  const wide = segments
    .filter((segment) => LABELLED.some((one) => segment.classList.contains(one)))
    .map((segment) => ({ segment, width: segment.getBoundingClientRect().width }))
    .filter(({ width }) => width >= LEAST_WIDTH)
    .map(({ segment, width }) => ({ segment, width, tries: triesOf(segment) }));
  for (const { segment, tries } of wide) segment.append(...tries);
  const fitted = wide.map(({ segment, width, tries }) => {
    const lengths = new Map(
      tries.map((text) => [text.textContent ?? "", text.getComputedTextLength()]),
    );
    const chosen = fitting(width, [...lengths.keys()], (words) => lengths.get(words) ?? 0);
    return { segment, tries, chosen };
  });
  for (const { segment, tries, chosen } of fitted) {
    for (const text of tries) text.remove();
    segment.append(svg("text", LABEL, chosen));
  }
}

/** A text for each way to label a segment, to be measured. @param {SVGSVGElement} segment */
function triesOf({ dataset: { label: name = "", amount = "" } }) {
  return segmentTexts(name, amount).map((words) => svg("text", LABEL, words));
}
