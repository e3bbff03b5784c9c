// Where the label of a roof covers the fewest points. Pure.

const CHARACTER = 6.4; // pixels
const ABOVE = 12; // pixels over the line that the letters stand on
const BELOW = 3;

/**
 * @typedef {object} Spot
 * @property {number} x pixels
 * @property {number} y pixels, of the line that the letters stand on
 * @property {number} angle degrees, clockwise
 * @property {"start" | "middle" | "end"} anchor
 *
 * @typedef {{ px: number, py: number, radius: number }} Point pixels
 */

/** The spot at which the text covers the fewest points: the first of several. @param {readonly Spot[]} spots @param {string} text @param {readonly Point[]} points */
export function freestSpot(spots, text, points) {
  const covered = spots.map((spot) => points.filter((one) => covers(spot, text, one)).length);
  return spots[covered.indexOf(Math.min(...covered))];
}

/** @param {Spot} spot @param {string} text @param {Point} point */
function covers({ x, y, angle, anchor }, text, { px, py, radius }) {
  const turn = (angle * Math.PI) / 180;
  const [dx, dy] = [px - x, py - y];
  const along = dx * Math.cos(turn) + dy * Math.sin(turn);
  const down = dy * Math.cos(turn) - dx * Math.sin(turn);
  const width = text.length * CHARACTER;
  const from = { start: 0, middle: -width / 2, end: -width }[anchor];
  return (
    along > from - radius &&
    along < from + width + radius &&
    down > -ABOVE - radius &&
    down < BELOW + radius
  );
}
