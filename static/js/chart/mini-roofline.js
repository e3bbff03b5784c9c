// A small roofline of one op and one memory level, for the details drawer.

import { svg } from "../ui/dom.js";
import { bandwidth, flopRate, intensity, percent, significant } from "../text/format.js";
import { attainable } from "./roofs.js";

const WIDTH = 300;
const HEIGHT = 122;
const LEFT = 8;
const RIGHT = 292;
const TOP = 14;
const BOTTOM = 100;

/**
 * @param {object} options
 * @param {import("./roofs.js").MemoryRoof} options.memory
 * @param {import("./roofs.js").ComputeRoof | null} options.compute
 * @param {[number, number]} options.place log10 intensity and FLOP rate
 * @param {string} options.token colour of the op's category
 * @param {number | null} options.gibs achieved bandwidth
 */
export function miniRoofline({ memory, compute, place: [x, y], token, gibs }) {
  const slope = Math.log10(memory.gbs);
  const corner = compute ? Math.log10(compute.gflops) - slope : null;
  const roof = attainable(x, memory, compute);
  const right = corner === null ? x + 1.2 : Math.max(x, corner) + 0.7;
  const left = Math.min(x, corner ?? x) - 0.9;
  const top = Math.max(y, compute ? Math.log10(compute.gflops) : right + slope) + 0.3;
  const bottom = Math.min(y, roof) - 0.6;
  const toX = (value) => LEFT + ((value - left) / (right - left)) * (RIGHT - LEFT);
  const toY = (value) => BOTTOM - ((value - bottom) / (top - bottom)) * (BOTTOM - TOP);
  const px = toX(x);
  const py = toY(y);
  const roofY = toY(roof);
  const share = 10 ** (y - roof);
  const start = Math.max(left, bottom - slope);
  const bend = corner ?? right;
  const onLeft = px > WIDTH / 2;
  const side = onLeft ? { anchor: "end", shift: -9 } : { anchor: "start", shift: 9 };
  const line = (d, stroke) => {
    const path = svg("path", { class: "roof", d });
    path.style.setProperty("stroke", `var(${stroke})`);
    return path;
  };
  const dot = svg("circle", { class: "point", cx: px, cy: py, r: 5 });
  dot.style.setProperty("fill", `var(${token})`);
  const text = (atX, atY, words, anchor, strong = false) =>
    svg("text", { x: atX, y: atY, "text-anchor": anchor, class: strong ? "strong" : null }, words);
  const nodes = [
    svg("path", { class: "axis", d: `M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}` }),
    line(`M${toX(start)} ${toY(start + slope)}L${toX(bend)} ${toY(bend + slope)}`, memory.token),
  ];
  if (compute) nodes.push(line(`M${toX(corner)} ${toY(corner + slope)}H${RIGHT}`, compute.token));
  nodes.push(
    svg("path", { class: "gap", d: `M${px} ${py}V${roofY}` }),
    dot,
    text(px + side.shift, py + 4, `${flopRate(10 ** y)} · ${percent(share, 0)}`, side.anchor, true),
    text(
      LEFT,
      HEIGHT - 6,
      `${memory.label} · ${intensity(10 ** x)}${gibs === null ? "" : ` · ${bandwidth(gibs)}`}`,
      "start",
    ),
  );
  if (corner !== null)
    nodes.push(text(RIGHT, HEIGHT - 6, `ridge ${significant(10 ** corner)}`, "end"));
  const label = `${memory.label}: ${percent(share)} of what its bandwidth allows at ${intensity(10 ** x)}`;
  return svg(
    "svg",
    { class: "mini", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
    ...nodes,
  );
}
