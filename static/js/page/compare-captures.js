// The captures of both sides: one dot per capture on a shared axis, and one line of words.

import { duration } from "../text/format.js";
import { captureWords } from "../text/compare-words.js";
import { html, part, svg } from "../ui/dom.js";

/** @import { Comparison } from "../types/comparison.js" */

const WIDTH = 306;
const HEIGHT = 46;
const FEWEST = 3;
const FIRST = 20;
const ROOM = 0.12;

/** @param {Comparison} found */
export function showCaptures({ captures, tested, unit }) {
  const a = captures.a.time_us;
  const b = captures.b.time_us;
  const p = tested?.p ?? null;
  const { strong, rest, isCaution } = captureWords({ a, b, p, least: FEWEST, unit });
  const low = Math.min(...a, ...b);
  const high = Math.max(...a, ...b);
  const span = high - low || high || 1;
  const at = (/** @type {number} */ us) =>
    FIRST + (WIDTH - FIRST - 8) * ((us - low + ROOM * span) / (span * (1 + 2 * ROOM)));
  const words = `Times of A: ${a.map((us) => duration(us)).join(", ")}. Times of B: ${b.map((us) => duration(us)).join(", ")}.`;
  const chart = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": words },
    ...lane("A", a, 10, at),
    ...lane("B", b, 27, at),
    ...ends(low, high, at),
  );
  const said = html("p", {}, html("b", { class: isCaution ? "caution" : null }, strong), rest);
  part("captures").replaceChildren(chart, said);
}

/** @param {string} letter @param {number[]} times @param {number} y @param {(us: number) => number} at */
function lane(letter, times, y, at) {
  return [
    svg("text", { class: "letter", x: 0, y: y + 4 }, letter),
    svg("line", { class: "gl", x1: FIRST, x2: WIDTH, y1: y, y2: y }),
    ...times.map((us) =>
      svg("circle", { class: `dot side-${letter.toLowerCase()}`, cx: at(us), cy: y, r: 4.5 }),
    ),
  ];
}

/** @param {number} low @param {number} high @param {(us: number) => number} at */
function ends(low, high, at) {
  const label = (/** @type {number} */ us, /** @type {string} */ anchor) =>
    svg("text", { class: "tick", x: at(us), y: HEIGHT - 2, "text-anchor": anchor }, duration(us));
  return low === high ? [label(low, "middle")] : [label(low, "start"), label(high, "end")];
}
