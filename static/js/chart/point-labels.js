// Names beside the points that matter: each is tried around its point, near first, and left out where every place
// would hide a roof, a point or another name. Pure. Pixels.

/**
 * @typedef {[left: number, top: number, right: number, bottom: number]} Box
 * @typedef {[x1: number, y1: number, x2: number, y2: number]} Line
 * @typedef {{ px: number, py: number, radius: number }} Disc
 *
 * @typedef {object} Obstacles
 * @property {readonly Line[]} lines
 * @property {readonly Disc[]} discs
 * @property {readonly Box[]} taken
 *
 * @typedef {object} PointLabel
 * @property {number} of the place of its point among the wanted ones
 * @property {number} x left end of the text
 * @property {number} y its baseline
 * @property {Line | null} leader from the edge of the point, where the text is not beside it
 */

const HEIGHT = 13;
const BASELINE = 3; // above the lower edge
const ROOM = { x: 3, y: 1 }; // between two names
const LEADER_FROM = 12;
const LARGE = 6; // pixels of the radius of a point that no line to a name crosses
const DISTANCES = [3, 8, LEADER_FROM, 24, 40, 58, 80];
const TURNS = [0, 8, 14, 2, 6, 10, 15, 1, 4, 12, 7, 9, 3, 5, 11, 13]; // sixteenths: beside, then above and below

/**
 * @param {readonly (Disc & { width: number })[]} wanted with the width of their text, the most important first
 * @param {Obstacles & { inside: Box, most: number }} chart
 * @returns {PointLabel[]}
 */
export function pointLabels(wanted, { lines, discs, taken, inside, most }) {
  /** @type {Box[]} */
  const boxes = [...taken];
  /** @type {PointLabel[]} */
  const found = [];
  for (const [of, point] of wanted.entries()) {
    if (found.length === most) break;
    const near = { lines, boxes, inside, discs: discs.filter((disc) => isNear(disc, point)) };
    const place = freePlace(point, near);
    if (!place) continue;
    const [left, top, right, bottom] = place.box;
    boxes.push([left - ROOM.x, top - ROOM.y, right + ROOM.x, bottom + ROOM.y]);
    found.push({ of, x: tenth(left), y: tenth(bottom - BASELINE), leader: place.leader });
  }
  return found;
}

/** Whether any place of the point's name reaches the disc. @param {Disc} disc @param {Disc & { width: number }} point */
function isNear(disc, { px, py, radius, width }) {
  const reach = radius + DISTANCES[DISTANCES.length - 1] + disc.radius;
  return Math.abs(disc.px - px) < reach + width && Math.abs(disc.py - py) < reach + HEIGHT;
}

/**
 * @param {Disc & { width: number }} point
 * @param {{ lines: readonly Line[], discs: readonly Disc[], boxes: readonly Box[], inside: Box }} near
 * @returns {{ box: Box, leader: Line | null } | null}
 */
function freePlace(point, near) {
  for (const distance of DISTANCES)
    for (const turn of TURNS) {
      const box = boxAt(point, distance, (turn * Math.PI) / 8);
      if (!isFree(box, near)) continue;
      const leader = distance < LEADER_FROM ? null : leaderTo(box, point);
      if (!leader || isClear(leader, point, near)) return { box, leader };
    }
  return null;
}

/**
 * Whether a line to a name crosses no other name and no other large point.
 * @param {Line} leader
 * @param {Disc} point
 * @param {{ discs: readonly Disc[], boxes: readonly Box[] }} near
 */
const isClear = (leader, { px, py }, { discs, boxes }) =>
  !boxes.some((other) => cuts(leader, other)) &&
  !discs.some(
    (disc) => disc.radius > LARGE && (disc.px !== px || disc.py !== py) && cuts(leader, core(disc)),
  );

/** @param {Disc} disc @returns {Box} */
const core = ({ px, py, radius }) => {
  const half = 0.6 * radius;
  return [px - half, py - half, px + half, py + half];
};

/**
 * @param {Disc & { width: number }} point
 * @param {number} distance
 * @param {number} angle
 * @returns {Box}
 */
function boxAt({ px, py, radius, width }, distance, angle) {
  const x = px + Math.cos(angle) * (radius + distance + width / 2);
  const y = py + Math.sin(angle) * (radius + distance + HEIGHT / 2);
  return [x - width / 2, y - HEIGHT / 2, x + width / 2, y + HEIGHT / 2];
}

/**
 * @param {Box} box
 * @param {{ lines: readonly Line[], discs: readonly Disc[], boxes: readonly Box[], inside: Box }} near
 */
const isFree = (box, { lines, discs, boxes, inside }) =>
  isWithin(box, inside) &&
  !boxes.some((other) => overlaps(box, other)) &&
  !discs.some((disc) => distanceTo(box, disc) < disc.radius) &&
  !lines.some((line) => cuts(line, box));

/** @param {Box} box @param {Box} other */
const overlaps = (box, other) =>
  box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1];

/** @param {Box} box @param {Box} frame */
const isWithin = (box, frame) =>
  box[0] >= frame[0] && box[1] >= frame[1] && box[2] <= frame[2] && box[3] <= frame[3];

/** @param {number} value @param {number} low @param {number} high */
const between = (value, low, high) => Math.min(high, Math.max(low, value));

/** @param {Box} box @param {Disc} disc from its middle */
const distanceTo = ([left, top, right, bottom], { px, py }) =>
  Math.hypot(between(px, left, right) - px, between(py, top, bottom) - py);

/** From the edge of the disc to the nearest place of the box. @param {Box} box @param {Disc} disc @returns {Line} */
function leaderTo([left, top, right, bottom], { px, py, radius }) {
  const [x, y] = [between(px, left, right), between(py, top, bottom)];
  const angle = Math.atan2(y - py, x - px);
  const start = [px + Math.cos(angle) * radius, py + Math.sin(angle) * radius];
  return [tenth(start[0]), tenth(start[1]), tenth(x), tenth(y)];
}

/**
 * Whether a line passes through a box (Liang and Barsky, 1984).
 * @param {Line} line
 * @param {Box} box
 */
function cuts([x1, y1, x2, y2], [left, top, right, bottom]) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  let [from, to] = [0, 1];
  for (const [step, room] of [
    [-dx, x1 - left],
    [dx, right - x1],
    [-dy, y1 - top],
    [dy, bottom - y1],
  ]) {
    if (step === 0 && room < 0) return false;
    if (step < 0) from = Math.max(from, room / step);
    if (step > 0) to = Math.min(to, room / step);
  }
  return from <= to;
}

/** @param {number} pixels */
const tenth = (pixels) => Math.round(pixels * 10) / 10;
