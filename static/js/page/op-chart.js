// The roofline of operations: what is pointed at, chosen, filtered, zoomed and pinned on the figure of the server.

import { areaOf, Marks } from "../chart/marks.js";
import {
  boxOf,
  pannedBy,
  rectangleOf,
  trackMarks,
  trackRectangle,
  trackWheel,
  zoomedBy,
} from "../chart/card.js";
import { Mount } from "../chart/mount.js";
import { createOverlay } from "../chart/overlay.js";
import { find, findAll, html, part } from "../ui/dom.js";
import { landingTraces } from "./landings.js";

/** @import { Pointed, Rectangle } from "../chart/card.js" */
/** @import { ChartFigure } from "../types/figure.js" */
/** @import { Model, Row } from "../types/model.js" */
/** @import { PlotElement } from "../types/plotly.js" */
/** @import { Box } from "../types/view-state.js" */
/** @import { ShownPin } from "../state/pins.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Landing } from "./landings.js" */

/**
 * @typedef {"zoom" | "pan" | "select"} Tool
 *
 * @typedef {object} OpChartOptions
 * @property {Model} model
 * @property {Store} store
 * @property {() => readonly ShownPin[]} pinned
 * @property {(pointed: Pointed | null, event: PointerEvent) => void} onHover
 * @property {(pointed: Pointed, event: PointerEvent) => void} onClick
 */

/** @type {Record<string, string>} */
const EDGE_SIGNS = { left: "◁", right: "▷", above: "△", below: "▽" };
const LEAST_MOVE = 1e-9; // of a range: less is rounding

export class OpChart {
  #options;
  #box = find(HTMLElement, "#op-chart");
  #notes = findAll(HTMLElement, "[data-edge]");
  #marks = new Marks(this.#box);
  #overlay = createOverlay(find(HTMLElement, ".plot-ops"));
  #mount;
  /** @type {Tool} */
  #tool = "zoom";
  /** @type {ReadonlySet<number>} ops that the filters leave */
  #shown = new Set();
  /** @type {number | null} */
  #lit = null;
  /** @type {readonly Landing[] | null} */
  #landings = null;

  /** @param {OpChartOptions} options */
  constructor(options) {
    this.#options = options;
    this.#mount = new Mount(this.#box, {
      onDrawn: () => this.#drawn(),
      wire: (plot) => this.#wire(plot),
      more: () => this.#landed(),
      layout: () => ({ dragmode: this.#dragmode }),
    });
    trackWheel(this.#box, (factor, at) => this.zoomBy(factor, at));
    trackRectangle(this.#box, {
      enabled: () => this.#tool === "select" && this.#mount.layout !== null,
      onDrag: (rectangle) => this.#overlay.area(rectangle),
      onEnd: (rectangle) => this.#select(rectangle),
    });
  }

  /** The figure as it is drawn, for pictures. */
  get figure() {
    return this.#mount.figure;
  }

  /** @param {ChartFigure} figure */
  async draw(figure) {
    showLegend(figure);
    part("chart-note").textContent = figure.note ?? "";
    await this.#mount.show(figure);
  }

  /** The same in other colours, or in another size. */
  redraw() {
    this.#mount.redraw();
  }

  /** @param {ReadonlySet<Row>} rows the ops that pass the filters */
  show(rows) {
    this.#shown = new Set([...rows].map(({ op }) => op));
    this.#apply();
    this.#noteEdges();
  }

  /** Selected, chosen and pinned ops. */
  markSelection() {
    this.#apply();
    const { box } = this.#options.store.get();
    const shown = this.#range();
    this.#overlay.area(box && shown ? rectangleOf(box, areaOf(this.#box), shown) : null);
    this.markPins();
  }

  /** The numbers of pinned operations, at their marks. */
  markPins() {
    this.#overlay.pins(
      this.#options.pinned().flatMap(({ number, row }) => {
        const place = this.#marks.placeOf(row?.op);
        return place ? [{ place, number }] : [];
      }),
    );
  }

  /** @param {Row | null} row */
  light(row) {
    if (this.#lit === (row?.op ?? null)) return;
    this.#lit = row?.op ?? null;
    this.#apply();
  }

  /**
   * Shows where marks would land, and fades the others; null ends that.
   * @param {readonly Landing[] | null} landings
   */
  land(landings) {
    if (landings === this.#landings) return;
    this.#landings = landings;
    if (this.#mount.layout) this.#mount.redraw();
  }

  /** @param {Tool} chosen */
  setTool(chosen) {
    this.#tool = chosen;
    this.#box.classList.toggle("selecting", chosen === "select");
    this.#mount.relayout({ dragmode: this.#dragmode });
  }

  /** @param {number} factor below 1 zooms in @param {{ x: number, y: number }} [at] shares of the plot that stay */
  zoomBy(factor, at) {
    const shown = this.#range();
    if (shown) this.#zoom(zoomedBy(shown, factor, at));
  }

  /** Moves the view by a part of its width and height. @param {number} right @param {number} up */
  panBy(right, up) {
    const shown = this.#range();
    if (shown) this.#zoom(pannedBy(shown, right, up));
  }

  /** Shows a range at once; the server's ticks and names for it follow. @param {Box} zoom */
  #zoom(zoom) {
    const [x0, x1, y0, y1] = zoom;
    this.#mount.relayout({ "xaxis.range": [x0, x1], "yaxis.range": [y0, y1] });
    this.#options.store.set({ zoom });
  }

  /** Ranges of both axes, log10. @returns {Box | null} */
  #range() {
    const layout = this.#mount.layout;
    if (!layout) return null;
    return [...layout.xaxis.range, ...layout.yaxis.range];
  }

  get #dragmode() {
    return this.#tool === "select" ? /** @type {const} */ (false) : this.#tool;
  }

  #landed() {
    const { figure } = this.#mount;
    if (!figure || !this.#landings) return [];
    return landingTraces(this.#landings, figure, this.#options.model, this.#options.store.get());
  }

  #drawn() {
    if (!this.#mount.figure) return;
    this.#marks.read(this.#mount.figure);
    this.markSelection();
    this.#noteEdges();
  }

  #apply() {
    const { op, sel } = this.#options.store.get();
    const picked = new Set(sel);
    const landing = this.#landings && new Set(this.#landings.map(({ name }) => name));
    const { ops } = this.#options.model;
    const hasOwn = this.#mount.figure?.data.some(({ meta }) => meta.role === "own") ?? false;
    /** @param {number} row */
    const isFaded = (row) =>
      !this.#shown.has(row) ||
      (landing !== null && !landing.has(String(ops.columns.name[row]))) ||
      (hasOwn && row !== op);
    this.#marks.apply(
      (row) =>
        [
          isFaded(row) ? "ghost" : "",
          row === op ? "selected" : "",
          row === this.#lit ? "hovered" : "",
          picked.has(row) ? "picked" : "",
        ]
          .filter(Boolean)
          .join(" "),
      (row) => row === null || this.#shown.has(row),
    );
  }

  /** "▽ 8 below", per edge: what its marks stand for, or what a zoom leaves out. */
  #noteEdges() {
    const beyond = this.#mount.figure?.beyond ?? {};
    for (const note of this.#notes) {
      const edge = /** @type {keyof typeof beyond} */ (note.dataset.edge);
      const ops = (beyond[edge] ?? []).filter((op) => this.#shown.has(op));
      note.textContent = ops.length === 0 ? "" : `${EDGE_SIGNS[edge]} ${ops.length} ${edge}`;
    }
  }

  /** @param {Rectangle | null} rectangle */
  #select(rectangle) {
    const shown = this.#range();
    if (rectangle && shown)
      this.#options.store.set({ box: boxOf(rectangle, areaOf(this.#box), shown), page: 1 });
    else this.markSelection();
  }

  /** @param {PlotElement} plot */
  #wire(plot) {
    const { store, onHover, onClick } = this.#options;
    trackMarks(this.#box, plot, {
      isShown: ({ role, row }) => role !== "marks" || this.#shown.has(Number(row)),
      onHover,
      onClick,
    });
    plot.on("plotly_relayouting", () => this.#overlay.moving(true));
    plot.on("plotly_relayout", (change) => {
      this.#overlay.moving(false);
      const shown = this.#range();
      const isDragged = Object.keys(change).some((key) => /^[xy]axis\.range\[/.test(key));
      if (isDragged && shown && isOther(shown, store.get().zoom)) store.set({ zoom: shown });
    });
    plot.on("plotly_doubleclick", () => store.set({ zoom: null }));
  }
}

/** @param {Box} shown @param {Box | null} zoom */
const isOther = (shown, zoom) =>
  zoom === null || shown.some((end, i) => Math.abs(end - zoom[i]) > LEAST_MOVE);

/** The key to what the lines' names do not say: other devices, and colours of levels. @param {ChartFigure} figure */
function showLegend({ legend, data }) {
  const box = part("chart-legend");
  box.replaceChildren(
    ...legend.map(({ text, token, dash }) =>
      token
        ? html(
            "span",
            { class: "key" },
            html("i", {
              class: `swatch ${dash === "dot" ? "dotted" : token.slice(2)}`,
              vars: { "--swatch": `var(${token})` },
            }),
            text,
          )
        : html("span", { class: "muted" }, text),
    ),
  );
  box.hidden = legend.length === 0;
  const isJoined = data.some(({ meta }) => meta.role === "joined");
  find(HTMLElement, ".category-legend").hidden = isJoined; // its colours are not in that drawing
}
