// The strip of time: what the cores did in each bin. A range of it opens as a page of that range.

import {
  addressOfRange,
  lanePaths,
  moved,
  rangeAround,
  readMs,
  stepAt,
  stepLabels,
} from "../state/time-range.js";
import { duration, significant } from "../text/format.js";
import { notify } from "./toast.js";
import { buttonPart, find, html, isFile, part, svg } from "../ui/dom.js";

/** @import { TimeStrip } from "../types/page-data.js" */
/** @import { Range } from "../state/time-range.js" */

const TICKS = 5;
const DRAG_PX = 4;
const US_PER_MS = 1000;

/** @param {TimeStrip | null | undefined} strip */
export function showTimeline(strip) {
  if (!strip) return;
  part("timeline").hidden = false;
  part("timeline-note").textContent = noteOf(strip);
  part("timeline-key").replaceChildren(
    ...strip.kinds.map(({ label, token }) =>
      html("span", {}, html("i", { vars: { "--kind": `var(${token})` } }), label),
    ),
  );
  drawLanes(strip, false);
  drawTicks(strip);
  new ResizeObserver(() => drawSteps(strip)).observe(part("timeline-steps"));
  wireCores(strip);
  part("timeline-steps").hidden = !strip.steps.length;
  wireBrush(strip);
  wireForm(strip);
}

/** @param {TimeStrip} strip */
function noteOf({ edges_us: edges, range, lanes }) {
  const whole = duration(edges[edges.length - 1]);
  const cores = lanes.length > 1 ? `, ${lanes.length - 1} cores` : "";
  return range ? `${duration(range[0])} to ${duration(range[1])} of ${whole}` : `${whole}${cores}`;
}

/** @param {TimeStrip} strip @param {boolean} perCore */
function drawLanes(strip, perCore) {
  const shown = perCore ? strip.lanes.slice(1) : strip.lanes.slice(0, 1);
  part("timeline-lanes").replaceChildren(
    ...shown.map((lane) =>
      html(
        "div",
        { class: "timeline-lane" },
        laneDrawing(strip, lane),
        perCore ? html("span", {}, lane.name.replace(/^\/device:/, "")) : null,
      ),
    ),
  );
}

/** @param {TimeStrip} strip @param {TimeStrip["lanes"][number]} lane */
function laneDrawing(strip, lane) {
  const { edges_us: edges, kinds } = strip;
  const paths = lanePaths(strip, lane.parts);
  const drawing = svg("svg", {
    viewBox: `0 0 ${edges[edges.length - 1]} 100`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": laneWords(strip, lane),
  });
  for (const { id, token } of kinds) {
    const outline = svg("path", { d: paths.get(id) ?? "" });
    outline.style.setProperty("fill", `var(${token})`);
    drawing.append(outline);
  }
  return drawing;
}

/** A sentence for a lane. @param {TimeStrip} strip @param {TimeStrip["lanes"][number]} lane */
function laneWords({ edges_us: edges, kinds }, { name, parts }) {
  const whole = edges[edges.length - 1];
  const said = kinds.map(({ id, label }) => {
    const share = (parts[id] ?? []).reduce(
      (sum, percent, bin) => sum + percent * (edges[bin + 1] - edges[bin]),
      0,
    );
    return `${label} about ${significant(share / whole, 2)} %`;
  });
  return `${name}: ${said.join(", ")} of the time.`;
}

/** @param {TimeStrip} strip @param {number} us */
const percentAt = ({ edges_us: edges }, us) => `${(100 * us) / edges[edges.length - 1]}%`;

/** @param {TimeStrip} strip */
function drawTicks(strip) {
  const whole = strip.edges_us[strip.edges_us.length - 1];
  const ticks = Array.from({ length: TICKS }, (_, k) => (whole * k) / (TICKS - 1));
  part("timeline-ticks").replaceChildren(
    ...ticks.map((us) => html("span", { vars: { "--at": percentAt(strip, us) } }, duration(us))),
  );
}

/** Labels of as many steps as have room. @param {TimeStrip} strip */
function drawSteps(strip) {
  const row = part("timeline-steps");
  row.replaceChildren(
    ...stepLabels(strip, row.clientWidth).map(({ step: { begin_us, end_us }, text }) =>
      html(
        "span",
        {
          class: isChosen(strip, begin_us, end_us) ? "is-chosen" : null,
          vars: { "--at": percentAt(strip, begin_us) },
        },
        text,
      ),
    ),
  );
}

/** @param {TimeStrip} strip @param {number} from @param {number} to */
const isChosen = ({ range }, from, to) => range !== null && range[0] === from && range[1] === to;

/** @param {TimeStrip} strip */
function wireCores(strip) {
  const button = buttonPart("timeline-cores");
  button.hidden = strip.lanes.length < 2;
  button.addEventListener("click", () => {
    const perCore = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(perCore));
    drawLanes(strip, perCore);
  });
}

/** @param {TimeStrip} strip @param {number} from @param {number} to in us */
function open(strip, from, to) {
  if (isFile()) return notify("A range of time needs the server: roofline serve.");
  const whole = from <= 0 && to >= strip.edges_us[strip.edges_us.length - 1];
  location.assign(addressOfRange(location, whole ? null : [from, to]));
}

/** @param {TimeStrip} strip */
function wireBrush(strip) {
  const layer = part("timeline-brush");
  const { edges_us: edges } = strip;
  /** @type {Range | null} */
  const shown = strip.range && rangeAround(strip, strip.range[0], strip.range[1]);
  /** @type {Range | null} */
  let chosen = shown;
  /** @type {{ x: number, us: number } | null} */
  let start = null;

  /** @param {PointerEvent} event */
  const timeAt = (event) => {
    const { left, width } = layer.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - left) / width, 0), 1);
    return share * edges[edges.length - 1];
  };
  /** @param {Range | null} range */
  const draw = (range) => {
    chosen = range;
    layer.replaceChildren(...(range ? veils(strip, range) : []));
    say(range && range !== shown ? strip : null, range);
  };
  draw(shown);
  layer.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    layer.setPointerCapture(event.pointerId);
    start = { x: event.clientX, us: timeAt(event) };
  });
  layer.addEventListener("pointermove", (event) => {
    if (start && Math.abs(event.clientX - start.x) >= DRAG_PX)
      draw(rangeAround(strip, start.us, timeAt(event)));
  });
  layer.addEventListener("pointerup", (event) => {
    if (!start) return;
    const isClick = Math.abs(event.clientX - start.x) < DRAG_PX;
    const step = isClick ? stepAt(strip, start.us) : null;
    start = null;
    if (step) open(strip, step.begin_us, step.end_us);
    else if (!isClick && chosen) open(strip, edges[chosen[0]], edges[chosen[1]]);
  });
  layer.addEventListener("pointercancel", () => {
    start = null;
    draw(shown);
  });
  layer.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (by) {
      const first = Math.floor((edges.length - 1) * 0.45);
      const last = Math.ceil((edges.length - 1) * 0.55);
      draw(chosen ? moved(strip, chosen, by, event.shiftKey) : [first, Math.max(last, first + 1)]);
    } else if (event.key === "Enter" && chosen) open(strip, edges[chosen[0]], edges[chosen[1]]);
    else if (event.key === "Escape" && chosen !== shown) draw(shown);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/** @param {TimeStrip} strip @param {Range} range */
function veils(strip, [first, last]) {
  const { edges_us: edges } = strip;
  const whole = edges[edges.length - 1];
  /** @param {string} kind @param {number} from @param {number} to */
  const box = (kind, from, to) =>
    html("div", {
      class: kind,
      vars: { "--at": percentAt(strip, from), "--wide": percentAt(strip, to - from) },
    });
  return [
    box("veil", 0, edges[first]),
    box("veil", edges[last], whole),
    box("window", edges[first], edges[last]),
  ];
}

/** The range that is marked and not shown yet. @param {TimeStrip | null} strip @param {Range | null} range */
function say(strip, range) {
  part("timeline-said").textContent =
    strip && range
      ? `${duration(strip.edges_us[range[0]])} to ${duration(strip.edges_us[range[1]])} marked`
      : "";
}

/** @param {TimeStrip} strip */
function wireForm(strip) {
  const { edges_us: edges, range } = strip;
  const ends = range ?? [0, edges[edges.length - 1]];
  const from = find(HTMLInputElement, "[data-timeline-from]");
  const to = find(HTMLInputElement, "[data-timeline-to]");
  for (const [field, us] of /** @type {const} */ ([
    [from, ends[0]],
    [to, ends[1]],
  ]))
    field.value = String(Number((us / US_PER_MS).toPrecision(6)));
  part("timeline-whole").hidden = !range;
  find(HTMLAnchorElement, "[data-timeline-whole]").href = addressOfRange(location, null);
  find(HTMLFormElement, "[data-timeline-form]").addEventListener("submit", (event) => {
    event.preventDefault();
    const [first, last] = [readMs(from.value), readMs(to.value)];
    if (first === null || last === null || first >= last || first >= edges[edges.length - 1])
      part("timeline-said").textContent = "Enter two times in ms, the first before the second.";
    else open(strip, first, last);
  });
  wireSteps(strip);
}

/** @param {TimeStrip} strip */
function wireSteps(strip) {
  part("timeline-step-control").hidden = !strip.steps.length;
  const choice = find(HTMLSelectElement, "[data-timeline-step]");
  choice.append(
    ...strip.steps.map(({ label }, place) => html("option", { value: String(place) }, label)),
  );
  const chosen = strip.steps.findIndex((step) => isChosen(strip, step.begin_us, step.end_us));
  if (chosen >= 0) choice.value = String(chosen);
  choice.addEventListener("change", () => {
    const step = strip.steps[Number(choice.value)];
    if (choice.value && step) open(strip, step.begin_us, step.end_us);
  });
}
