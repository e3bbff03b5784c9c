// The card "Time to gain": which block is pointed at, gone to, chosen and filtered on the figure of the server.

import { count as grouped } from "../text/format.js";
import { findAll, html, part } from "../ui/dom.js";
import { activate, activeIn } from "../ui/keyboard.js";
import { trackMarks } from "./card.js";
import { Mount } from "./mount.js";

/** @import { BlockWords, Gain, GainChart, GainTerm } from "../types/contract.js" */
/** @import { ChartFigure } from "../types/figure.js" */
/** @import { Model, Row } from "../types/model.js" */
/** @import { Store } from "../state/store.js" */

const MOST_NAMES = 8; // of the operations of one block, in its card

/**
 * @typedef {object} GainOptions
 * @property {Model} model
 * @property {Store} store
 * @property {(content: { name: string, lines: string[] } | null, event: PointerEvent | null) => void} onHover
 * @property {(row: Row, event: MouseEvent | KeyboardEvent) => void} onOp an operation is chosen
 * @property {(key: string) => void} onWait a wait is chosen: "links", "host_wait" …
 */

/** @param {GainOptions} options */
export function createGain(options) {
  const { model, store } = options;
  const section = document.querySelector("[data-gain]");
  if (!(section instanceof HTMLElement)) return null;
  const box = /** @type {HTMLElement} */ (section.querySelector("#gain-chart"));
  const choice = /** @type {HTMLSelectElement} */ (section.querySelector("[data-gain-by]"));
  /** @type {Element[]} the element of each block */
  let nodes = [];
  /** The block that the keys have gone to. @type {number | null} */
  let at = null;
  /** Operations that the filters leave. @type {ReadonlySet<number>} */
  let shown = new Set();
  /** @type {GainChart | null} */
  let drawn = null;

  const mount = new Mount(box, {
    onDrawn() {
      nodes = blockNodes(box);
      mark();
    },
    wire: (plot) =>
      trackMarks(box, plot, {
        isShown: ({ role }) => role === "marks",
        onHover: (pointed, event) =>
          options.onHover(pointed && contentOf(model, blockAt(Number(pointed.row))), event),
        onClick: ({ row }, event) => open(Number(row), event),
      }),
  });

  /** @param {number} index */
  const blockAt = (index) => /** @type {GainChart} */ (drawn).blocks[index];

  /** The chosen blocks: of operations, or of groups. @param {Gain} gain */
  const chartOf = (gain) => (choice.value === "group" && gain.group) || gain.op;

  function mark() {
    const { op, part: chosen } = store.get();
    const isFiltered = shown.size < model.view(store.get().infeed).rows.length;
    nodes.forEach((node, index) => {
      const block = drawn?.blocks[index];
      if (!block) return;
      const isLit = store.hovered === null || block.ops.some((one) => store.hovered?.has(one));
      const passes = !isFiltered || isChosenWait(block, chosen) || isAmong(block, shown);
      node.classList.toggle("dim", !isLit || !passes);
      node.classList.toggle("selected", op !== null && block.ops.includes(op));
      node.classList.toggle("current", index === at && box === document.activeElement);
    });
  }

  /** @param {number} index @param {MouseEvent | KeyboardEvent} event */
  function open(index, event) {
    const block = blockAt(index);
    const row = model.view(store.get().infeed).byOp.get(block.ops[0]);
    if (row) options.onOp(row, event);
    else options.onWait(block.key);
  }

  /** @param {number} index */
  function goTo(index) {
    if (!drawn) return;
    const count = drawn.blocks.length;
    at = Math.max(0, Math.min(count - 1, index));
    const { name, lines } = drawn.blocks[at];
    part("gain-said").textContent = `${[name, ...lines].join(", ")}; ${at + 1} of ${count}`;
    mark();
  }

  /** @type {Record<string, (event: KeyboardEvent) => void>} */
  const keys = {
    ArrowRight: () => goTo(at === null ? 0 : at + 1),
    ArrowLeft: () => goTo(at === null ? 0 : at - 1),
    ArrowDown: () => goTo(at === null ? 0 : at + 1),
    ArrowUp: () => goTo(at === null ? 0 : at - 1),
    Home: () => goTo(0),
    End: () => goTo(Infinity),
    Enter: (event) => at !== null && open(at, event),
    g: () => {
      if (!model.figures.gain?.group) return;
      choice.value = choice.value === "op" ? "group" : "op";
      draw();
    },
  };
  const equation = part("equation");
  activate(equation, termsOf(equation)[0]);
  equation.addEventListener("keydown", (event) => {
    const terms = termsOf(equation);
    const term = terms.findIndex((one) => one === activeIn(equation));
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) activate(equation, terms[term + step]);
    else if (event.key === "Enter" || event.key === " ") terms[term]?.click();
    else return;
    event.preventDefault();
  });
  box.addEventListener("keydown", (event) => {
    const act = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    act(event);
  });
  box.addEventListener("focus", mark);
  box.addEventListener("blur", mark);
  choice.addEventListener("change", () => draw());
  equation.addEventListener("click", ({ target }) => {
    const term = termsOf(equation).find((one) => one.contains(/** @type {Node} */ (target)));
    if (!term) return;
    const chosen = term.dataset.part ?? null;
    activate(equation, term);
    store.set({ part: store.get().part === chosen ? null : chosen, page: 1 });
  });
  store.onHovered(mark);

  function render() {
    const { part: chosen } = store.get();
    for (const term of termsOf(equation)) term.ariaSelected = String(term.dataset.part === chosen);
  }

  /** Draws what the model has by now. */
  async function draw() {
    const { gain } = model.figures;
    if (!gain) return;
    const next = chartOf(gain);
    if (next === drawn) return;
    drawn = next;
    at = null;
    writeWords(gain);
    render();
    await mount.show(/** @type {ChartFigure} */ (next.figure));
  }

  return {
    draw,
    render,
    redraw: () => mount.redraw(),
    mark,
    /** @param {ReadonlySet<Row>} rows the operations that the filters leave */
    show(rows) {
      shown = new Set([...rows].map(({ op }) => op));
      mark();
    },
  };
}

/** @typedef {NonNullable<ReturnType<typeof createGain>>} GainCard */

/** Bars have no id of their own: the marks of a row of blocks are the last bars of its axes. @param {HTMLElement} box */
const blockNodes = (box) =>
  [...box.querySelectorAll(".barlayer")].flatMap((layer) => {
    const marks = [...layer.querySelectorAll(":scope > .trace.bars")].at(-1);
    marks?.classList.add("blocks");
    return marks ? [...marks.querySelectorAll(".point > path")] : [];
  });

/** @param {BlockWords} block @param {ReadonlySet<number>} shown */
const isAmong = ({ ops, count }, shown) => ops.some((op) => shown.has(op)) && count > 0;

/** @type {Record<string, string>} */
const PART_OF_WAIT = {
  links: "exposed",
  transfers: "exposed_transfer",
  input: "infeed_outfeed",
  host_wait: "idle",
  unknown_wait: "idle",
};

/** @param {BlockWords} block @param {string | null} chosen part */
const isChosenWait = ({ key }, chosen) =>
  chosen !== null && PART_OF_WAIT[key] === chosen.split(".")[0];

/** What the card says: of several operations the names of the longest. @param {Model} model @param {BlockWords} block */
function contentOf(model, { name, lines, ops, count }) {
  if (count < 2) return { name, lines };
  const short = model.ops.names?.short ?? [];
  const names = ops
    .slice(0, MOST_NAMES)
    .map((op) => short[op] ?? String(model.ops.columns.name[op]));
  const more = count - names.length;
  const rest = more > 0 && names.length > 0 ? [`${grouped(more)} more`] : [];
  return { name, lines: [...lines, ...names, ...rest] };
}

/** Heading, choice and equation of a view by other peaks. @param {Gain} gain */
function writeWords({ title, group, has_work, total, equation }) {
  part("gain-title").textContent = title;
  part("gain-switch").hidden = !group;
  part("gain").querySelector(".plot-gain")?.classList.toggle("with-work", has_work);
  const box = part("equation");
  box.setAttribute("aria-label", `${total} and its parts`);
  box.role = equation.some((term) => term.part) ? "listbox" : "group";
  box.replaceChildren(
    ...equation.flatMap((term, i) => [
      i === 0 ? "" : html("span", { class: "sign", "aria-hidden": "true" }, "+"),
      termOf(term),
    ]),
  );
  activate(box, termsOf(box)[0]);
}

/** Terms that filter: together one control. @param {HTMLElement} box */
const termsOf = (box) => findAll(HTMLElement, "[role=option]", box);

/** @param {GainTerm} term */
function termOf({ part: filter, texture, amount, label, idle_ratio }) {
  const number =
    idle_ratio === undefined
      ? amount
      : html("data", { "data-q": "idle", value: String(idle_ratio) }, amount);
  const content = [html("i", { class: `swatch-${texture}` }), html("b", {}, number), ` ${label}`];
  const own = filter ? { role: "option", "aria-selected": "false", "data-part": filter } : {};
  return html("span", { class: "term", ...own }, ...content);
}
