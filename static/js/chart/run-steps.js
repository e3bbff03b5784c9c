// The steps of a run: the band of all hosts, the median, and a line up to the critical host of each.

import { duration } from "../text/format.js";
import { html, part, svg, find } from "../ui/dom.js";
import { markPath } from "./mark-paths.js";
import { criticalHosts, digitsOf, stepScale } from "./step-places.js";

/** @import { RunModel, RunStep } from "../types/run.js" */

const BOX = { left: 78, top: 12, bottom: 26 }; // pixels
const RIGHT = 14;
const LABEL = 9; // pixels of a character
const LARGEST = 4.2;
const SHAPES = ["circle", "diamond", "square", "triangle-up"];

/** @param {RunModel} model @param {(host: string) => void} onOpen */
export function createRunSteps({ steps }, onOpen) {
  const root = find(SVGSVGElement, "[data-steps]");
  const hosts = criticalHosts(steps, SHAPES.length);
  const look = new Map(hosts.map(({ name }, i) => [name, i]));
  part("critical").replaceChildren(...hosts.map(({ name, count }, i) => keyOf(name, count, i)));

  /** @param {string} name @param {number} count @param {number} i */
  function keyOf(name, count, i) {
    const dot = svg("path", { d: markPath(SHAPES[i], 6, 6, LARGEST) });
    const picture = svg("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" }, dot);
    const on = { click: () => onOpen(name) };
    const button = html("button", { type: "button", on }, name);
    const said = `critical in ${count} of ${steps.length}`;
    return html("li", { class: `critical-${i}` }, picture, button, html("span", {}, said));
  }

  return {
    draw() {
      const [width, height] = [root.clientWidth, root.clientHeight];
      root.setAttribute("aria-label", stepsSaid(steps, hosts));
      root.setAttribute("viewBox", `0 0 ${width} ${height}`);
      if (width === 0) return; // before it is laid out
      if (steps.length === 0) {
        const words = "No steps that all hosts share: the capture counts as one.";
        root.replaceChildren(svg("text", { class: "tick", x: 12, y: height / 2 }, words));
        return;
      }
      const box = { ...BOX, right: width - RIGHT, bottom: height - BOX.bottom };
      const { toX, toY, ticks } = stepScale(steps, box);
      const digits = digitsOf(ticks);
      const line = (/** @type {(step: RunStep) => number} */ read) =>
        steps.map((step, i) => `${i > 0 ? "L" : "M"}${toX(i)} ${toY(read(step))}`).join("");
      const back = [...steps.keys()].reverse().map((i) => `L${toX(i)} ${toY(steps[i].least)}`);
      const radius = Math.max(1.4, Math.min(LARGEST, (box.right - box.left) / steps.length / 2.4));
      root.replaceChildren(
        ...ticks.flatMap((us) => [
          svg("line", { class: "gl", x1: box.left, x2: box.right, y1: toY(us), y2: toY(us) }),
          tick(duration(us, digits), box.left - 8, toY(us) + 4, "end"),
        ]),
        svg("path", { class: "band", d: `${line(({ p95 }) => p95)}${back.join("")}z` }),
        svg("path", { class: "middle", d: line(({ middle }) => middle) }),
        ...steps.map((step, i) => critical(step, toX(i), toY, radius)),
        ...labels(steps, toX, height),
      );
    },
  };

  /** @param {RunStep} step @param {number} x @param {(us: number) => number} toY @param {number} radius */
  function critical(step, x, toY, radius) {
    const i = look.get(step.critical);
    const shape = i === undefined ? "circle" : SHAPES[i];
    return svg(
      "g",
      { class: i === undefined ? "critical-other" : `critical-${i}` },
      svg("line", { x1: x, x2: x, y1: toY(step.p95), y2: toY(step.most) }),
      svg("path", { d: markPath(shape, x, toY(step.most), radius) }),
      svg("title", {}, `Step ${step.name}: ${step.critical}, ${duration(step.most)} of work`),
    );
  }
}

/** @param {string} text @param {number} x @param {number} y @param {string} anchor */
const tick = (text, x, y, anchor) =>
  svg("text", { class: "tick", x, y, "text-anchor": anchor }, text);

/** As many labels as fit. @param {readonly RunStep[]} steps @param {(at: number) => number} toX @param {number} height */
function labels(steps, toX, height) {
  const longest = Math.max(...steps.map(({ name }) => Math.min(12, name.length)));
  const apart = steps.length > 1 ? toX(1) - toX(0) : Infinity;
  const every = Math.max(1, Math.ceil((longest * LABEL) / apart));
  return steps.flatMap(({ name }, i) =>
    i % every === 0 ? [tick(name.slice(-12), toX(i), height - 8, "middle")] : [],
  );
}

/** @param {readonly RunStep[]} steps @param {readonly { name: string, count: number }[]} hosts */
function stepsSaid(steps, hosts) {
  if (steps.length === 0) return "The hosts share no steps";
  const said = hosts.map(({ name, count }) => `${name} in ${count}`).join(", ");
  return `Work of ${steps.length} steps over hosts. Critical hosts: ${said}. The table holds the same values.`;
}
