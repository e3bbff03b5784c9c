// The points of the roofline of operations, drawn here because Plotly takes 50 ms to style a thousand.
// They lie inside Plotly's own plot, which clips them and carries them along while it is panned.

import { firstPoints } from "./first-figure.js";
import { svg } from "../ui/dom.js";

/** @import { Row } from "../types/model.js" */
/** @import { Scale } from "./axes.js" */
/** @import { Paint } from "./looks.js" */
/** @import { Look } from "./op-figure.js" */
/** @import { PixelPlace } from "./overlay.js" */
/** @import { Edge, Point } from "./points.js" */

/** @type {Record<Edge, string>} */
const EDGE_SYMBOLS = {
  left: "triangle-left",
  right: "triangle-right",
  above: "triangle-up",
  below: "triangle-down",
};
const SLOPE = 2 / Math.sqrt(3);
/**
 * Corners at radius 1, the same shapes that Plotly draws in pictures.
 * @type {Record<string, [number, number][] | undefined>}
 */
const CORNERS = {
  square: [
    [1, 1],
    [-1, 1],
    [-1, -1],
    [1, -1],
  ],
  diamond: [
    [1.3, 0],
    [0, 1.3],
    [-1.3, 0],
    [0, -1.3],
  ],
  "triangle-up": [
    [-SLOPE, 0.5],
    [SLOPE, 0.5],
    [0, -1],
  ],
  "triangle-down": [
    [-SLOPE, -0.5],
    [SLOPE, -0.5],
    [0, 1],
  ],
  "triangle-left": [
    [0.5, -SLOPE],
    [0.5, SLOPE],
    [-1, 0],
  ],
  "triangle-right": [
    [-0.5, -SLOPE],
    [-0.5, SLOPE],
    [1, 0],
  ],
  star: starCorners(),
};

/** @returns {[number, number][]} */
function starCorners() {
  return Array.from({ length: 10 }, (_, i) => {
    const reach = i % 2 === 0 ? 1.4 : 1.4 * 0.382;
    const angle = (Math.PI * i) / 5;
    return [reach * Math.sin(angle), -reach * Math.cos(angle)];
  });
}

/** @param {number} pixels */
const rounded = (pixels) => Math.round(pixels * 100) / 100;

/**
 * The outline of a mark around 0, 0, as an SVG path.
 * @param {string} symbol
 * @param {number} radius in pixels
 */
export function outline(symbol, radius) {
  const corners = CORNERS[symbol];
  const r = rounded(radius);
  if (!corners) return `M${r},0A${r},${r} 0 1 1 0,${-r}A${r},${r} 0 0 1 ${r},0Z`;
  return `M${corners.map(([x, y]) => `${rounded(x * radius)},${rounded(y * radius)}`).join("L")}Z`;
}

/**
 * @typedef {object} Mark what one node shows
 * @property {string} class
 * @property {string} d
 * @property {string} transform
 * @property {string} color
 */

/**
 * Nodes are kept, and only changed attributes are written: so a change of device is instant.
 */
class MarkNode {
  node = svg("path");
  /** @type {Partial<Mark>} */
  #written = {};

  /** @param {Mark} mark */
  write(mark) {
    for (const name of /** @type {const} */ (["class", "d", "transform", "color"])) {
      if (this.#written[name] === mark[name]) continue;
      this.#written[name] = mark[name];
      this.node.setAttribute(name, mark[name]);
    }
  }
}

/**
 * @typedef {object} DrawnGeometry
 * @property {Point[]} points later ones on top; none when levels are joined
 * @property {PixelPlace | null} star the program, above all
 * @property {Scale} scale
 * @property {(row: Row) => Look} look
 */

/**
 * The marks of a drawing, in the order of the points, the star last.
 * @param {DrawnGeometry} geometry
 * @param {Paint} paint
 * @returns {Mark[]}
 */
export function marksOf({ points, star, scale, look }, paint) {
  /** @param {{ px: number, py: number }} place */
  const at = ({ px, py }) =>
    `translate(${rounded(px - scale.margin.l)},${rounded(py - scale.margin.t)})`;
  const marks = points.map((point) => ({
    class: point.pinned ? "point pinned" : "point",
    transform: at(point),
    color: paint.colour(look(point.row).token),
    d: outline(symbolOf(point, look), point.radius),
  }));
  if (!star) return marks;
  const [transform, d] = [at(star), outline("star", star.radius)];
  return [...marks, { class: "star", transform, color: paint.colour("--star"), d }];
}

/** @param {Point} point @param {(row: Row) => Look} look */
const symbolOf = ({ pinned, edge, row }, look) =>
  pinned && edge ? EDGE_SYMBOLS[edge] : look(row).symbol;

/**
 * Marks on the edge stand for ops that are elsewhere: they must not hide behind those that are
 * here.
 * @param {Point[]} points
 */
const edgeLast = (points) => [
  ...points.filter((point) => !point.pinned),
  ...points.filter((point) => point.pinned),
];

export class OpPoints {
  #layer = svg("g", { class: "op-points" });
  /** @type {MarkNode[]} */
  #nodes = [];
  /** @type {{ node: Element, point: Point }[]} */
  #drawn = [];
  /** @type {Mark[]} */
  #marks = [];
  #stretch = "";

  /** @param {HTMLElement} chart what Plotly draws into */
  constructor(chart) {
    this.chart = chart;
  }

  /** @param {DrawnGeometry} geometry @param {Paint} paint */
  draw(geometry, paint) {
    const points = edgeLast(geometry.points);
    this.#marks = marksOf({ ...geometry, points }, paint);
    this.#stretch = "";
    this.#write();
    this.#drawn = points.map((point, i) => ({ node: this.#nodes[i].node, point }));
    this.#attach();
  }

  /** A first drawing, or one from scratch, has a new plot; before Plotly has drawn, the server's is there. */
  #attach() {
    const plot = this.chart.querySelector(".overplot > .xy");
    if (plot && this.#layer.parentNode !== plot) plot.append(this.#layer);
    else if (!plot && !this.#layer.parentNode) firstPoints()?.append(this.#layer);
  }

  /** While an axis is dragged at its end Plotly stretches the plot; marks keep their shape. */
  keepShape() {
    const plot = this.#layer.parentNode;
    const matrix = plot instanceof SVGGraphicsElement ? plot.getCTM() : null;
    if (!matrix) return;
    const { a, d } = matrix;
    const now = a === 1 && d === 1 ? "" : ` scale(${1 / a},${1 / d})`;
    if (now === this.#stretch) return;
    this.#stretch = now;
    for (const [i, mark] of this.#marks.entries())
      this.#nodes[i].write({ ...mark, transform: mark.transform + now });
  }

  /**
   * The fast path of filtering: a class per point, no new drawing.
   * @param {ReadonlySet<Row>} shown
   */
  fade(shown) {
    for (const { node, point } of this.#drawn) {
      const visible = shown.has(point.row);
      node.classList.toggle("ghost", !visible && !point.pinned);
      node.classList.toggle("gone", !visible && point.pinned);
    }
  }

  /** The point whose own ceilings are drawn stays as it is; the style sheet fades the others. @param {Row | null} row */
  choose(row) {
    for (const { node, point } of this.#drawn) node.classList.toggle("chosen", point.row === row);
  }

  #write() {
    const marks = this.#marks;
    while (this.#nodes.length < marks.length) this.#nodes.push(new MarkNode());
    for (const spare of this.#nodes.splice(marks.length)) spare.node.remove();
    for (const [i, mark] of marks.entries()) this.#nodes[i].write(mark);
    const nodes = this.#nodes.map(({ node }) => node);
    this.#layer.append(...nodes.filter((node) => node.parentNode !== this.#layer));
  }
}
