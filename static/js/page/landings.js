// Where marks of a finding would land: moved by what is left of their time, FLOPs and bytes. Pure.

import { isShare } from "../state/places.js";

/** @import { ChartFigure, ChartTrace } from "../types/figure.js" */
/** @import { Model } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */

/**
 * @typedef {object} Landing what a lever leaves of an op, each from 0 to 1
 * @property {string} name
 * @property {number} time_ratio
 * @property {number} flop_ratio
 * @property {number} bytes_ratio
 * @property {string} level whose bytes these are
 */

/**
 * Hollow marks where ops would land, and lines to them; of names that several ops share, all move. A share of a roof
 * does not say where the roof is after fewer bytes: no marks there.
 * @param {readonly Landing[]} landings
 * @param {ChartFigure} figure
 * @param {Pick<Model, "ops" | "axis">} model
 * @param {Pick<ViewState, "x" | "y">} axes
 * @returns {ChartTrace[]}
 */
export function landingTraces(landings, { data }, { ops, axis }, axes) {
  if (isShare(axes) || data.some(({ meta }) => meta.role === "joined")) return [];
  const byName = new Map(landings.map((one) => [one.name, one]));
  /** @type {Record<"x" | "y" | "toX" | "toY" | "size", (number | null)[]>} */
  const { x, y, toX, toY, size } = { x: [], y: [], toX: [], toY: [], size: [] };
  const isAtEdge = /** @param {ChartTrace} trace */ ({ uid }) =>
    /^marks-(?:left|right|above|below)$/.test(uid ?? "");
  for (const trace of data.filter((one) => one.meta.role === "marks" && !isAtEdge(one)))
    for (const [i, row] of (trace.customdata ?? []).entries()) {
      const landing = byName.get(String(ops.columns.name[Number(row)]));
      const [fromX, fromY] = [trace.x[i], trace.y[i]];
      if (!landing || fromX === null || fromY === null) continue;
      const { time_ratio: time, flop_ratio: flop, bytes_ratio: bytes, level } = landing;
      const isCounted = ["total", level].includes(axis(axes.x).id);
      const [endX, endY] = [fromX * (flop / (isCounted ? bytes : 1)), fromY * (flop / time)];
      x.push(fromX, endX, null);
      y.push(fromY, endY, null);
      toX.push(endX);
      toY.push(endY);
      const sizes = trace.marker?.size;
      size.push(Array.isArray(sizes) ? sizes[i] : 8);
    }
  if (toX.length === 0) return [];
  const look = { hoverinfo: "skip", meta: { role: "landing" }, showlegend: false };
  return [
    {
      ...look,
      uid: "landing-ways",
      name: "ways to landings",
      mode: "lines",
      x,
      y,
      line: { color: "--ink", width: 1.5, dash: "3px,3px" },
    },
    {
      ...look,
      uid: "landings",
      name: "landings",
      mode: "markers",
      x: toX,
      y: toY,
      marker: { symbol: "circle-open", size, color: "--ink", line: { width: 1.5 } },
    },
  ];
}
