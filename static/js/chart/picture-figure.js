// The roofline of operations as a picture that says what it shows: with its legend, pins and notes, and words on
// device, profile and what is left out. Pure.

import { shareOf } from "../state/filter.js";
import { count, peakBandwidth, peakRate, percent } from "../text/format.js";
import { words } from "./looks.js";
import { opFigure } from "./op-figure.js";
import { opGeometry, opPlaces } from "./op-geometry.js";

/** @import { ComputeRoof, MemoryRoof } from "../types/page-data.js" */
/** @import { Model, Row } from "../types/model.js" */
/** @import { Annotation, Figure, Marker, Trace } from "../types/plotly.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Paint } from "./looks.js" */
/** @import { OpGeometry } from "./op-geometry.js" */
/** @import { ShownPin } from "../state/pins.js" */

export const PICTURE = { width: 1280, height: 856, margin: { l: 96, r: 210, t: 108, b: 84 } };
const PIN_LINE = 18; // pixels
const MOST_PINS = 20; // lines below the chart
const MOST_LEGEND = 24; // that many lines fit beside the chart
const MOST_LETTERS = 90;
const MOST_NOTE_LETTERS = 180;
const PIN_LOOK = { size: 12, token: "--ink-2" };
const MOST_LEGEND_LETTERS = 28;

/**
 * @typedef {object} Picture
 * @property {Model} model
 * @property {string} title of the profile
 * @property {ViewState} state
 * @property {ReadonlySet<Row>} shown
 * @property {readonly ShownPin[]} pins
 * @property {string} source the program and its version, and the address of this view
 */

/** The picture's size: notes on pins stand below the chart. @param {readonly ShownPin[]} pins */
export function pictureSize(pins) {
  const { width, height, margin } = PICTURE;
  const below = Math.min(pins.length, MOST_PINS) * PIN_LINE;
  return { width, height: height + below, margin: { ...margin, b: margin.b + below } };
}

/** @param {Picture} picture @param {Paint} paint @returns {Figure} */
export function pictureFigure(picture, paint) {
  const { model, state, shown, pins } = picture;
  const geometry = opGeometry(model, state, pictureSize(pins), shown);
  const isShown = (/** @type {Row} */ row) => shown.has(row);
  // Only what the words above count: ops that the filters hide are not drawn, not even faintly.
  const drawn = { ...geometry, points: geometry.points.filter(({ row }) => isShown(row)) };
  const { data, layout } = opFigure(drawn, paint, { dragmode: false, isShown });
  const surface = paint.colour("--surface");
  const font = { family: paint.family, size: 12, color: paint.colour("--ink-2") };
  const quiet = data.map((trace) => ({ ...trace, showlegend: false }));
  return {
    data: [...quiet, ...legendTraces(geometry, shown, paint)],
    layout: {
      ...layout,
      paper_bgcolor: surface,
      plot_bgcolor: surface,
      annotations: [
        ...layout.annotations,
        ...(drawn.joined ? [] : pinMarks(drawn.points, pins, paint)),
        ...captions(picture, paint),
        ...pinNotes(pins, paint),
      ],
      showlegend: true,
      legend: { x: 1.01, y: 1, font },
    },
  };
}

/**
 * The number of each pinned operation, above its point.
 * @param {OpGeometry["points"]} points
 * @param {readonly ShownPin[]} pins
 * @param {Paint} paint
 * @returns {Annotation[]}
 */
const pinMarks = (points, pins, paint) =>
  pins.flatMap(({ number, row }) => {
    const point = row && points.find((one) => one.row === row);
    if (!point) return [];
    const { x, y, radius } = point;
    return {
      x,
      y,
      text: `<b>${number}</b>`,
      showarrow: false,
      xanchor: "center",
      yanchor: "bottom",
      yshift: radius + 2,
      bgcolor: paint.colour("--accent"),
      borderpad: 2,
      font: { family: paint.family, size: 11, color: paint.colour("--on-accent") },
    };
  });

/** A line for each pin below the chart. @param {readonly ShownPin[]} pins @param {Paint} paint */
const pinNotes = (pins, paint) =>
  pins.slice(0, MOST_PINS).map(({ number, row, name, note }, i) => {
    const text = [`${number}  ${inert(row?.short ?? name)}`, words(note.replace(/\s+/g, " "))];
    const line = text.filter(Boolean).join(": ").slice(0, MOST_NOTE_LETTERS);
    return { ...caption(line, -58 - PIN_LINE * (i + 1), PIN_LOOK, paint), y: 0 };
  });

/** Names come from files: markup that Plotly would read is taken out. @param {string} text */
const inert = (text) => words(text).slice(0, MOST_LETTERS);

/**
 * A trace without points: only its entry in the legend is wanted.
 * @param {string} name
 * @param {Partial<Trace>} look
 * @returns {Trace}
 */
const legendTrace = (name, look) => ({
  name,
  x: [null],
  y: [null],
  mode: "markers",
  hoverinfo: "skip",
  showlegend: true,
  ...look,
});

/**
 * One per other device, and per memory level or drawn category, longest first.
 * @param {OpGeometry} geometry
 * @param {ReadonlySet<Row>} shown
 * @param {Paint} paint
 */
function legendTraces({ points, look, joined, others }, shown, paint) {
  /** @param {string} symbol @param {string} token @returns {Marker} */
  const marker = (symbol, token) => ({ symbol, size: 10, color: paint.colour(token) });
  const lines = others.map(({ name, token, dash }) =>
    legendTrace(inert(name), {
      mode: "lines",
      line: { color: paint.colour(token), dash, width: 2 },
    }),
  );
  const levels = joined?.levels.map(({ label, token }) =>
    legendTrace(inert(label), { marker: marker("circle", token) }),
  );
  const drawn = points.map(({ row }) => row).filter((row) => shown.has(row));
  const marks = longestFirst(drawn, look)
    .slice(0, MOST_LEGEND - lines.length)
    .map(({ name, symbol, token }) =>
      legendTrace(inert(name).slice(0, MOST_LEGEND_LETTERS), { marker: marker(symbol, token) }),
    );
  return [...lines, ...(levels ?? marks)];
}

/** The categories of some ops. @param {Row[]} rows @param {OpGeometry["look"]} look */
function longestFirst(rows, look) {
  /** @type {Map<ReturnType<OpGeometry["look"]>, number>} */
  const shares = new Map();
  for (const row of rows) shares.set(look(row), (shares.get(look(row)) ?? 0) + row.share);
  return [...shares].sort((a, b) => b[1] - a[1]).map(([category]) => category);
}

/** @param {Picture} picture @param {Paint} paint */
function captions({ model, title, state, shown, source }, paint) {
  const { device, profile } = model;
  const { name, cores, core_word: core, hosts } = device;
  const files = profile.files.map((file) => file.name).join(", ");
  const machine = `${cores} × ${core}, ${hosts} host${hosts === 1 ? "" : "s"} · ${files}`;
  return [
    caption(inert(`${title} · ${name}`), 76, { size: 18, token: "--ink" }, paint),
    caption(inert(machine), 56, { size: 12, token: "--ink-2" }, paint),
    caption(drawnText(model, state, shown), 38, { size: 12, token: "--ink-2" }, paint),
    caption(words(peaksText(model)), 20, { size: 12, token: "--ink-2" }, paint),
    { ...caption(addressed(source), -58, { size: 11, token: "--ink-3" }, paint), y: 0 },
  ];
}

/** An address stays whole: its "&" is written as an entity. @param {string} text */
const addressed = (text) => text.split("&").map(words).join("&amp;");

/** The main peaks and where each is from. @param {Model} model */
function peaksText({ roofs, device }) {
  const rates = roofs.compute.slice(0, 1).map((roof) => [roof, peakRate(roof.gflops)]);
  const memories = roofs.memory.slice(0, 1).map((roof) => [roof, peakBandwidth(roof.gbs)]);
  const peaks = /** @type {[ComputeRoof | MemoryRoof, string][]} */ ([...rates, ...memories]);
  if (peaks.length === 0) return "No peak is known";
  const texts = peaks.map(([{ label, origin }, text]) => `${label} ${text} (${ORIGINS[origin]})`);
  return `Peaks per ${device.core_word}: ${texts.join(", ")}`;
}

/** @type {Record<string, string>} */
const ORIGINS = {
  profile: "stated by the profile",
  measured: "measured by the profiler",
  catalogue: "published",
  calibrated: "measured on this machine",
  user: "set by hand",
};

/** @param {Model} model @param {ViewState} state @param {ReadonlySet<Row>} shown */
function drawnText(model, state, shown) {
  const view = model.view(state.infeed);
  const place = opPlaces(model, view, state);
  const drawn = [...shown].filter((row) => place(row) !== null);
  const infeed = state.infeed === "in" ? "with" : "without";
  return [
    `${count(drawn.length)} of ${count(view.rows.length)} ops drawn, ${percent(shareOf(drawn))} of the time`,
    `${infeed} infeed and outfeed`,
    `per ${inert(model.device.core_word)}`,
  ].join(" · ");
}

/**
 * @param {string} text
 * @param {number} y pixels above the chart
 * @param {{ size: number, token: string }} look
 * @param {Paint} paint
 * @returns {Annotation}
 */
const caption = (text, y, { size, token }, paint) => ({
  x: 0,
  y: 1,
  xref: "paper",
  yref: "paper",
  text,
  showarrow: false,
  xanchor: "left",
  yanchor: "bottom",
  xshift: -PICTURE.margin.l + 24,
  yshift: y,
  font: { family: paint.family, size, color: paint.colour(token) },
});
