// The roofline of the median host: a mark for each op, a line down to the slowest host, a ring at p95.

import { find, part, svg } from "../ui/dom.js";
import { arrowScale, placeOf, radiusOf } from "./roof-places.js";
import { markPath } from "./mark-paths.js";
import { trackPointer } from "./pointer.js";
import { frame, roofNode } from "./roof-frame.js";

/** @import { RunModel, RunOp } from "../types/run.js" */
/** @import { Place, Scale } from "./axes.js" */

const MARGIN = { l: 84, r: 14, t: 10, b: 42 };
const SMALL_MARGIN = { l: 82, r: 8, t: 8, b: 40 };
const NARROW = 480; // pixels
const CLIP = "run-clip";
const TITLE = "FLOP per byte of all memories";
const P95_FROM = 0.25; // of the largest time: rings of small ops would cover each other
const LEAST_LINE = 1.5; // pixels

/** @typedef {{ op: RunOp, median: Place, p95: Place, slowest: Place }} Placed */

/** @param {RunOp} op @param {number} timeUs */
const placeAt = ({ flop, bytes }, timeUs) => placeOf({ flop, bytes, timeUs });

/** @param {RunOp} op @returns {Placed[]} */
function placed(op) {
  const [median, p95, slowest] = [op.medianUs, op.p95Us, op.maxUs].map((us) => placeAt(op, us));
  return median && p95 && slowest ? [{ op, median, p95, slowest }] : [];
}

/**
 * @param {object} options
 * @param {RunModel} options.model
 * @param {(op: RunOp | null, event: PointerEvent) => void} options.onHover
 * @param {(op: RunOp) => void} options.onClick
 */
export function createRunRoofline({ model, onHover, onClick }) {
  const root = find(SVGSVGElement, "[data-roofline]");
  const { roofs, styles } = model;
  const found = model.ops.flatMap(placed).sort((a, b) => b.op.medianUs - a.op.medianUs);
  const largest = found[0]?.op.medianUs ?? 0;
  /** @type {{ op: RunOp, px: number, py: number, radius: number }[]} */
  let places = [];
  trackPointer(root, {
    places: () => places,
    onHover: (place, event) => onHover(place?.op ?? null, event),
    onClick: ({ op }) => onClick(op),
  });
  part("chart-empty").hidden = found.length > 0;

  return {
    /** @param {ReadonlySet<string>} ringed names of ops that deviate on the open host */
    draw(ringed) {
      const width = root.clientWidth;
      if (width === 0) return; // before it is laid out
      const margin = width < NARROW ? SMALL_MARGIN : MARGIN;
      const box = { width, height: root.clientHeight, margin };
      const rows = found.map(({ op }) => ({
        a: { flop: op.flop, bytes: op.bytes, timeUs: op.medianUs },
        b: { flop: op.flop, bytes: op.bytes, timeUs: op.maxUs },
      }));
      const scale = arrowScale(rows, { a: roofs, b: roofs }, box);
      places = found.map(({ op, median }) => ({
        op,
        px: scale.toX(median.x),
        py: scale.toY(median.y),
        radius: radiusOf(op.medianUs, largest),
      }));
      root.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
      root.setAttribute(
        "aria-label",
        `Roofline of the median host with ${found.length} operations; the table below holds the same values`,
      );
      root.replaceChildren(
        frame(scale, CLIP, TITLE),
        ...roofNode(roofs, "", scale, "", CLIP, { points: places }),
        svg(
          "g",
          { "clip-path": `url(#${CLIP})` },
          ...found.map((one) => mark(one, scale, ringed.has(one.op.name))),
        ),
      );
    },
  };

  /** @param {Placed} one @param {Scale} scale @param {boolean} isRinged */
  function mark({ op, median, p95, slowest }, scale, isRinged) {
    const style = styles[op.category];
    const [x, y] = [scale.toX(median.x), scale.toY(median.y)];
    const radius = radiusOf(op.medianUs, largest);
    const group = svg("g", { class: `host-spread${isRinged ? " deviates" : ""}` });
    group.style.color = `var(${style?.token ?? "--c12"})`;
    const low = scale.toY(slowest.y);
    if (low - y > LEAST_LINE) group.append(svg("line", { x1: x, x2: x, y1: y, y2: low }));
    group.append(
      svg("path", { class: "spot after", d: markPath(style?.symbol ?? "circle", x, y, radius) }),
    );
    if (op.medianUs > P95_FROM * largest)
      group.append(svg("circle", { class: "p95", cx: x, cy: scale.toY(p95.y), r: 2.4 }));
    if (isRinged) group.append(svg("circle", { class: "new-ring", cx: x, cy: y, r: radius + 4 }));
    return group;
  }
}
