// A figure of the server, drawn by Plotly into its box: the library, colours, the width, and what is drawn again.

import { find } from "../ui/dom.js";
import { watchedSize } from "../ui/size.js";
import { colour } from "../ui/theme.js";

/** @import { ChartFigure, ChartLayout, ChartTrace } from "../types/figure.js" */
/** @import { Plotly, PlotElement } from "../types/plotly.js" */

const NARROW = 600; // pixels of the box, below which a figure has its narrow layout
const NO_LIBRARY = "The chart library could not be loaded.";

/** Quiet charts: own buttons, own card, nothing that talks to another host. */
export const CONFIG = {
  displayModeBar: false,
  displaylogo: false,
  showTips: false,
  doubleClick: false,
  scrollZoom: false,
  responsive: false,
  showSendToCloud: false,
  editable: false,
};

/** Puts an element into the head, and waits for its file. @param {HTMLElement} element */
function loaded(element) {
  return new Promise((resolve, reject) => {
    element.addEventListener("load", resolve);
    element.addEventListener("error", () => reject(new Error(NO_LIBRARY)));
    document.head.append(element);
  });
}

/** @type {Promise<Plotly> | null} */
let library = null;

/** The chart library, which the page names: read once, when the words of the page have been painted. */
export function plotlyReady() {
  library ??= load();
  return library;
}

/** Its style sheet has the name that the library looks for: it would write its own otherwise. */
async function load() {
  if (window.Plotly) return window.Plotly; // a page that is a file has it inside
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.id = "plotly.js-style-global";
  style.className = "no-inline-styles";
  style.href = find(HTMLLinkElement, "#plotly-style").href;
  const script = document.createElement("script");
  script.src = find(HTMLLinkElement, "#plotly-script").href;
  await Promise.all([loaded(style), loaded(script)]);
  if (!window.Plotly) throw new Error(NO_LIBRARY);
  return window.Plotly;
}

/**
 * A copy with the value of each token in its place. Tokens stand under keys that end in "color" only: names of
 * operations may look like one. Plotly compares lists by reference, so that a copy is drawn anew.
 * @template T
 * @param {T} part
 * @param {(token: string) => string} colourOf
 * @param {boolean} [isColour]
 * @returns {T}
 */
export function painted(part, colourOf, isColour = false) {
  if (Array.isArray(part))
    return /** @type {T} */ (part.map((one) => painted(one, colourOf, isColour)));
  if (typeof part === "object" && part !== null)
    return /** @type {T} */ (
      Object.fromEntries(
        Object.entries(part).map(([key, one]) => [
          key,
          painted(one, colourOf, key.endsWith("color")),
        ]),
      )
    );
  return isColour && typeof part === "string" && part.startsWith("--")
    ? /** @type {T} */ (colourOf(part))
    : part;
}

/**
 * Traces and layout of a figure for a box of this size.
 * @param {ChartFigure} figure
 * @param {{ width: number, height: number }} size pixels
 * @returns {{ data: ChartTrace[], layout: ChartLayout }}
 */
export function fitted({ data, layouts }, { width, height }) {
  const name = width < NARROW ? "narrow" : "wide";
  return {
    data: data.filter(({ meta }) => (meta.width ?? name) === name),
    layout: { ...layouts[name], width, height },
  };
}

export class Mount {
  #box;
  #size;
  /** @type {ChartFigure | null} */
  #figure = null;
  /** @type {Plotly | null} */
  #Plotly = null;
  #isWired = false;
  #options;

  /**
   * @param {HTMLElement} box
   * @param {object} options
   * @param {() => void} options.onDrawn every time the marks have been drawn
   * @param {(plot: PlotElement) => void} [options.wire] once, when there is something to listen to
   * @param {() => ChartTrace[]} [options.more] traces beside those of the figure
   * @param {() => Partial<ChartLayout>} [options.layout] in place of the figure's
   */
  constructor(box, options) {
    this.#box = box;
    this.#size = watchedSize(box);
    this.#options = options;
  }

  get figure() {
    return this.#figure;
  }

  /** Ranges of both axes in the words of Plotly; null before the first drawing. */
  get layout() {
    return this.#isWired ? /** @type {PlotElement} */ (this.#box).layout : null;
  }

  /** Draws once the library is there; the newest figure wins. @param {ChartFigure} figure */
  async show(figure) {
    this.#figure = figure;
    this.#box.setAttribute("aria-description", figure.alt);
    if (!this.#Plotly) {
      this.#Plotly = await plotlyReady();
      if (this.#figure !== figure) return;
    }
    await this.redraw();
  }

  /** The same figure in other colours or in another size: at once, since paper does not wait. */
  async redraw() {
    if (!this.#Plotly || !this.#figure) return;
    this.#size.forget();
    const size = this.#size.get();
    if (size.width === 0 || size.height === 0) return;
    const { data, layout } = fitted(this.#figure, size);
    const { more = () => [], layout: own = () => ({}) } = this.#options;
    const { fontFamily: family } = getComputedStyle(this.#box);
    const drawn = painted({ data: [...data, ...more()], layout: { ...layout, ...own() } }, colour);
    if (drawn.layout.font) drawn.layout.font.family = family;
    const plot = await this.#Plotly.react(this.#box, drawn.data, drawn.layout, CONFIG);
    this.#wire(plot);
    this.#box.dataset.drawn = "true";
    this.#options.onDrawn();
  }

  /** @param {Record<string, unknown>} change */
  relayout(change) {
    if (this.#isWired) this.#Plotly?.relayout(this.#box, change);
  }

  /** @param {PlotElement} plot */
  #wire(plot) {
    if (this.#isWired) return;
    this.#isWired = true;
    plot.on("plotly_afterplot", () => this.#options.onDrawn());
    this.#options.wire?.(plot);
  }
}
