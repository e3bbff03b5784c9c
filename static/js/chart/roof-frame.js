// Grid, axes and roofs of a roofline with one roof of compute and one of memory, as SVG.

import { bandwidth, flopRate } from "../text/format.js";
import { svg } from "../ui/dom.js";
import { roofAt } from "./roof-places.js";
import { intensityTicks, rateTicks } from "./axes.js";
import { freestSpot } from "./roof-label-places.js";

/** @import { RunRoofs as Roofs } from "../types/run.js" */
/** @import { Scale } from "./axes.js" */
/** @import { Point, Spot } from "./roof-label-places.js" */

const LEAST_LENGTH = 130; // pixels of a roof with a label along it
const BETWEEN = 18; // pixels from one place of a label to the next

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
 * @param {{ other?: Roofs, points?: readonly Point[] }} [beside] what the chart has, too: labels of
 *   the lower roof are below it, and keep clear of points
 */
export function roofNode(roofs, dash, scale, side, clipId, { other, points = [] } = {}) {
  const { gflops, unit: compute, gbs, memory } = roofs;
  if (gflops === null || gbs === null) return [];
  const [left, right] = scale.xRange;
  const ridge = Math.log10(gflops / gbs);
  const at = (/** @type {number} */ x) => `${scale.toX(x)} ${scale.toY(roofAt(roofs, x) ?? 0)}`;
  const corner = Math.min(Math.max(ridge, left), right);
  const slope = svg("path", { class: `roof memory${dash}`, d: `M${at(left)}L${at(corner)}` });
  const flat = svg("path", { class: `roof compute${dash}`, d: `M${at(corner)}L${at(right)}` });
  const clipped = svg("g", { "clip-path": `url(#${clipId})` }, slope, flat);
  const flatSpots = spotsOfFlat(gflops, corner, scale, isLower(gflops, other?.gflops, dash));
  const steepSpots = spotsOfSlope(gbs, corner, scale, {
    isSecond: dash !== "",
    isNarrow: isLower(gbs, other?.gbs, dash),
  });
  return [
    clipped,
    ...label(
      "compute",
      `${side}${compute ? `${compute} ` : ""}${flopRate(gflops)}`,
      flatSpots,
      points,
    ),
    ...label("memory", `${side}${memory ?? "memory"} ${bandwidth(gbs)}`, steepSpots, points),
  ];
}

/** Of equal peaks the dashed one counts as the lower. @param {number} own @param {number | null | undefined} other @param {string} dash */
const isLower = (own, other, dash) =>
  typeof other === "number" && (own < other || (own === other && dash !== ""));

/** Places for the label of the flat part. @param {number} gflops @param {number} corner log10 @param {Scale} scale @param {boolean} isSlow whether it is below the other @returns {Spot[]} */
function spotsOfFlat(gflops, corner, scale, isSlow) {
  const y = scale.toY(Math.log10(gflops)) + (isSlow ? 16 : -6);
  const [from, to] = [scale.toX(corner), scale.margin.l + scale.plotWidth - 4];
  const steps = Math.max(0, Math.floor((to - from - LEAST_LENGTH) / BETWEEN));
  return Array.from({ length: steps + 1 }, (_, i) => ({
    x: to - i * BETWEEN,
    y,
    angle: 0,
    anchor: "end",
  }));
}

/**
 * Places for the label of the slanted part; none where it is short.
 * @param {number} gbs @param {number} corner log10 @param {Scale} scale
 * @param {{ isSecond: boolean, isNarrow: boolean }} beside whether it is the second roof, and whether
 *   it is below the other
 * @returns {Spot[]}
 */
function spotsOfSlope(gbs, corner, scale, { isSecond, isNarrow }) {
  const low = Math.max(scale.xRange[0], scale.yRange[0] - Math.log10(gbs));
  if (scale.toX(corner) - scale.toX(low) < LEAST_LENGTH) return [];
  const turn = -Math.atan2(scale.perY, scale.perX);
  const off = isNarrow ? 15 : -7;
  return (isSecond ? [0.62, 0.75, 0.45, 0.3] : [0.4, 0.55, 0.7, 0.25, 0.82]).map((share) => {
    const x = low + (corner - low) * share;
    return {
      x: scale.toX(x) - off * Math.sin(turn),
      y: scale.toY(Math.log10(gbs) + x) + off * Math.cos(turn),
      angle: (turn * 180) / Math.PI,
      anchor: "middle",
    };
  });
}

/** @param {"compute" | "memory"} kind @param {string} text @param {readonly Spot[]} spots @param {readonly Point[]} points */
function label(kind, text, spots, points) {
  if (spots.length === 0) return [];
  const { x, y, angle, anchor } = freestSpot(spots, text, points);
  const transform = `rotate(${angle} ${x} ${y})`;
  return [svg("text", { class: `lab ${kind}`, x, y, "text-anchor": anchor, transform }, text)];
}
