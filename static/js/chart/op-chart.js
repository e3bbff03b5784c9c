// The roofline of operations: draws with Plotly, filters by a class per point, selects by an overlay.

import { automaticRange, createScale, withHeadroom } from "./axes.js";
import { html, part } from "../ui/dom.js";
import { CONFIG, OP_MARGIN, opFigure } from "./figures.js";
import { joinLevels, levelDots } from "./joined-levels.js";
import { JOINED } from "../state/model.js";
import { createOpPoints } from "./op-points.js";
import { createOverlay, trackPointer, trackRectangle } from "./overlay.js";
import { edgeNotes, logPlace, placePoints } from "./points.js";
import {
  attainable,
  computeRoof,
  mainMemory,
  ridge,
  topCompute,
  usedRoofs,
  visibleRoofs,
} from "./roofs.js";

/**
 * @typedef {import("../state/model.js").Row} Row
 * @typedef {import("../state/query.js").ViewState} ViewState
 *
 * @typedef {object} OpPlace what the pointer can be on: an op, a ridge point or the program
 * @property {Row} [row]
 * @property {{ roof: import("./roofs.js").MemoryRoof, x: number, y: number }} [ridge]
 * @property {boolean} [isProgram]
 */

/**
 * Where each op of a view lies for one x axis.
 * @param {import("../state/model.js").Model} model
 * @param {import("../state/model.js").View} view
 * @param {string} axisId
 */
export function opPlaces(model, view, axisId) {
  const intensity = view.reader(model.axis(axisId).column);
  const rate = view.reader("flop_rate_gflops");
  return (row) => logPlace(intensity(row), rate(row));
}

/**
 * Everything the drawing needs that is not looks: used for the screen and for pictures.
 * @param {import("../state/model.js").Model} model
 * @param {ViewState} state
 * @param {{ width: number, height: number, margin: any }} box
 * @param {ReadonlySet<Row>} shownRows the ops that pass the filters; only they are joined
 */
export function opGeometry(model, state, box, shownRows) {
  const view = model.view(state.infeed);
  const place = opPlaces(model, view, state.x);
  const dots = [];
  for (const row of view.rows) {
    const at = place(row);
    if (at) dots.push({ row, x: at[0], y: at[1], weight: row.share });
  }
  const unit = view.reader("compute_unit");
  const used = usedRoofs(view.rows, {
    bounds: model.bounds,
    boundOf: (row) => row.bound,
    computeOf: unit,
  });
  const shown = visibleRoofs(model.roofs, state.roofs, used, state.x);
  const main = mainMemory(shown.memory, state.x);
  const flat = shown.compute[0] ?? null;
  const levels = state.x === JOINED ? levelDots(model, view, dots) : null;
  const range = state.zoom
    ? [
        [state.zoom[0], state.zoom[1]],
        [state.zoom[2], state.zoom[3]],
      ]
    : roomyRange(
        automaticRange(levels ?? dots, corners(model, state), state.fit),
        levels ?? dots,
        shown.compute,
        model.others,
        box,
      );
  const scale = createScale(range, box);
  const look = (row) => model.categories[row.category];
  const joined = levels ? joinLevels(levels, scale, state, shownRows) : null;
  const points =
    joined?.dots ??
    placePoints(dots, scale, (row) => look(row).symbol, state.size, state.zoom === null);
  const axisLabel = levels ? "each memory level" : model.axis(state.x).label;
  const rate = view.reader("attainable_gflops");
  // At its bound an op's roof is the one that binds it; on a level's axis it is that level's.
  const isAtBound = model.axis(state.x).column === model.x_axes[0].column;
  const roofOf = ({ row, x }) => {
    if (shown.memory.length + shown.compute.length === 0) return Infinity;
    return isAtBound && rate(row) > 0
      ? Math.log10(rate(row))
      : attainable(x, main, computeRoof(model, unit(row)));
  };
  return {
    scale,
    points,
    joined,
    shown,
    main,
    flat,
    roofOf,
    corner: ridge(main, flat),
    look,
    others: model.others,
    program: programStar(model, view, state),
    axisLabel,
  };
}

/** What the automatic range must hold: the main ridge, and those of the devices compared with. */
function corners(model, state) {
  const memory =
    state.x === JOINED ? model.roofs.memory : [mainMemory(model.roofs.memory, state.x)];
  const own = memory.map((roof) => ridge(roof, model.roofs.compute[0] ?? null));
  return [...own, ...model.others.map(({ memory, compute }) => ridge(memory, compute))].filter(
    Boolean,
  );
}

const STAR_RADIUS = 8;
const RIDGE_RADIUS = 4;

/** What else can be pointed at: the program's star and the ridge points. */
function landmarks({ scale, program, shown, flat }) {
  const at = ({ x, y }) => ({ px: scale.toX(x), py: scale.toY(y) });
  const ridges = shown.memory.flatMap((roof) => {
    const corner = ridge(roof, flat);
    return corner ? [{ ridge: { roof, ...corner }, ...at(corner), radius: RIDGE_RADIUS }] : [];
  });
  const star = program ? [{ isProgram: true, ...at(program), radius: STAR_RADIUS }] : [];
  return [...ridges, ...star];
}

const LABEL_ROOM = 26; // pixels above the highest compute roof
const TOOLS_ROOM = 52; // pixels above the highest point, where no roof keeps points below the chart's buttons

function roomyRange([x, y], dots, compute, others, { height, margin }) {
  const top = topCompute([...compute, ...others.map((other) => other.compute).filter(Boolean)]);
  const part = (room) => room / (height - margin.t - margin.b);
  if (top) return [x, withHeadroom(y, Math.log10(top.gflops), part(LABEL_ROOM))];
  const highest = Math.max(...dots.map((dot) => dot.y).filter((place) => place <= y[1]));
  return [x, Number.isFinite(highest) ? withHeadroom(y, highest, part(TOOLS_ROOM)) : y];
}

function programStar(model, view, state) {
  const total = view.program[0];
  const at = total
    ? logPlace(total[model.axis(state.x).column] ?? null, total.flop_rate_gflops)
    : null;
  return at ? { x: at[0], y: at[1] } : null;
}

/** The state keys that need a new drawing; all others only change classes and the overlay. */
const DRAWN_BY = ["x", "roofs", "size", "fit", "zoom", "infeed"];

/**
 * @param {object} options
 * @param {any} options.Plotly
 * @param {import("../state/model.js").Model} options.model
 * @param {import("../state/store.js").Store} options.store
 * @param {import("./figures.js").Paint} options.paint
 * @param {(place: OpPlace | null, event: PointerEvent) => void} options.onHover
 * @param {(place: OpPlace) => void} options.onClick
 */
export function createOpChart({ Plotly, model, store, paint, onHover, onClick }) {
  const chart = /** @type {any} */ (document.getElementById("op-chart"));
  const drawnPoints = createOpPoints(chart);
  const overlay = createOverlay(chart.parentElement);
  const notes = [...document.querySelectorAll("[data-edge]")];
  let tool = "zoom";
  /** @type {ReturnType<typeof opGeometry>} set by the first drawing */
  let geometry;
  /** @type {ReturnType<typeof landmarks>} */
  let marks = [];
  /** @type {Map<number, import("./points.js").Point>} */
  let pointOf = new Map();
  /** @type {ReadonlySet<Row>} */
  let shown = new Set();
  let wired = false;

  async function draw() {
    const state = store.get();
    geometry = opGeometry(model, state, boxOf(chart), shown);
    marks = landmarks(geometry);
    pointOf = new Map(
      geometry.points
        .filter((point) => point.isBound !== false)
        .map((point) => [point.row.op, point]),
    );
    showLegend(model, geometry);
    const figure = opFigure(
      { ...geometry, dragmode: tool === "select" ? false : tool, isShown: null },
      paint,
    );
    await Plotly.react(chart, figure.data, figure.layout, CONFIG);
    drawnPoints.draw(
      {
        ...geometry,
        points: geometry.joined ? [] : geometry.points,
        star: marks.find((mark) => mark.isProgram) ?? null,
      },
      paint,
    );
    if (!wired) wire();
    fade();
    markSelection();
  }

  let frame = 0;
  /** Joined levels are drawn for the filtered ops only, once per frame at most. */
  function drawSoon() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => void draw());
  }

  function fade() {
    drawnPoints.fade(shown);
    const words = edgeNotes(visiblePoints());
    for (const note of notes) note.textContent = words[note.dataset.edge];
  }

  function* visiblePoints() {
    for (const point of geometry?.points ?? []) if (shown.has(point.row)) yield point;
  }

  function markSelection() {
    const state = store.get();
    const point = state.op === null ? undefined : pointOf.get(state.op);
    const inside = point && isInside(point, geometry.scale);
    const roof = inside && !point.pinned ? geometry.roofOf(point) : Infinity;
    overlay.select(
      inside ? point : null,
      Number.isFinite(roof) ? Math.max(geometry.scale.margin.t, geometry.scale.toY(roof)) : null,
    );
    overlay.area(state.box ? rectangleOf(state.box, geometry.scale) : null);
  }

  function wire() {
    wired = true;
    chart.on("plotly_relayout", (change) => {
      const zoom = zoomFrom(change, geometry.scale);
      if (zoom) store.set({ zoom });
    });
    chart.on("plotly_relayouting", drawnPoints.keepShape);
    chart.on("plotly_doubleclick", () => store.set({ zoom: null }));
  }

  function* places() {
    yield* marks;
    yield* visiblePoints();
  }
  trackPointer(chart, { places, onHover, onClick });
  trackRectangle(chart, {
    enabled: () => tool === "select",
    onDrag: (rectangle) => overlay.area(rectangle),
    onEnd: (rectangle) => {
      if (rectangle) store.set({ box: boxFrom(rectangle, geometry.scale), page: 1 });
      else markSelection();
    },
  });

  return {
    draw,
    /**
     * @param {ReadonlySet<Row>} rows the ops that pass the filters
     * @param {boolean} [draws] a drawing follows, and shows them
     */
    show(rows, draws = false) {
      shown = rows;
      if (!geometry || draws) return;
      if (geometry.joined) drawSoon();
      fade();
      markSelection();
    },
    markSelection,
    /** @param {Row | null} row */
    light(row) {
      const point = row ? pointOf.get(row.op) : undefined;
      overlay.hover(point && isInside(point, geometry.scale) ? point : null);
    },
    /** @param {"zoom" | "pan" | "select"} chosen */
    setTool(chosen) {
      tool = chosen;
      chart.classList.toggle("selecting", tool === "select");
      return Plotly.relayout(chart, { dragmode: tool === "select" ? false : tool });
    },
    /** @param {number} factor below 1 zooms in */
    zoomBy(factor) {
      const { xRange, yRange } = geometry.scale;
      const grow = ([low, high]) => [
        (low + high) / 2 - ((high - low) / 2) * factor,
        (low + high) / 2 + ((high - low) / 2) * factor,
      ];
      store.set({ zoom: [...grow(xRange), ...grow(yRange)] });
    },
    /** Moves the view by a part of its width and height. */
    panBy(right, up) {
      const { xRange, yRange } = geometry.scale;
      const shift = ([low, high], part) => [low + part * (high - low), high + part * (high - low)];
      store.set({ zoom: [...shift(xRange, right), ...shift(yRange, up)] });
    },
    /** @param {ViewState} state @param {ViewState} previous */
    needsDrawing: (state, previous) => DRAWN_BY.some((key) => state[key] !== previous[key]),
  };
}

/** The key to what the lines' labels do not say: other devices, and colours of levels. */
function showLegend(model, { joined }) {
  const entry = (token, text, dash) =>
    html(
      "span",
      { class: "key" },
      html("i", { class: `swatch ${dash}`, vars: { "--swatch": `var(${token})` } }),
      text,
    );
  const legend = part("chart-legend");
  const levels = joined?.levels ?? [];
  legend.replaceChildren(
    ...model.others.map(({ name, token, compute }, i) =>
      entry(
        token,
        compute?.unit && compute.unit === model.roofs.compute[0]?.unit
          ? `${name}, ${compute.label}`
          : name,
        `vs-${i + 1}`,
      ),
    ),
    ...levels.map(({ label, token }) => entry(token, label, "dotted")),
    ...(joined && joined.left > 0
      ? [html("span", { class: "muted" }, `the ${joined.most} longest operations are joined`)]
      : []),
  );
  legend.hidden = legend.childElementCount === 0;
}

function boxOf(chart) {
  return { width: chart.clientWidth, height: chart.clientHeight, margin: OP_MARGIN };
}

function isInside({ px, py }, { margin, width, height }) {
  return (
    px >= margin.l - 1 &&
    px <= width - margin.r + 1 &&
    py >= margin.t - 1 &&
    py <= height - margin.b + 1
  );
}

/** A drag along one axis only names that axis. */
function zoomFrom(change, scale) {
  const x = [
    change["xaxis.range[0]"] ?? scale.xRange[0],
    change["xaxis.range[1]"] ?? scale.xRange[1],
  ];
  const y = [
    change["yaxis.range[0]"] ?? scale.yRange[0],
    change["yaxis.range[1]"] ?? scale.yRange[1],
  ];
  const moved =
    x[0] !== scale.xRange[0] ||
    x[1] !== scale.xRange[1] ||
    y[0] !== scale.yRange[0] ||
    y[1] !== scale.yRange[1];
  return moved ? [...x, ...y] : null;
}

function rectangleOf([x0, x1, y0, y1], scale) {
  const left = Math.max(scale.margin.l, scale.toX(x0));
  const right = Math.min(scale.width - scale.margin.r, scale.toX(x1));
  const top = Math.max(scale.margin.t, scale.toY(y1));
  const bottom = Math.min(scale.height - scale.margin.b, scale.toY(y0));
  return { x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
}

function boxFrom({ x, y, width, height }, scale) {
  return [scale.fromX(x), scale.fromX(x + width), scale.fromY(y + height), scale.fromY(y)];
}
