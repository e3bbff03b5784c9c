// The points of the roofline of operations, drawn here because Plotly takes 50 ms to style a thousand.
// They lie inside Plotly's own plot, which clips them and carries them along while it is panned.

import { svg } from "../ui/dom.js";

const EDGE_SYMBOLS = {
  left: "triangle-left",
  right: "triangle-right",
  above: "triangle-up",
  below: "triangle-down",
};
const SLOPE = 2 / Math.sqrt(3);
/** Corners at radius 1, the same shapes that Plotly draws in pictures. */
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

function starCorners() {
  return Array.from({ length: 10 }, (_, i) => {
    const reach = i % 2 === 0 ? 1.4 : 1.4 * 0.382;
    const angle = (Math.PI * i) / 5;
    return [reach * Math.sin(angle), -reach * Math.cos(angle)];
  });
}

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

/** Nodes are kept, and only what changed is written: that is what makes a change of device instant. */
function createNode() {
  const node = /** @type {SVGPathElement} */ (svg("path", {}));
  const written = /** @type {Partial<Mark>} */ ({});
  return {
    node,
    /** @param {Mark} mark */
    write(mark) {
      for (const name of /** @type {(keyof Mark)[]} */ (["class", "d", "transform", "color"])) {
        if (written[name] === mark[name]) continue;
        written[name] = mark[name];
        node.setAttribute(name, mark[name]);
      }
    },
  };
}

/**
 * @param {HTMLElement} chart what Plotly draws into
 */
export function createOpPoints(chart) {
  const layer = svg("g", { class: "op-points" });
  /** @type {ReturnType<typeof createNode>[]} */
  const nodes = [];
  /** @type {Map<number, { node: Element, point: import("./points.js").Point }>} */
  let drawn = new Map();
  /** @type {Mark[]} */
  let marks = [];
  let stretch = "";

  function write() {
    while (nodes.length < marks.length) nodes.push(createNode());
    for (const spare of nodes.splice(marks.length)) spare.node.remove();
    for (const [i, mark] of marks.entries()) nodes[i].write(mark);
    layer.append(...nodes.map(({ node }) => node).filter((node) => node.parentNode !== layer));
  }

  return {
    /**
     * @param {object} geometry
     * @param {import("./points.js").Point[]} geometry.points later ones on top; none when levels are joined
     * @param {{ px: number, py: number, radius: number } | null} geometry.star the program, above all
     * @param {import("./axes.js").Scale} geometry.scale
     * @param {(row: import("../state/model.js").Row) => { token: string, symbol: string }} geometry.look
     * @param {import("./figures.js").Paint} paint
     */
    draw({ points, star, scale, look }, paint) {
      const at = ({ px, py }) =>
        `translate(${rounded(px - scale.margin.l)},${rounded(py - scale.margin.t)})`;
      const markOf = (point) => ({
        class: point.pinned ? "point pinned" : "point",
        transform: at(point),
        color: paint.colour(look(point.row).token),
        d: point.pinned
          ? outline(EDGE_SYMBOLS[point.edge], point.radius)
          : outline(look(point.row).symbol, point.radius),
      });
      // Marks on the edge stand for ops that are elsewhere: they must not hide behind those that are here.
      const ordered = [
        ...points.filter((point) => !point.pinned),
        ...points.filter((point) => point.pinned),
      ];
      const programMark = star
        ? [
            {
              class: "star",
              transform: at(star),
              color: paint.colour("--star"),
              d: outline("star", star.radius),
            },
          ]
        : [];
      marks = [...ordered.map(markOf), ...programMark];
      stretch = "";
      write();
      drawn = new Map(ordered.map((point, i) => [point.row.op, { node: nodes[i].node, point }]));
      // A first drawing, or one from scratch, has a new plot.
      const plot = chart.querySelector(".overplot > .xy");
      if (layer.parentNode !== plot) plot.append(layer);
    },

    /** While an axis is dragged at its end Plotly stretches the plot; marks keep their shape. */
    keepShape() {
      const { a, d } = layer.parentNode.getCTM();
      const now = a === 1 && d === 1 ? "" : ` scale(${1 / a},${1 / d})`;
      if (now === stretch) return;
      stretch = now;
      for (const [i, mark] of marks.entries())
        nodes[i].write({ ...mark, transform: mark.transform + stretch });
    },

    /**
     * The fast path of filtering: a class per point, no new drawing.
     * @param {ReadonlySet<import("../state/model.js").Row>} shown
     */
    fade(shown) {
      for (const { node, point } of drawn.values()) {
        const visible = shown.has(point.row);
        node.classList.toggle("ghost", !visible && !point.pinned);
        node.classList.toggle("gone", !visible && point.pinned);
      }
    },
  };
}
