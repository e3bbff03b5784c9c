// Program level: the small roofline of total, average and steps, and the list beside it.

import { createScale, spread, withHeadroom } from "./axes.js";
import { html, icon, mark, part } from "../ui/dom.js";
import { CONFIG, PROGRAM_MARGIN, programFigure, SCOPE_SYMBOLS, stepColour } from "./figures.js";
import { columnScale, count, percent } from "../text/format.js";
import { createOverlay, trackPointer } from "./overlay.js";
import { logPlace, thinOut } from "./points.js";
import { mainMemory, ridge, topCompute, usedRoofs, visibleRoofs } from "./roofs.js";
import { programName } from "../text/words.js";

const DRAW_ORDER = { step: 0, average: 1, total_hw: 2, total: 3 };
const MOST_MARKS = 300;
const LABEL_ROOM = 24; // pixels above the compute roof
const ROW_HEIGHT = 26;
const ROWS_AROUND = 6;

/**
 * @param {object} options
 * @param {any} options.Plotly
 * @param {import("../state/model.js").Model} options.model
 * @param {import("../state/store.js").Store} options.store
 * @param {import("./figures.js").Paint} options.paint
 * @param {(point: any | null, event: PointerEvent) => void} options.onHover
 * @param {(point: any) => void} options.onClick
 */
export function createProgramChart({ Plotly, model, store, paint, onHover, onClick }) {
  const chart = /** @type {any} */ (document.getElementById("program-chart"));
  const overlay = createOverlay(chart.parentElement);
  const empty = part("program-empty");
  let places = [];

  async function draw() {
    const points = model.view(store.get().infeed).program;
    const box = { width: chart.clientWidth, height: chart.clientHeight, margin: PROGRAM_MARGIN };
    const geometry = programGeometry(model, points, box);
    places = geometry.places;
    empty.hidden = places.length > 0;
    empty.textContent =
      points.length === 0
        ? "The profile has no program totals."
        : points[0].total_time_us === null
          ? "No time was measured, so the program has no total."
          : "No FLOPs or no bytes were counted for the program, so it has no place on a roofline.";
    const figure = programFigure(geometry, paint);
    await Plotly.react(chart, figure.data, figure.layout, CONFIG);
    markSelection();
  }

  const placeOf = (point) =>
    places.find(
      (place) => place.point.label === point?.label && place.point.scope === point?.scope,
    ) ?? null;
  function markSelection() {
    const { step, infeed } = store.get();
    overlay.select(placeOf(model.view(infeed).program.find((point) => point.label === step)));
  }

  trackPointer(chart, {
    places: () => places,
    onHover: (place, event) => onHover(place?.point ?? null, event),
    onClick: (place) => onClick(place.point),
  });

  return { draw, markSelection, light: (point) => overlay.hover(placeOf(point)) };
}

function programGeometry(model, points, box) {
  const column = model.x_axes[0].column;
  const dots = [];
  for (const point of points) {
    const at = logPlace(point[column] ?? null, point.flop_rate_gflops);
    if (at) dots.push({ point, x: at[0], y: at[1] });
  }
  const used = usedRoofs(points, {
    bounds: model.bounds,
    boundOf: (point) => point.bound_by,
    computeOf: (point) => point.compute_unit ?? null,
  });
  const shown = visibleRoofs(model.roofs, "auto", used, "bottleneck");
  const main = mainMemory(
    shown.memory.filter((roof) => used.levels.has(roof.id)).concat(shown.memory),
    "bottleneck",
  );
  const flat = shown.compute[0] ?? null;
  const top = topCompute(shown.compute);
  const corner = ridge(main, flat);
  const [x, y] = programRange(dots, corner);
  const room = LABEL_ROOM / (box.height - box.margin.t - box.margin.b);
  const scale = createScale([x, top ? withHeadroom(y, Math.log10(top.gflops), room) : y], box);
  const placed = dots.map((dot) => ({
    ...dot,
    px: scale.toX(dot.x),
    py: scale.toY(dot.y),
    radius: 5,
  }));
  placed.sort((a, b) => DRAW_ORDER[a.point.scope] - DRAW_ORDER[b.point.scope]);
  // Outliers and totals always stay; ordinary steps on the same spot need one mark.
  const ordinary = placed.filter(
    (place) => place.point.scope === "step" && !place.point.is_outlier,
  );
  const special = thinOut(
    placed.filter((place) => !ordinary.includes(place)),
    MOST_MARKS,
  );
  const places = [...thinOut(ordinary, MOST_MARKS), ...special];
  return {
    places,
    marks: places,
    shown,
    main,
    flat,
    corner,
    scale,
    total: totalGap(places, points[0]),
  };
}

/** Around the points and the ridge, so that the distance to the roof can be seen. */
function programRange(dots, corner) {
  const xs = dots.map((dot) => dot.x).concat(corner ? [corner.x] : []);
  const roofs = dots
    .filter(({ point }) => point.scope !== "step" && point.attainable_gflops > 0)
    .map(({ point }) => Math.log10(point.attainable_gflops));
  const ys = dots.map((dot) => dot.y).concat(corner ? [corner.y] : [], roofs);
  if (xs.length === 0)
    return [
      [-1, 3],
      [0, 5],
    ];
  return [spread(xs, [0.42, 0.42], 0.8), spread(ys, [0.3, 0.18], 0.8)];
}

/** From the program up to its roof: what its rate would be at a share of 100 %. */
function totalGap(places, whole) {
  const total = places.find((place) => place.point === whole);
  const share = whole?.roofline_efficiency_ratio ?? null;
  const roof = whole?.attainable_gflops ?? 0;
  return total && roof > 0 && share !== null
    ? { x: total.x, y: total.y, roof: Math.log10(roof), share }
    : null;
}

/**
 * The list beside the program chart. Ten thousand steps are ten thousand rows: only those in sight exist.
 * @param {object} options
 * @param {import("../state/model.js").Model} options.model
 * @param {import("../state/store.js").Store} options.store
 * @param {import("./figures.js").Paint} options.paint
 * @param {(point: any | null) => void} options.onLight
 * @param {(point: any) => void} options.onClick
 */
export function createProgramList({ model, store, paint, onLight, onClick }) {
  const scroll = part("steps-scroll");
  const body = part("steps");
  const rateUnit = scroll.querySelectorAll("thead th")[2];
  let points = [];
  let lit = null;
  let drawn = "";
  let scales = chooseScales([]);

  const pointAt = (event) => {
    const index = event.target.closest?.("[data-index]")?.dataset.index;
    return index === undefined ? null : points[Number(index)];
  };
  body.addEventListener("pointerover", (event) => onLight(pointAt(event)));
  body.addEventListener("pointerleave", () => onLight(null));
  body.addEventListener("click", (event) => {
    const point = pointAt(event);
    if (point) onClick(point);
  });
  scroll.addEventListener("scroll", () => render(), { passive: true });

  function render(force = false) {
    const first = Math.max(0, Math.floor(scroll.scrollTop / ROW_HEIGHT) - ROWS_AROUND);
    const last = Math.min(
      points.length,
      Math.ceil((scroll.scrollTop + (scroll.clientHeight || 320)) / ROW_HEIGHT) + ROWS_AROUND,
    );
    const key = `${first}-${last}`;
    if (key === drawn && !force) return;
    drawn = key;
    const rows = points.slice(first, last).map((point, i) => createRow(point, first + i));
    body.replaceChildren(spacer(first), ...rows, spacer(points.length - last));
    body.closest("table").setAttribute("aria-rowcount", String(points.length + 1));
  }

  function createRow(point, index) {
    const bound = model.bounds[point.bound_by];
    const fill = point.scope === "step" ? stepColour(point.order ?? 1, paint) : "var(--star)";
    const share = point.roofline_efficiency_ratio;
    const classes = [point === lit && "lit", point.label === store.get().step && "selected"]
      .filter(Boolean)
      .join(" ");
    const warning = point.is_outlier
      ? html(
          "span",
          {
            class: "sev-warning",
            role: "img",
            "aria-label": "unlike the other steps",
            title: "Unlike the other steps",
          },
          icon("warning"),
        )
      : null;
    return html(
      "tr",
      { class: classes, "data-index": index, "aria-rowindex": index + 2 },
      html(
        "th",
        { scope: "row", class: point.scope === "step" ? null : "aggregate" },
        html(
          "button",
          { type: "button" },
          mark(SCOPE_SYMBOLS[point.scope] ?? "circle", fill),
          html("span", {}, programName(point)),
          warning,
        ),
      ),
      html("td", {}, scales.time.text(point.total_time_per_core_us)),
      html("td", {}, scales.rate.text(point.flop_rate_gflops)),
      html(
        "td",
        {
          class: share === null ? null : "bar",
          vars: {
            "--v": Math.min(100, (share ?? 0) * 100),
            "--fill": `var(${bound?.token ?? "--ink-3"})`,
          },
        },
        percent(share, 0),
      ),
    );
  }

  return {
    draw() {
      points = model.view(store.get().infeed).program;
      scales = chooseScales(points);
      part("steps-time-unit").textContent = `${scales.time.unit}/${model.coreWord}`;
      rateUnit.textContent = scales.rate.unit;
      part("program-note").textContent = noteOf(points);
      render(true);
    },
    /** @param {any | null} point */
    light(point, intoView = false) {
      lit = point;
      if (point && intoView) showRow(scroll, points.indexOf(point));
      // Only classes: a row made anew under the pointer would lose the click that has begun on the old one.
      for (const row of body.querySelectorAll("[data-index]"))
        row.classList.toggle("lit", points[Number(row.dataset.index)] === lit);
    },
  };
}

function chooseScales(points) {
  const largest = (id) => points.reduce((most, point) => Math.max(most, point[id] ?? 0), 0);
  return {
    time: columnScale("time_us", largest("total_time_per_core_us")),
    rate: columnScale("gflops", largest("flop_rate_gflops")),
  };
}

function noteOf(points) {
  const steps = points.filter((point) => point.scope === "step").length;
  if (points.length === 0) return "";
  if (steps === 0) return "No steps in this profile: Total counts every op.";
  if (!points.some((point) => point.scope === "average"))
    return `Total counts every op; ${count(steps)} step${steps === 1 ? "" : "s"}.`;
  return `Total counts every op; Average only the ${steps === 1 ? "one complete step" : `${count(steps)} complete steps`}.`;
}

function spacer(rows) {
  const row = html("tr", { class: "spacer", "aria-hidden": "true" }, html("td", { colspan: 4 }));
  row.firstElementChild.style.height = `${rows * ROW_HEIGHT}px`;
  return row;
}

function showRow(scroll, index) {
  const top = index * ROW_HEIGHT;
  if (top < scroll.scrollTop || top > scroll.scrollTop + scroll.clientHeight - 2 * ROW_HEIGHT)
    scroll.scrollTop = top - scroll.clientHeight / 2;
}
