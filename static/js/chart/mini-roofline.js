// A small roofline of one op and one memory level, for the details drawer.

import { flopRate, intensity, percent, quantity } from "../text/format.js";
import { svg } from "../ui/dom.js";

/** @import { ComputeRoof, Measure, MemoryRoof } from "../types/page-data.js" */

const WIDTH = 300;
const HEIGHT = 122;
const LEFT = 8;
const RIGHT = 292;
const TOP = 14;
const BOTTOM = 100;
const TEXT_GAP = 9; // pixels from the point to the side of its words; twice that to their line

/**
 * @typedef {object} MiniOptions
 * @property {MemoryRoof} memory
 * @property {ComputeRoof | null} compute
 * @property {[number, number]} place log10 intensity and FLOP rate
 * @property {string} token colour of the op's category
 * @property {Measure} gibs achieved bandwidth
 */

/**
 * Where the op, its roof and the roof's bend lie, in pixels; the range follows from the three.
 * @param {Pick<MiniOptions, "place"> & { memory: { gbs: number }, compute: { gflops: number } | null }} options
 */
export function miniGeometry({ memory, compute, place: [x, y] }) {
  const slope = Math.log10(memory.gbs);
  const flat = compute ? Math.log10(compute.gflops) : null;
  const corner = flat === null ? null : flat - slope;
  const roof = Math.min(x + slope, flat ?? Infinity);
  const right = corner === null ? x + 1.2 : Math.max(x, corner) + 0.7;
  const left = Math.min(x, corner ?? x) - 0.9;
  const top = Math.max(y, flat ?? right + slope) + 0.3;
  const bottom = Math.min(y, roof) - 0.6;
  /** @param {number} at log10 of the intensity */
  const toX = (at) => LEFT + ((at - left) / (right - left)) * (RIGHT - LEFT);
  /** @param {number} at log10 of the FLOP rate */
  const toY = (at) => BOTTOM - ((at - bottom) / (top - bottom)) * (BOTTOM - TOP);
  const start = Math.max(left, bottom - slope);
  const bend = corner ?? right;
  return {
    share: 10 ** (y - roof),
    ridge: corner === null ? null : 10 ** corner,
    point: { x: toX(x), y: toY(y), roofY: toY(roof) },
    start: { x: toX(start), y: toY(start + slope) },
    bend: { x: toX(bend), y: toY(bend + slope) },
  };
}

/** @param {MiniOptions} options */
export function miniRoofline(options) {
  const { memory, compute, place, token } = options;
  const { share, ridge, point, start, bend } = miniGeometry(options);
  const at = intensity(10 ** place[0]);
  const label = `${memory.label}: ${percent(share)} of what its bandwidth allows at ${at}`;
  const slanted = `M${start.x} ${start.y}L${bend.x} ${bend.y}`;
  return svg(
    "svg",
    { class: "mini", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
    svg("path", { class: "axis", d: `M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}` }),
    roofPath(slanted, memory.token),
    ...(compute ? [roofPath(`M${bend.x} ${bend.y}H${RIGHT}`, compute.token)] : []),
    svg("path", { class: "gap", d: `M${point.x} ${point.y}V${point.roofY}` }),
    dot(point, token),
    pointText(point, `${flopRate(10 ** place[1])} · ${percent(share, 0)}`),
    footText(LEFT, "start", [memory.label, at, bandwidthText(options)].filter(Boolean).join(" · ")),
    ...(ridge === null ? [] : [topText(`ridge ${intensity(ridge)}`)]),
  );
}

/** @param {MiniOptions} options */
const bandwidthText = ({ gibs }) => (gibs === null ? "" : quantity(gibs, "gibs"));

/** @param {string} d @param {string} token */
function roofPath(d, token) {
  const path = svg("path", { class: "roof", d });
  path.style.setProperty("stroke", `var(${token})`);
  return path;
}

/** @param {{ x: number, y: number }} place @param {string} token */
function dot({ x, y }, token) {
  const circle = svg("circle", { class: "point", cx: x, cy: y, r: 5 });
  circle.style.setProperty("fill", `var(${token})`);
  return circle;
}

/**
 * Below the point, where no roof is: a slanted one is on its left, a flat one above.
 * @param {{ x: number, y: number }} place
 * @param {string} text
 */
function pointText({ x, y }, text) {
  const isRight = x > WIDTH / 2;
  const anchor = isRight ? "end" : "start";
  const side = isRight ? RIGHT : x + TEXT_GAP;
  const below = Math.min(y + 2 * TEXT_GAP, BOTTOM - 4);
  return svg("text", { x: side, y: below, "text-anchor": anchor, class: "strong" }, text);
}

/** @param {string} text */
const topText = (text) => svg("text", { x: RIGHT, y: TOP - 4, "text-anchor": "end" }, text);

/** @param {number} x @param {"start" | "end"} anchor @param {string} text */
const footText = (x, anchor, text) =>
  svg("text", { x, y: HEIGHT - 6, "text-anchor": anchor }, text);
