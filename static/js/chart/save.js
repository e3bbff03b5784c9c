// The roofline of operations as a picture that says what it shows: with its legend, pins and notes, and words on
// device, profile and what is left out.

import { count, peakBandwidth, peakRate, percent } from "../text/format.js";
import { shareOf } from "../state/filter.js";
import { CONFIG, painted, plotlyReady } from "./mount.js";

/** @import { ComputeRoof, MemoryRoof } from "../types/page-data.js" */
/** @import { ChartFigure, ChartTrace } from "../types/figure.js" */
/** @import { Model, Row } from "../types/model.js" */
/** @import { ShownPin } from "../state/pins.js" */

const SIZE = { width: 1280, height: 856, margin: { l: 96, r: 210, t: 108, b: 84 } };
const PIN_LINE = 18; // pixels
const MOST_PINS = 20; // lines below the chart
const MOST_LEGEND = 24; // that many lines fit beside the chart
const MOST_LETTERS = 90;
const MOST_NOTE_LETTERS = 180;
const MOST_LEGEND_LETTERS = 28;
const PIN_LOOK = { size: 12, token: "--ink-2" };

/**
 * @typedef {object} Picture
 * @property {Model} model
 * @property {ChartFigure} figure as it is drawn
 * @property {string} title of the profile
 * @property {"in" | "out"} infeed
 * @property {readonly Row[]} all ops of the view
 * @property {readonly Row[]} drawn those that the filters leave and the chart has a place for
 * @property {readonly ShownPin[]} pins
 * @property {string} source the program and its version, and the address of this view
 */

/** @typedef {{ colour: (token: string) => string, family: string }} Paint colours and font of the page */

/**
 * Plotly reads markup in text; labels from the page data lose what could start any.
 * @param {string} text
 */
const words = (text) => text.replace(/[<>&]/g, "");

/** Names come from files. @param {string} text */
const inert = (text) => words(text).slice(0, MOST_LETTERS);

/** The picture's size: notes on pins stand below the chart. @param {readonly ShownPin[]} pins */
function pictureSize(pins) {
  const { width, height, margin } = SIZE;
  const below = Math.min(pins.length, MOST_PINS) * PIN_LINE;
  return { width, height: height + below, margin: { ...margin, b: margin.b + below } };
}

/**
 * The figure with words around it; ops that the filters hide are not drawn, not even faintly.
 * @param {Picture} picture
 */
export function pictureFigure(picture) {
  const { figure, drawn, pins } = picture;
  const shown = new Set(drawn.map(({ op }) => op));
  const data = figure.data
    .filter(({ meta }) => meta.width !== "narrow")
    .map((trace) => ({ ...onlyShown(trace, shown), showlegend: false }));
  return {
    data: [...data, ...legendTraces(picture)],
    layout: {
      ...figure.layouts.wide,
      ...pictureSize(pins),
      paper_bgcolor: "--surface",
      plot_bgcolor: "--surface",
      annotations: [...pinMarks(data, pins), ...captions(picture), ...pinNotes(pins)],
      showlegend: true,
      legend: { x: 1.01, y: 1, font: { size: 12, color: "--ink-2" } },
    },
  };
}

/**
 * A trace of ops without those that are hidden.
 * @param {ChartTrace} trace
 * @param {ReadonlySet<number>} shown
 * @returns {ChartTrace}
 */
function onlyShown(trace, shown) {
  const { meta, customdata } = trace;
  if (!customdata || !["marks", "labels"].includes(meta.role)) return trace;
  const kept = customdata.map((row) => row === null || shown.has(Number(row)));
  return /** @type {ChartTrace} */ (keeping(trace, kept));
}

/** Every list of an entry per mark loses the same entries. @param {unknown} part @param {boolean[]} kept @returns {unknown} */
function keeping(part, kept) {
  if (Array.isArray(part))
    return part.length === kept.length ? part.filter((_, i) => kept[i]) : part;
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([key, one]) => [key, keeping(one, kept)]));
}

/**
 * The number of each pinned operation, above its mark.
 * @param {readonly ChartTrace[]} data
 * @param {readonly ShownPin[]} pins
 */
const pinMarks = (data, pins) =>
  pins.flatMap(({ number, row }) => {
    const marks = data.filter(({ meta }) => meta.role === "marks");
    const trace = row && marks.find(({ customdata = [] }) => customdata.includes(row.op));
    if (!row || !trace) return [];
    const at = (trace.customdata ?? []).indexOf(row.op);
    return [
      {
        // Annotations take the logarithm on logarithmic axes, marks do not.
        x: Math.log10(Number(trace.x[at])),
        y: Math.log10(Number(trace.y[at])),
        text: `<b>${number}</b>`,
        showarrow: false,
        yanchor: "bottom",
        yshift: 8,
        bgcolor: "--accent",
        borderpad: 2,
        font: { size: 11, color: "--on-accent" },
      },
    ];
  });

/** A line for each pin below the chart. @param {readonly ShownPin[]} pins */
const pinNotes = (pins) =>
  pins.slice(0, MOST_PINS).map(({ number, row, name, note }, i) => {
    const text = [`${number}  ${inert(row?.short ?? name)}`, words(note.replace(/\s+/g, " "))];
    const line = text.filter(Boolean).join(": ").slice(0, MOST_NOTE_LETTERS);
    return { ...caption(line, -58 - PIN_LINE * (i + 1), PIN_LOOK), y: 0 };
  });

/**
 * Entries of the legend, without points: other devices and levels, then the drawn categories, longest first.
 * @param {Picture} picture
 */
function legendTraces({ figure, model, drawn }) {
  /** @param {string} name @param {object} look */
  const entry = (name, look) => ({
    type: "scatter",
    name,
    x: [null],
    y: [null],
    mode: "markers",
    hoverinfo: "skip",
    showlegend: true,
    ...look,
  });
  const lines = figure.legend
    .filter(({ token }) => token)
    .map(({ text, token, dash }) =>
      entry(inert(text), { mode: "lines", line: { color: token, dash, width: 2 } }),
    );
  const isJoined = figure.data.some(({ meta }) => meta.role === "joined");
  const marks = longestFirst(drawn, model)
    .slice(0, MOST_LEGEND - lines.length)
    .map(({ name, symbol, token }) =>
      entry(inert(name).slice(0, MOST_LEGEND_LETTERS), {
        marker: { symbol, size: 10, color: token },
      }),
    );
  return [...lines, ...(isJoined ? [] : marks)];
}

/** The categories of some ops. @param {readonly Row[]} rows @param {Model} model */
function longestFirst(rows, { categories }) {
  /** @type {Map<number, number>} */
  const shares = new Map();
  for (const { category, share } of rows) shares.set(category, (shares.get(category) ?? 0) + share);
  return [...shares].sort((a, b) => b[1] - a[1]).map(([category]) => categories[category]);
}

/** @param {Picture} picture */
function captions({ model, title, infeed, all, drawn, source }) {
  const { device, profile } = model;
  const { name, cores, core_word: core, hosts } = device;
  const files = profile.files.map((file) => file.name).join(", ");
  const machine = `${cores} × ${core}, ${hosts} host${hosts === 1 ? "" : "s"} · ${files}`;
  const shown = [
    `${count(drawn.length)} of ${count(all.length)} ops drawn, ${percent(shareOf(drawn))} of the time`,
    `${infeed === "in" ? "with" : "without"} infeed and outfeed`,
    `per ${inert(core)}`,
  ].join(" · ");
  return [
    caption(inert(`${title} · ${name}`), 76, { size: 18, token: "--ink" }),
    caption(inert(machine), 56, { size: 12, token: "--ink-2" }),
    caption(shown, 38, { size: 12, token: "--ink-2" }),
    caption(words(peaksText(model)), 20, { size: 12, token: "--ink-2" }),
    { ...caption(addressed(source), -58, { size: 11, token: "--ink-3" }), y: 0 },
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
  calibrated: "measured by roofline calibrate",
  user: "set by hand",
};

/**
 * @param {string} text
 * @param {number} y pixels above the chart
 * @param {{ size: number, token: string }} look
 */
const caption = (text, y, { size, token }) => ({
  x: 0,
  y: 1,
  xref: "paper",
  yref: "paper",
  text,
  showarrow: false,
  xanchor: "left",
  yanchor: "bottom",
  xshift: -SIZE.margin.l + 24,
  yshift: y,
  font: { size, color: token },
});

/**
 * @param {Picture} picture
 * @param {"png" | "svg"} format
 * @param {Paint} paint
 * @returns {Promise<Blob>}
 */
export async function pictureOf(picture, format, { colour, family }) {
  const Plotly = await plotlyReady();
  const { data, layout } = painted(pictureFigure(picture), colour);
  const figure = { data, layout: { ...layout, font: { size: 11.5, family } }, config: CONFIG };
  const { width, height } = pictureSize(picture.pins);
  const scale = format === "png" ? 2 : 1;
  const address = await Plotly.toImage(figure, { format, width, height, scale });
  return format === "svg" ? svgBlob(address) : pngBlob(address);
}

/**
 * Plotly hands out data addresses, which the page's policy does not let scripts fetch.
 * @param {string} address
 */
const payload = (address) => address.slice(address.indexOf(",") + 1);

/** @param {string} address */
const svgBlob = (address) =>
  new Blob([decodeURIComponent(payload(address))], { type: "image/svg+xml" });

/** @param {string} address */
function pngBlob(address) {
  const bytes = Uint8Array.from(atob(payload(address)), (character) => character.charCodeAt(0));
  return new Blob([bytes], { type: "image/png" });
}
