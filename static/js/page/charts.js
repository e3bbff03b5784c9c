// The charts of the page, and the buttons and keys that move them.

import { createGain } from "../chart/gain.js";
import { createLinkStrip } from "../chart/link-strip.js";
import { JOINED } from "../state/model.js";
import { isShare } from "../state/places.js";
import { buttonPart, find, findAll } from "../ui/dom.js";
import { wireChartKeys } from "../ui/keyboard.js";
import { painted } from "../ui/turns.js";
import { comesWithView, createFigures, figureQuery } from "./figures.js";
import { OpChart } from "./op-chart.js";
import { createProgramChart } from "./program-chart.js";
import { notify } from "./toast.js";

/** @import { Pointed } from "../chart/card.js" */
/** @import { Model, Row } from "../types/model.js" */
/** @import { ShownPin } from "../state/pins.js" */
/** @import { Store } from "../state/store.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Light } from "./light.js" */
/** @import { Selection } from "./selection.js" */
/** @import { Tool } from "./op-chart.js" */
/** @import { VisibleOps } from "./visible-ops.js" */

const MOST_JOINED = 50; // as the server draws
const NOT_DRAWN = "The charts could not be drawn. Reload the page to try again.";

/**
 * @typedef {object} ChartsOptions
 * @property {Model} model
 * @property {Store} store
 * @property {Light} light
 * @property {Selection} selection
 * @property {() => readonly ShownPin[]} pinned
 * @property {(key: string) => void} onAsk a peak is asked for
 * @property {string} figuresUrl
 */

/** @param {ChartsOptions} options */
export function createCharts(options) {
  const { model, store, light, selection } = options;
  const figures = createFigures(options.figuresUrl);
  const box = find(HTMLElement, "#op-chart");
  const op = new OpChart({
    model,
    store,
    pinned: options.pinned,
    onHover: (pointed, event) => light.place(pointed, event),
    onClick: (pointed, event) => choose(pointed, event, options),
  });
  const links = createLinkStrip({
    model,
    store,
    onHover: light.row,
    onClick: selection.click,
    onAsk: options.onAsk,
  });
  const program = createProgramChart({
    model,
    store,
    pinned: options.pinned,
    onHover: light.point,
    onClick: selection.togglePoint,
  });
  const gain = createGain({
    model,
    store,
    onHover: light.block,
    onOp: selection.click,
    onWait: showWait,
  });
  wireTools(op, store);
  let asked = "none";

  /** Draws what the address says; the old charts stay until the new ones are there. @param {VisibleOps} visible */
  async function draw(visible) {
    const state = store.get();
    const joined = areLevelsJoined(model, state) ? joinedOps(visible) : [];
    const query = figureQuery(state, joined);
    if (query === asked) return;
    asked = query;
    box.ariaBusy = "true";
    try {
      const found = comesWithView(state, joined) ? model.figures : figures.get(query);
      const {
        op: ops,
        program: points,
        links: strip,
      } = found instanceof Promise ? await found : found;
      if (query !== asked) return;
      await op.draw(ops);
      await painted(); // the small chart comes after the frame that shows what was asked for
      if (query === asked) await program.draw(points);
      if (query === asked) await links.draw(strip);
    } catch (error) {
      if (query !== asked) return;
      asked = "none";
      notify(NOT_DRAWN);
      throw error;
    } finally {
      if (query === asked) box.ariaBusy = "false";
    }
  }

  return {
    gain,
    op,
    links,
    program,
    draw,
    /** The marks of pinned points. */
    markPins() {
      op.markPins();
      program.markPins();
    },
    /** @param {Row | null} row */
    lightOp(row) {
      op.light(row);
      links.light(row);
    },
    /** The same in other colours, in another size, or on paper: at once. */
    redraw() {
      gain?.redraw();
      links.redraw();
      op.redraw();
      program.redraw();
    },
  };
}

/** @typedef {ReturnType<typeof createCharts>} Charts */

/**
 * Whether the server joins the levels of an op: by choice, or because it is the usual axis here.
 * @param {Model} model
 * @param {ViewState} state
 */
const areLevelsJoined = (model, state) =>
  state.x === JOINED ||
  (model.axis(state.x)?.id === JOINED && !isShare(state) && state.op === null);

/** The longest ops that the filters leave, where they leave some out. @param {VisibleOps} visible */
const joinedOps = ({ shown, view }) =>
  shown.length === view.rows.length
    ? []
    : [...shown]
        .sort((a, b) => b.share - a.share)
        .slice(0, MOST_JOINED)
        .map(({ op }) => op);

/** A wait is explained by the timeline, one for links by the transfers. @param {string} key */
function showWait(key) {
  const place = key === "links" || key === "transfers" ? ".plot-links" : "[data-timeline]";
  document.querySelector(place)?.scrollIntoView({ block: "nearest" });
}

/**
 * A click on the chart of operations: an op, or the program's star.
 * @param {Pointed} pointed
 * @param {PointerEvent} event
 * @param {ChartsOptions} options
 */
function choose({ role, row }, event, { model, store, selection }) {
  const view = model.view(store.get().infeed);
  const chosen = role === "marks" ? view.byOp.get(Number(row)) : null;
  if (chosen) selection.click(chosen, event);
  else if (role === "program") selection.togglePoint(view.program[0]);
}

/** @param {OpChart} chart @param {Store} store */
function wireTools(chart, store) {
  const tools = findAll(HTMLButtonElement, "[data-tool]");
  for (const button of tools) {
    button.addEventListener("click", () => {
      for (const other of tools) other.setAttribute("aria-pressed", String(other === button));
      chart.setTool(/** @type {Tool} */ (button.dataset.tool));
    });
  }
  for (const button of findAll(HTMLButtonElement, "[data-zoom-by]"))
    button.addEventListener("click", () => chart.zoomBy(Number(button.dataset.zoomBy)));
  const reset = () => store.set({ zoom: null });
  buttonPart("zoom-reset").addEventListener("click", reset);
  wireChartKeys(find(HTMLElement, "#op-chart"), {
    pan: (right, up) => chart.panBy(right, up),
    zoom: (factor) => chart.zoomBy(factor),
    reset,
  });
}
