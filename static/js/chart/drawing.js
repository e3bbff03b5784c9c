// What a chart shows, drawn into its box: grid, roofs, labels and axes. Plotly lies below it, and is dragged.

import { svg } from "../ui/dom.js";
import { axisShapes, figureShapes } from "./figure-shapes.js";

/** @import { Figure, LogAxis } from "../types/plotly.js" */
/** @import { Scale } from "./axes.js" */
/** @import { SvgShape } from "./figure-shapes.js" */

/** @typedef {{ a: number, d: number, e: number, f: number }} Carried stretch of both axes, and pixels to the right and down */

/** @param {SvgShape | string} shape @returns {SVGElement | string} */
const nodeOf = (shape) =>
  typeof shape === "string"
    ? shape
    : svg(shape.tag, shape.attributes, ...(shape.children ?? []).map(nodeOf));

export class Drawing {
  #regions = svg("g");
  #grid = svg("g", { class: "grid-lines" });
  #ticks = svg("g", { class: "ticks" });
  #ground = svg("g", { class: "ground" });
  #labels = svg("g", { class: "plot-labels" });
  /** Where more can be drawn, between the ground and the labels; it goes with the plot. */
  marks = svg("g");
  #plot = svg("g", {}, this.#ground, this.marks);
  // An svg of its own ends at the edges of the plot, unless the style sheet lets it out.
  #around = svg("svg", { class: "around" }, this.#labels);
  #areas = [
    svg("svg", {}, this.#regions),
    svg("svg", { class: "around" }, this.#grid, this.#ticks),
    svg("svg", {}, this.#plot),
    this.#around,
  ];

  /** @param {HTMLElement} box the chart's element */
  constructor(box) {
    box.append(svg("svg", { class: "drawing", "aria-hidden": "true" }, ...this.#areas));
  }

  /** @param {Figure} figure @param {Scale} scale */
  draw(figure, scale) {
    const { regions, ground, labels } = figureShapes(figure, scale);
    const { margin, plotWidth, plotHeight } = scale;
    const place = { x: margin.l, y: margin.t, width: plotWidth, height: plotHeight };
    for (const area of this.#areas)
      for (const [name, value] of Object.entries(place)) area.setAttribute(name, String(value));
    this.#regions.replaceChildren(...regions.map(nodeOf));
    this.#ground.replaceChildren(...ground.map(nodeOf));
    this.#labels.replaceChildren(...labels.map(nodeOf));
    this.drawAxes(figure.layout, scale);
    this.carry(null);
  }

  /** @param {{ xaxis: LogAxis, yaxis: LogAxis }} axes @param {Scale} scale */
  drawAxes(axes, scale) {
    const { grid, ticks } = axisShapes(axes, scale);
    this.#grid.replaceChildren(...grid.map(nodeOf));
    this.#ticks.replaceChildren(...ticks.map(nodeOf));
  }

  /** Moves what is in the plot while it is dragged; letters would be stretched, and wait. @param {Carried | null} carried */
  carry(carried) {
    const { a, d, e, f } = carried ?? { a: 1, d: 1, e: 0, f: 0 };
    for (const group of [this.#regions, this.#plot, this.#labels])
      if (carried) group.setAttribute("transform", `matrix(${a},0,0,${d},${e},${f})`);
      else group.removeAttribute("transform");
    this.#labels.classList.toggle("moving", a !== 1 || d !== 1);
    this.#around.classList.toggle("around", carried === null);
  }
}
