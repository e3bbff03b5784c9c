// Grid, axes and roofs of a roofline with one roof of compute and one of memory, as SVG.

import { bandwidth, flopRate } from "../text/format.js";
import { svg } from "../ui/dom.js";
import { roofAt } from "./arrow-places.js";
import { intensityTicks, rateTicks } from "./axes.js";

/** @import { Roofs } from "../types/comparison.js" */
/** @import { Scale } from "./axes.js" */

/** Grid, ticks, titles of the axes. @param {Scale} scale @param {string} clipId @param {string} [title] of the axis of intensity */
export function frame(scale, clipId, title = "FLOP per byte of the main memory") {
  const { margin, plotWidth, plotHeight, width, height } = scale;
  const right = margin.l + plotWidth;
  const bottom = margin.t + plotHeight;
  const clip = svg(
    "clipPath",
    { id: clipId },
    svg("rect", { x: margin.l, y: margin.t, width: plotWidth, height: plotHeight }),
  );
  const across = intensityTicks(scale.xRange, plotWidth);
  const up = rateTicks(scale.yRange, plotHeight);
  return svg(
    "g",
    {},
    clip,
    ...across.values.flatMap((value, i) => {
      const x = scale.toX(Math.log10(value));
      return [
        svg("line", { class: "gl", x1: x, x2: x, y1: margin.t, y2: bottom }),
        svg(
          "text",
          { class: "tick", x, y: bottom + 16, "text-anchor": "middle" },
          across.labels[i],
        ),
      ];
    }),
    ...up.values.flatMap((value, i) => {
      const y = scale.toY(Math.log10(value));
      return [
        svg("line", { class: "gl", x1: margin.l, x2: right, y1: y, y2: y }),
        svg(
          "text",
          { class: "tick", x: margin.l - 7, y: y + 4, "text-anchor": "end" },
          up.labels[i],
        ),
      ];
    }),
    svg(
      "text",
      {
        class: "tick",
        x: (margin.l + Math.min(right, width)) / 2,
        y: height - 6,
        "text-anchor": "middle",
      },
      title,
    ),
  );
}

/**
 * @param {Roofs} roofs
 * @param {string} dash
 * @param {Scale} scale
 * @param {string} side
 * @param {string} clipId
 * @param {Roofs} [other] that the chart has, too: labels of the lower one are below it
 */
export function roofNode(roofs, dash, scale, side, clipId, other) {
  const { gflops, gbs, memory } = roofs;
  if (gflops === null || gbs === null) return [];
  const [left, right] = scale.xRange;
  const ridge = Math.log10(gflops / gbs);
  const at = (/** @type {number} */ x) => `${scale.toX(x)} ${scale.toY(roofAt(roofs, x) ?? 0)}`;
  const corner = Math.min(Math.max(ridge, left), right);
  const slope = svg("path", { class: `roof memory${dash}`, d: `M${at(left)}L${at(corner)}` });
  const flat = svg("path", { class: `roof compute${dash}`, d: `M${at(corner)}L${at(right)}` });
  const clipped = svg("g", { "clip-path": `url(#${clipId})` }, slope, flat);
  return [
    clipped,
    ...roofLabels({ gflops, gbs, memory: memory ?? "memory" }, corner, scale, side, {
      isSecond: dash !== "",
      isSlow: isLower(gflops, other?.gflops, dash),
      isNarrow: isLower(gbs, other?.gbs, dash),
    }),
  ];
}

/** Of equal peaks the dashed one counts as the lower. @param {number} own @param {number | null | undefined} other @param {string} dash */
const isLower = (own, other, dash) =>
  typeof other === "number" && (own < other || (own === other && dash !== ""));

/**
 * @param {{ gflops: number, gbs: number, memory: string }} roof
 * @param {number} corner
 * @param {Scale} scale
 * @param {string} side
 * @param {{ isSecond: boolean, isSlow: boolean, isNarrow: boolean }} beside whether it is the second
 *   roof, and whether its flat and its slanted part are below those of the other
 */
function roofLabels({ gflops, gbs, memory }, corner, scale, side, beside) {
  const [left] = scale.xRange;
  const y = scale.toY(Math.log10(gflops)) + (beside.isSlow ? 16 : -6);
  const compute = svg(
    "text",
    { class: "lab compute", x: scale.margin.l + scale.plotWidth - 4, y, "text-anchor": "end" },
    side + flopRate(gflops),
  );
  const low = Math.max(left, scale.yRange[0] - Math.log10(gbs));
  const x = low + (corner - low) * (beside.isSecond ? 0.62 : 0.4);
  if (scale.toX(corner) - scale.toX(low) < 130) return [compute];
  const px = scale.toX(x);
  const py = scale.toY(Math.log10(gbs) + x) + (beside.isNarrow ? 15 : -7);
  const angle = (-Math.atan2(scale.perY, scale.perX) * 180) / Math.PI;
  const text = `${side}${memory} ${bandwidth(gbs)}`;
  return [
    compute,
    svg(
      "text",
      {
        class: "lab memory",
        x: px,
        y: py,
        "text-anchor": "middle",
        transform: `rotate(${angle} ${px} ${py})`,
      },
      text,
    ),
  ];
}
