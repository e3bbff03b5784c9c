// Plotly's own mark elements, in the order of traces and data: classes on them filter, light and select, without
// drawing anything again. Pure.

/** @import { ChartFigure } from "../types/figure.js" */

/** @typedef {{ px: number, py: number, radius: number }} PixelPlace in pixels of the box */

/**
 * @typedef {object} Mark
 * @property {number} row `customdata`: an op of the page, or a point of the program
 * @property {Element} node
 */

export class Marks {
  #box;
  /** @type {Mark[]} */
  #marks = [];
  /** @type {Map<number, Element>} the last mark of each row */
  #nodes = new Map();
  /** @type {{ row: number | null, node: Element }[]} names beside marks */
  #names = [];

  /** @param {HTMLElement} box of the chart */
  constructor(box) {
    this.#box = box;
  }

  /** Finds the elements of a figure that has been drawn. @param {ChartFigure} figure */
  read({ data }) {
    this.#marks = [];
    this.#names = [];
    for (const { uid, meta, customdata = [] } of data) {
      if (!uid) continue;
      if (meta.role === "marks") {
        const nodes = this.#box.querySelectorAll(`.trace${uid} > .points > .point`);
        nodes.forEach((node, i) => this.#marks.push({ row: Number(customdata[i]), node }));
      } else if (meta.role === "labels") {
        const nodes = this.#box.querySelectorAll(`.trace${uid} > .text > .textpoint`);
        nodes.forEach((node, i) => {
          const row = customdata[i];
          this.#names.push({ row: typeof row === "number" ? row : null, node });
        });
      }
    }
    this.#nodes = new Map(this.#marks.map(({ row, node }) => [row, node]));
  }

  /**
   * @param {(row: number) => string} classOf beside Plotly's own class
   * @param {(row: number | null) => boolean} isNamed whether a name is shown; null: the program's
   */
  apply(classOf, isNamed) {
    for (const { row, node } of this.#marks) {
      const text = `point ${classOf(row)}`.trimEnd();
      if (node.getAttribute("class") !== text) node.setAttribute("class", text);
    }
    for (const { row, node } of this.#names) node.classList.toggle("gone", !isNamed(row));
  }

  /** Where a row's mark lies by now; null where it has none in sight. @param {number | null | undefined} row @returns {PixelPlace | null} */
  placeOf(row) {
    const node = row === null || row === undefined ? undefined : this.#nodes.get(row);
    if (!node) return null;
    const [frame, mark] = [this.#box.getBoundingClientRect(), node.getBoundingClientRect()];
    if (mark.width === 0) return null;
    const [px, py] = [mark.x + mark.width / 2 - frame.x, mark.y + mark.height / 2 - frame.y];
    const area = areaOf(this.#box);
    const isInside =
      px >= area.x - 1 &&
      px <= area.x + area.width + 1 &&
      py >= area.y - 1 &&
      py <= area.y + area.height + 1;
    return isInside ? { px, py, radius: mark.width / 2 } : null;
  }
}

/** The plot between its axes, in pixels of the box. @param {HTMLElement} box */
export function areaOf(box) {
  const frame = box.getBoundingClientRect();
  const plot = box.querySelector(".nsewdrag")?.getBoundingClientRect() ?? frame;
  return { x: plot.x - frame.x, y: plot.y - frame.y, width: plot.width, height: plot.height };
}
