// The charts of the page, and the buttons and keys that move them. They can be worked with before Plotly is there.

import { createLinkStrip } from "../chart/link-strip.js";
import { createNoFlopsStrip } from "../chart/no-flops-strip.js";
import { OpChart } from "../chart/op-chart.js";
import { createProgramChart } from "../chart/program-chart.js";
import { buttonPart, find, findAll } from "../ui/dom.js";
import { wireChartKeys } from "../ui/keyboard.js";
import { turn } from "../ui/turns.js";

/** @import { Model, Row } from "../types/model.js" */
/** @import { Plotly } from "../types/plotly.js" */
/** @import { Paint } from "../chart/looks.js" */
/** @import { OpPlace, Tool } from "../chart/op-chart.js" */
/** @import { ShownPin } from "../state/pins.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Light } from "./light.js" */
/** @import { Selection } from "./selection.js" */

/**
 * @typedef {object} ChartsOptions
 * @property {Model} model
 * @property {Store} store
 * @property {Paint} paint
 * @property {Light} light
 * @property {Selection} selection
 * @property {() => readonly ShownPin[]} pinned
 * @property {(key: string) => void} onAsk a peak is asked for
 */

/** @param {ChartsOptions} options */
export function createCharts(options) {
  const { model, store, paint, light, selection } = options;
  const op = new OpChart({
    model,
    store,
    paint,
    pinned: options.pinned,
    onHover: light.place,
    onClick: (place, event) => choose(place, event, options),
  });
  const strip = createNoFlopsStrip({
    model,
    store,
    onHover: light.row,
    onClick: selection.click,
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
    paint,
    pinned: options.pinned,
    onHover: light.point,
    onClick: selection.togglePoint,
  });
  wireTools(op, store);
  return {
    /** @type {Plotly | null} */
    Plotly: null,
    op,
    strip,
    links,
    program,
    /** The marks of pinned points. */
    markPins() {
      op.markPins();
      program.markPins();
    },
    /** @param {Row | null} row */
    lightOp(row) {
      op.light(row);
      strip.light(row);
      links.light(row);
    },
    /** The chart of operations can be dragged from now on. @param {Plotly} Plotly */
    async use(Plotly) {
      this.Plotly = Plotly;
      await op.use(Plotly);
    },
    /**
     * All can be pointed at, chosen and filtered from then on, over the server's drawings, which show the same.
     * @param {(row: Row) => [number, number] | null} position on the chart of operations
     */
    place(position) {
      strip.place(position);
      links.place();
      op.place();
      program.place();
    },
    /** Takes the place of the server's drawings. @param {(row: Row) => [number, number] | null} position on the chart of operations */
    async drawFirst(position) {
      op.drawFirst();
      await turn();
      strip.draw(position);
      links.draw();
      program.draw();
    },
    /** @param {(row: Row) => [number, number] | null} place position on the chart of operations */
    drawAll(place) {
      strip.drawAnew(place);
      links.draw();
      op.drawAnew();
      program.drawAnew();
    },
    /** The same, but leaves the thread to the browser before the small chart. @param {(row: Row) => [number, number] | null} place */
    async drawInTurns(place) {
      strip.drawAnew(place);
      links.draw();
      op.drawAnew();
      await turn();
      program.drawAnew();
    },
  };
}

/** @typedef {ReturnType<typeof createCharts>} Charts */

/**
 * A click on the chart of operations: an op, or the program's star.
 * @param {OpPlace} place
 * @param {PointerEvent} event
 * @param {ChartsOptions} options
 */
function choose(place, event, { model, store, selection }) {
  if ("row" in place) selection.click(place.row, event);
  else if (!place.ridge) selection.togglePoint(model.view(store.get().infeed).program[0]);
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
