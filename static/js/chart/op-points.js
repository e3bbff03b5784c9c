// The points of the roofline of operations, drawn here because Plotly takes 50 ms to style a thousand.

import { outline, rounded } from "./outlines.js";
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

  #looks = "";

  /** @param {Mark} mark */
  write(mark) {
    for (const name of /** @type {const} */ (["d", "transform", "color"]))
      this.#set(name, mark[name]);
    this.#looks = mark.class;
  }

  /** Classes beside those of the mark, and those alone. @param {string} more begins with a space, unless there are none */
  look(more) {
    this.#set("class", this.#looks + more);
  }

  /** @param {keyof Mark} name @param {string} value */
  #set(name, value) {
    if (this.#written[name] === value) return;
    this.#written[name] = value;
    this.node.setAttribute(name, value);
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
  /** @type {Point[]} of the first nodes; the last one may be the star */
  #points = [];
  /** @type {ReadonlySet<Row>} */
  #shown = new Set();
  /** @type {Row | null} */
  #chosen = null;
  /** @type {Mark[]} */
  #marks = [];
  #stretch = "";

  /** @param {SVGElement} plot ends at the edges of the plot, and is carried along while it is panned */
  constructor(plot) {
    plot.append(this.#layer);
  }

  /** @param {DrawnGeometry} geometry @param {Paint} paint */
  draw(geometry, paint) {
    const points = edgeLast(geometry.points);
    this.#marks = marksOf({ ...geometry, points }, paint);
    this.#stretch = "";
    this.#points = points;
    this.#write();
    this.#look();
  }

  /**
   * While an axis is dragged at its end the plot is stretched; marks keep their shape.
   * @param {{ a: number, d: number }} stretch of both axes
   */
  keepShape({ a, d }) {
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
    this.#shown = shown;
    this.#look();
  }

  /** The point whose own ceilings are drawn stays as it is; the style sheet fades the others. @param {Row | null} row */
  choose(row) {
    if (row === this.#chosen) return;
    this.#chosen = row;
    this.#look();
  }

  #look() {
    for (const [i, node] of this.#nodes.entries()) node.look(this.#classOf(this.#points[i]));
  }

  /** @param {Point | undefined} point none: the star */
  #classOf(point) {
    if (!point) return "";
    const faded = this.#shown.has(point.row) ? "" : point.pinned ? " gone" : " ghost";
    return point.row === this.#chosen ? `${faded} chosen` : faded;
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
