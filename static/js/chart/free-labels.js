// Labels beside points where nothing else is drawn: each is tried on several sides, or left out. Pure.

/** @typedef {[left: number, top: number, right: number, bottom: number]} Box pixels */

/**
 * @typedef {object} Wanted
 * @property {string} text
 * @property {number} px
 * @property {number} py
 * @property {number} radius
 *
 * @typedef {{ text: string, x: number, y: number, anchor: "start" | "end" }} Label
 */

const LINE = 13; // pixels
const GAP = 6;
const TURNS = [0.35, -1.1, 1.8, -2.4, 3]; // lines above or below the point

/**
 * @param {readonly Wanted[]} wanted the most important first
 * @param {object} options
 * @param {number} options.most
 * @param {number} options.character width in pixels
 * @param {Box} options.inside
 * @param {readonly Box[]} options.taken
 * @returns {Label[]}
 */
export function freeLabels(wanted, { most, character, inside, taken }) {
  const boxes = [...taken];
  /** @type {Label[]} */
  const found = [];
  for (const one of wanted) {
    if (found.length === most) break;
    const free = candidates(one, character).find(
      ({ box }) => isWithin(box, inside) && !boxes.some((other) => overlaps(box, other)),
    );
    if (!free) continue;
    boxes.push(free.box);
    found.push({ text: one.text, x: free.x, y: free.y, anchor: free.anchor });
  }
  return found;
}

/** @param {Wanted} one @param {number} character */
function candidates({ text, px, py, radius }, character) {
  const width = text.length * character;
  return TURNS.flatMap((turn) =>
    /** @type {const} */ (["start", "end"]).map((anchor) => {
      const x = anchor === "start" ? px + radius + GAP : px - radius - GAP;
      const y = py + turn * LINE;
      const left = anchor === "start" ? x : x - width;
      /** @type {Box} */
      const box = [left, y - LINE + 2, left + width, y + 4];
      return { x, y, anchor, box };
    }),
  );
}

/** @param {Box} box @param {Box} other */
const overlaps = (box, other) =>
  box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1];

/** @param {Box} box @param {Box} frame */
const isWithin = (box, frame) =>
  box[0] >= frame[0] && box[1] >= frame[1] && box[2] <= frame[2] && box[3] <= frame[3];
