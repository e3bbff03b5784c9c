// The roofline of operations: drawn here, dragged with Plotly; filters by a class per point, selects by an overlay.

import { find, findAll, html, part } from "../ui/dom.js";
import { watchedSize } from "../ui/size.js";
import { painted, turn } from "../ui/turns.js";
import { Drawing } from "./drawing.js";
import { dropFirstFigure } from "./first-figure.js";
import { CONFIG, dragFigure, OP_MARGIN } from "./looks.js";
import { axesOf, opFigure } from "./op-figure.js";
import {
  boxFrom,
  isInside,
  isShare,
  landmarks,
  opGeometry,
  pannedBy,
  rangeBehind,
  rectangleOf,
  zoomedBy,
  zoomFrom,
} from "./op-geometry.js";
import { OpPoints } from "./op-points.js";
import { movesOf } from "./landing-places.js";
import { createOverlay } from "./overlay.js";
import { trackPointer, trackRectangle, trackWheel } from "./pointer.js";
import { toldApart } from "../text/names.js";
import { obstaclesOf } from "./obstacles.js";
import { ownCeilings, ownObstacles } from "./own-ceilings.js";
import { pointLabels } from "./point-labels.js";
import { edgeNotes } from "./points.js";
import { ridge } from "./roofs.js";
import { significant } from "../text/format.js";

/** @import { Model, Row } from "../types/model.js" */
/** @import { Plotly, PlotElement } from "../types/plotly.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { ShownPin } from "../state/pins.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Paint } from "./looks.js" */
/** @import { Landmark, OpGeometry, Rectangle } from "./op-geometry.js" */
/** @import { OwnCeilings } from "./own-ceilings.js" */
/** @import { Box, Obstacles } from "./point-labels.js" */
/** @import { Landing } from "./landing-places.js" */
/** @import { Edge, Point } from "./points.js" */

/**
 * @typedef {"zoom" | "pan" | "select"} Tool
 *
 * @typedef {Point | Landmark} OpPlace what the pointer can be on: an op, a ridge point or the program
 *
 * @typedef {object} OpChartOptions
 * @property {Model} model
 * @property {Store} store
 * @property {Paint} paint
 * @property {() => readonly ShownPin[]} pinned
 * @property {(place: OpPlace | null, event: PointerEvent) => void} onHover
 * @property {(place: OpPlace, event: PointerEvent) => void} onClick
 */

const NAME_LETTERS = 22;
const CLOCK_RADIUS = 4;
const LEAST_SHARE = 0.004; // of the time; shorter operations have no name beside them

/** @param {number} width of the chart in pixels */
const mostNames = (width) => (width < 520 ? 3 : width > 900 ? 12 : 7);

/** Widths of texts in the font of the names. @param {string} family of that font */
function createMeasure(family) {
  const context = document.createElement("canvas").getContext("2d");
  /** @type {Map<string, number>} */
  const known = new Map();
  if (context) context.font = `11px ${family}`;
  /** @param {string} text */
  return (text) => {
    const width = known.get(text) ?? context?.measureText(text).width ?? 6 * text.length;
    known.set(text, width);
    return width;
  };
}

/** The state keys that need a new drawing; all others only change classes and the overlay. */
const DRAWN_BY = /** @type {const} */ ([
  "x",
  "y",
  "roofs",
  "prec",
  "size",
  "fit",
  "zoom",
  "infeed",
]);

/**
 * Whether a change of state needs a new drawing.
 * @param {ViewState} state
 * @param {ViewState} previous
 */
export const needsDrawing = (state, previous) =>
  DRAWN_BY.some((key) => state[key] !== previous[key]);

export class OpChart {
  #options;
  #chart = find(HTMLElement, "#op-chart");
  #notes = findAll(HTMLElement, "[data-edge]");
  #size = watchedSize(this.#chart);
  #drawing = new Drawing(this.#chart);
  #points = new OpPoints(this.#drawing.marks);
  #overlay = createOverlay(find(HTMLElement, ".plot-ops"));
  /** @type {Tool} */
  #tool = "zoom";
  /** @type {OpGeometry | null} null before the first drawing */
  #geometry = null;
  /** @type {Landmark[]} */
  #marks = [];
  /** @type {Map<number, Point>} */
  #pointOf = new Map();
  /** @type {ReadonlySet<Row>} */
  #shown = new Set();
  /** @type {readonly Landing[] | null} */
  #landings = null;
  /** @type {Plotly | null} null before it is there: the chart can be worked with, but not dragged */
  #Plotly = null;
  #isWired = false;
  /** The server's drawing stands until this one is there. */
  #isDrawn = false;
  #frame = 0;
  #naming = 0;
  #following = 0;
  #tools = find(HTMLElement, ".chart-tools");
  #measure;
  /** @type {OwnCeilings | null} */
  #own = null;
  /** @type {Obstacles} */
  #obstacles = { lines: [], discs: [], taken: [] };

  /** @param {OpChartOptions} options */
  constructor(options) {
    const { onHover, onClick } = options;
    this.#options = options;
    this.#measure = createMeasure(options.paint.family);
    trackPointer(this.#chart, { places: () => this.#places(), onHover, onClick });
    trackWheel(this.#chart, (factor, at) => this.zoomBy(factor, at));
    trackRectangle(this.#chart, {
      enabled: () => this.#tool === "select",
      onDrag: (rectangle) => this.#overlay.area(rectangle),
      onEnd: (rectangle) => this.#select(rectangle),
    });
  }

  /** The chart can be dragged from now on. @param {Plotly} library */
  async use(library) {
    this.#Plotly = library;
    await this.#follow();
  }

  /** Draws in the size that it has by now. */
  drawAnew() {
    this.#size.forget();
    this.draw();
  }

  /** Finds the places of all: they can be pointed at from then on, over the server's drawing, which shows the same. */
  place() {
    this.#place();
  }

  /** Draws, unless a change of the view has done so. */
  drawFirst() {
    if (!this.#isDrawn) this.draw();
  }

  draw() {
    const geometry = this.#place();
    this.#isDrawn = true;
    this.#drawing.draw(
      opFigure(geometry, this.#options.paint, { dragmode: false }),
      geometry.scale,
    );
    this.#drawPoints(geometry);
    dropFirstFigure("ops");
    this.#overlay.moving(false);
    this.#followSoon();
  }

  /** Plotly shows nothing, so that it may take over the new ranges after the frame that shows them. */
  async #followSoon() {
    if (!this.#Plotly) return;
    this.#following += 1;
    const mine = this.#following;
    await painted();
    await turn();
    if (mine === this.#following) await this.#follow();
  }

  async #follow() {
    if (!this.#Plotly || !this.#geometry) return;
    const { data, layout } = dragFigure(this.#geometry.scale, this.#dragmode);
    const plot = await this.#Plotly.react(this.#chart, data, layout, CONFIG);
    if (!this.#isWired) this.#wire(plot);
  }

  #place() {
    const { model, store } = this.#options;
    const geometry = opGeometry(model, store.get(), this.#box(), this.#shown);
    const { ridges, star } = landmarks(geometry);
    this.#geometry = geometry;
    this.#marks = star ? [...ridges, star] : ridges;
    this.#pointOf = new Map(standIns(geometry).map((point) => [point.row.op, point]));
    this.#obstacles = obstaclesOf(geometry, this.#marks);
    showLegend(model, geometry);
    return geometry;
  }

  /** @param {OpGeometry} geometry the places of this drawing */
  #drawPoints(geometry) {
    const { star } = landmarks(geometry);
    const points = geometry.joined ? [] : geometry.points;
    this.#points.draw({ ...geometry, points, star }, this.#options.paint);
    this.#fade();
    this.markSelection();
    this.#showLandings();
  }

  /**
   * @param {ReadonlySet<Row>} rows the ops that pass the filters
   * @param {boolean} [draws] a drawing follows, and shows them
   */
  show(rows, draws = false) {
    this.#shown = rows;
    if (!this.#geometry || draws) return;
    if (!this.#isDrawn) return this.draw();
    if (this.#geometry.joined) this.#drawSoon();
    this.#fade();
    this.markSelection();
  }

  markSelection() {
    const { op, sel, box } = this.#options.store.get();
    const geometry = this.#geometry;
    if (!geometry) return;
    const { scale } = geometry;
    const point = this.#visible(op);
    const roof = point && !point.pinned ? geometry.roofOf(point) : Infinity;
    this.#own = point && !point.pinned ? this.#ownOf(point) : null;
    this.#overlay.own(this.#own);
    this.#points.choose(this.#own && point ? point.row : null);
    this.#chart.classList.toggle("has-own", this.#own !== null);
    this.#nameSoon();
    const roofY = Number.isFinite(roof) ? Math.max(scale.margin.t, scale.toY(roof)) : null;
    this.#overlay.select(point, this.#own ? null : roofY);
    this.#overlay.area(box ? rectangleOf(box, scale) : null);
    this.#overlay.pick(sel.flatMap((one) => this.#visible(one) ?? []));
    this.markPins();
  }

  /** The numbers of pinned operations, at their points. */
  markPins() {
    this.#overlay.pins(
      this.#options.pinned().flatMap(({ number, row }) => {
        const place = this.#visible(row?.op ?? null);
        return place ? [{ place, number }] : [];
      }),
    );
  }

  /** The ceilings of the selected op alone. @param {Point} point */
  #ownOf(point) {
    const { model, store } = this.#options;
    const { infeed, x } = store.get();
    const chart = this.#geometry && { scale: this.#geometry.scale, axis: model.axis(x).id };
    if (this.#geometry?.isShare) return null;
    return chart && ownCeilings(model, model.view(infeed), point, chart);
  }

  /** @param {Row | null} row */
  light(row) {
    this.#overlay.hover(this.#visible(row?.op ?? null));
  }

  /**
   * Shows where points would land, and fades the others; null ends that.
   * @param {readonly Landing[] | null} landings
   */
  land(landings) {
    this.#landings = landings;
    this.#fade();
    this.#showLandings();
  }

  #showLandings() {
    const geometry = this.#geometry;
    if (!geometry) return;
    // A share of a roof does not say where the roof is after fewer bytes: no marks there.
    const hasRates = !geometry.joined && !isShare(this.#options.store.get());
    const moves = this.#landings && hasRates ? this.#moves(this.#landings, geometry) : [];
    if (moves.length > 0) this.#points.fade(new Set(moves.map(({ from }) => from.row)));
    this.#overlay.land(moves.filter(({ to }) => isInside(to, geometry.scale)));
  }

  /** @param {readonly Landing[]} landings @param {OpGeometry} geometry */
  #moves(landings, { points, scale }) {
    const shown = points.filter((point) => !point.pinned && this.#shown.has(point.row));
    return movesOf(landings, shown, scale, this.#options.store.get().x);
  }

  /** @param {Tool} chosen */
  setTool(chosen) {
    this.#tool = chosen;
    this.#chart.classList.toggle("selecting", chosen === "select");
    this.#Plotly?.relayout(this.#chart, { dragmode: this.#dragmode });
  }

  /** @param {number} factor below 1 zooms in @param {{ x: number, y: number }} [at] pixels of the place that stays */
  zoomBy(factor, at) {
    if (!this.#geometry) return;
    this.#options.store.set({ zoom: zoomedBy(this.#geometry.scale, factor, at) });
  }

  /** Moves the view by a part of its width and height. @param {number} right @param {number} up */
  panBy(right, up) {
    if (!this.#geometry) return;
    this.#options.store.set({ zoom: pannedBy(this.#geometry.scale, right, up) });
  }

  get #dragmode() {
    return this.#tool === "select" ? false : this.#tool;
  }

  #box() {
    return { ...this.#size.get(), margin: OP_MARGIN };
  }

  /** Joined levels are drawn for the filtered ops only, once per frame at most. */
  #drawSoon() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.draw());
  }

  /** Boxes over the chart: its buttons, and the notes at its edges. @returns {Box[]} */
  #covered() {
    const { left, top } = this.#chart.getBoundingClientRect();
    return [this.#tools, ...this.#notes].flatMap((element) => {
      const frame = element.getBoundingClientRect();
      const box = [frame.left - left, frame.top - top, frame.right - left, frame.bottom - top];
      return frame.width > 0 ? [/** @type {Box} */ (box)] : [];
    });
  }

  /** Names of the points that matter, of the selected one alone where there is one; after the next frame, for keys come first. */
  async #nameSoon() {
    this.#naming += 1;
    const mine = this.#naming;
    // No frame follows the layout of paper before it is printed.
    if (!document.body.classList.contains("printing")) await painted().then(turn);
    if (mine === this.#naming) this.#name();
  }

  #name() {
    if (!this.#geometry) return;
    const { op } = this.#options.store.get();
    const { scale } = this.#geometry;
    const chosen = this.#visible(op);
    const points = chosen ? [chosen] : this.#worthNaming();
    const texts = toldApart(
      points.map(({ row }) => row),
      NAME_LETTERS,
    );
    const star = chosen ? undefined : this.#marks.find(({ ridge }) => !ridge);
    const own = chosen ? this.#own : null;
    const wanted = [
      ...(star && isInside(star, scale)
        ? [{ ...star, text: "program", isStrong: true, token: null }]
        : []),
      ...points.map((point, place) => {
        return { ...point, text: texts[place], isStrong: point.row.op === op, token: null };
      }),
      ...(own?.dots ?? []).map((dot) => ({ ...dot, radius: CLOCK_RADIUS, isStrong: true })),
    ].map((one) => ({ ...one, width: this.#measure(one.text) * (one.isStrong ? 1.15 : 1) }));
    const { margin, width, height } = scale;
    /** @type {Box} */
    const inside = [margin.l + 2, margin.t + 2, width - margin.r - 2, height - margin.b - 2];
    const around = own && chosen ? ownObstacles(own, chosen, this.#measure) : this.#obstacles;
    const taken = [...around.taken, ...this.#covered()];
    const chart = { ...around, taken, inside, most: mostNames(width) };
    const labels = pointLabels(wanted, chart);
    this.#overlay.name(labels.map((label) => ({ ...wanted[label.of], label })));
  }

  /** The longest operations that the filters leave, twice as many as there may be names: some find no place. */
  #worthNaming() {
    const points = [...this.#pointOf.values()].filter(
      (point) =>
        !point.pinned &&
        point.row.share > LEAST_SHARE &&
        this.#shown.has(point.row) &&
        this.#visible(point.row.op),
    );
    const most = 2 * mostNames(this.#geometry?.scale.width ?? 0);
    return points.sort((a, b) => b.row.share - a.row.share).slice(0, most);
  }

  #fade() {
    this.#nameSoon();
    this.#points.fade(this.#shown);
    const words = edgeNotes(this.#visiblePoints());
    for (const note of this.#notes)
      note.textContent = words[/** @type {Edge} */ (note.dataset.edge)];
  }

  *#visiblePoints() {
    for (const point of this.#geometry?.points ?? []) if (this.#shown.has(point.row)) yield point;
  }

  /** @returns {Iterable<OpPlace>} */
  *#places() {
    yield* this.#marks;
    yield* this.#visiblePoints();
  }

  /** The point of an op where it lies inside the axes. @param {number | null} op */
  #visible(op) {
    const point = op === null ? undefined : this.#pointOf.get(op);
    return point && this.#geometry && isInside(point, this.#geometry.scale) ? point : null;
  }

  /** @param {Rectangle | null} rectangle */
  #select(rectangle) {
    if (rectangle && this.#geometry)
      this.#options.store.set({ box: boxFrom(rectangle, this.#geometry.scale), page: 1 });
    else this.markSelection();
  }

  /** While the chart is dragged the drawing goes with Plotly's plot. @param {DOMMatrix | null} matrix */
  #carry(matrix) {
    const geometry = this.#geometry;
    if (!geometry) return;
    const { scale } = geometry;
    const { margin } = scale;
    const carried = matrix
      ? { a: matrix.a, d: matrix.d, e: matrix.e - margin.l, f: matrix.f - margin.t }
      : { a: 1, d: 1, e: 0, f: 0 };
    this.#drawing.carry(matrix && carried);
    this.#points.keepShape(carried);
    this.#overlay.moving(matrix !== null);
    const shown = rangeBehind(carried, scale);
    this.#drawing.drawAxes(axesOf({ ...geometry, scale: shown }, this.#options.paint), shown);
  }

  /** @param {PlotElement} plot */
  #wire(plot) {
    const { store } = this.#options;
    this.#isWired = true;
    plot.on("plotly_relayout", (change) => {
      const zoom = this.#geometry && zoomFrom(change, this.#geometry.scale);
      if (zoom) store.set({ zoom });
      else this.#carry(null);
    });
    plot.on("plotly_relayouting", () => this.#carry(plotMatrix(this.#chart)));
    plot.on("plotly_doubleclick", () => store.set({ zoom: null }));
  }
}

/** How Plotly has moved its plot by now. @param {HTMLElement} chart */
function plotMatrix(chart) {
  const plot = chart.querySelector(".overplot > .xy");
  return plot instanceof SVGGraphicsElement
    ? (plot.transform.baseVal.consolidate()?.matrix ?? null)
    : null;
}

/** One point per op: of joined levels the one at its bound. @param {OpGeometry} geometry */
const standIns = ({ joined, points }) => joined?.dots.filter((dot) => dot.isBound) ?? points;

/**
 * The key to what the lines' labels do not say: other devices, and colours of levels.
 * @param {Model} model
 * @param {OpGeometry} geometry
 */
function showLegend(model, { joined }) {
  const legend = part("chart-legend");
  const main = model.roofs.compute[0]?.unit;
  const others = model.others.map(({ name, token, compute, memory }, i) => {
    const isSameUnit = compute?.unit && compute.unit === main;
    const corner = ridge(memory, compute);
    const at = corner === null ? "" : `, ridge ${significant(10 ** corner.x)} FLOP/B`;
    const text = `${isSameUnit ? `${name}, ${compute.label}` : name}${at}`;
    return legendEntry(token, text, `vs-${i + 1}`);
  });
  const levels = joined?.levels ?? [];
  const left = `the ${joined?.most} longest operations are joined`;
  legend.replaceChildren(
    ...others,
    ...levels.map(({ label, token }) => legendEntry(token, label, "dotted")),
    ...(joined && joined.left > 0 ? [html("span", { class: "muted" }, left)] : []),
  );
  legend.hidden = legend.childElementCount === 0;
  find(HTMLElement, ".category-legend").hidden = joined !== null; // its colours are not in that drawing
}

/** @param {string} token @param {string} text @param {string} dash class of the line */
const legendEntry = (token, text, dash) =>
  html(
    "span",
    { class: "key" },
    html("i", { class: `swatch ${dash}`, vars: { "--swatch": `var(${token})` } }),
    text,
  );
