// Obstacles of the names of points: roofs, their labels, ridges, the star, the buttons of the chart. Pure. Pixels.

import {
  distancePlaces,
  flatLabelPlaces,
  FOOT,
  FOOT_WIDTH,
  slantLabelPlaces,
} from "./roof-figure.js";
import { LABEL_AWAY, roofLines } from "./roofs.js";

/** @import { Scale } from "./axes.js" */
/** @import { RoofChart } from "./roof-figure.js" */
/** @import { Box, Disc, Line, Obstacles } from "./point-labels.js" */

const TEXT = 8; // half the height of a label
const STEP = 10; // between the boxes along a slanted label
const WIDE = 1.15; // letters of some systems' fonts are wider than the estimate
const RIDGE = 5;

/**
 * @param {RoofChart & { points: readonly Disc[], isShare?: boolean }} chart
 * @param {readonly Disc[]} landmarks
 * @returns {Obstacles}
 */
export function obstaclesOf(chart, landmarks) {
  const { shown, scale, corner } = chart;
  const lines = roofLines(shown, scale.xRange);
  /** @param {[number, number][]} points @returns {Line} */
  const inPixels = ([[x1, y1], [x2, y2]]) => [
    scale.toX(x1),
    scale.toY(y1),
    scale.toX(x2),
    scale.toY(y2),
  ];
  const size = 12;
  const right = scale.width - scale.margin.r;
  const [top] = chart.isShare ? [scale.toY(0)] : [];
  return {
    lines: [
      ...lines.map(({ points }) => inPixels(points)),
      ...(top === undefined ? [] : [/** @type {Line} */ ([scale.margin.l, top, right, top])]),
    ],
    discs: [
      ...chart.points,
      ...landmarks.map((one) => ({ ...one, radius: Math.max(one.radius, RIDGE) })),
    ],
    taken: [
      ...(top === undefined
        ? []
        : [/** @type {Box} */ ([right - FOOT_WIDTH * 1.5, top - 20, right, top])]),
      ...slantLabelPlaces(lines, chart, size).flatMap((label) => slantBoxes(label, scale)),
      ...flatLabelPlaces(chart, { small: false, size }).map(flatBox),
      ...(lines.length > 0 && !chart.isShare ? distancePlaces(chart) : []).map((label) =>
        flatBox({ ...label, right, y: scale.toY(label.end) }),
      ),
      ...(corner && lines.length > 0 ? [footBox(scale.toX(corner.x), scale)] : []),
    ],
  };
}

/** @param {{ x: number, y: number, angle: number, below: boolean, half: number }} label @param {Scale} scale @returns {Box[]} */
function slantBoxes({ x, y, angle, below, half }, scale) {
  const turn = (angle * Math.PI) / 180;
  const away = below ? LABEL_AWAY : -LABEL_AWAY;
  const middle = [scale.toX(x) - away * Math.sin(turn), scale.toY(y) + away * Math.cos(turn)];
  const reach = half * Math.hypot(scale.perX, scale.perY);
  /** @type {Box[]} */
  const boxes = [];
  for (let along = -reach; along <= reach; along += STEP) {
    const [px, py] = [middle[0] + along * Math.cos(turn), middle[1] + along * Math.sin(turn)];
    boxes.push([px - TEXT, py - TEXT, px + TEXT, py + TEXT]);
  }
  return boxes;
}

/** @param {{ right: number, y: number, width: number }} label @returns {Box} */
const flatBox = ({ right, y, width }) => [right - WIDE * width, y - 2 * TEXT, right, y];

/** @param {number} x of the ridge @param {Scale} scale @returns {Box} */
const footBox = (x, { height, margin }) => [
  x - FOOT_WIDTH,
  height - margin.b - FOOT,
  x + FOOT_WIDTH,
  height - margin.b,
];
