// Files made in the browser: tables as CSV, the chart as a picture that says what it shows.

import { fileName, toCsv } from "../text/csv.js";
import { CONFIG, opFigure } from "../chart/figures.js";
import { shareOf } from "../state/filter.js";
import { count, percent } from "../text/format.js";
import { opGeometry, opPlaces } from "../chart/op-chart.js";

/** @typedef {import("../state/model.js").Model} Model */

function save(content, type, name) {
  const address = URL.createObjectURL(
    content instanceof Blob ? content : new Blob([content], { type }),
  );
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The click only starts the download; the address must outlive it.
  setTimeout(() => URL.revokeObjectURL(address), 30_000);
}

/** Cell values as words where the data hold indices. */
function valueReader(model, read, unit) {
  if (unit === "category") return (row) => model.categories[read(row)]?.name ?? null;
  if (unit === "bound") return (row) => model.bounds[read(row)]?.id ?? null;
  if (unit === "roof") return (row) => model.roofs.compute[read(row)]?.id ?? null;
  return read;
}

/**
 * @param {Model} model
 * @param {string} name
 * @param {readonly import("../state/model.js").Column[]} columns
 * @param {readonly any[]} rows in the order to write
 * @param {(id: string) => (row: any) => any} reader
 */
export function saveShownCsv(model, name, columns, rows, reader) {
  const readers = columns.map((column) => valueReader(model, reader(column.id), column.unit));
  save(
    toCsv(
      columns.map((column) => column.id),
      rows.map((row) => readers.map((read) => read(row))),
    ),
    "text/csv;charset=utf-8",
    name,
  );
}

/**
 * Every op with every column, with and without infeed and outfeed, as XProf's export has both.
 * @param {Model} model
 * @param {string} title of the profile, for the file's name
 */
export function saveAllCsv(model, title) {
  const lines = ["in", "out"].flatMap((infeed) => {
    const view = model.view(infeed);
    const readers = model.columns.map((column) =>
      valueReader(model, view.reader(column.id), column.unit),
    );
    return view.rows.map((row) => [infeed === "in", ...readers.map((read) => read(row))]);
  });
  const header = ["include_infeed_outfeed", ...model.columns.map((column) => column.id)];
  save(toCsv(header, lines), "text/csv;charset=utf-8", fileName(title, "operations-all.csv"));
}

const PICTURE = { width: 1280, height: 820, margin: { l: 96, r: 210, t: 92, b: 64 } };
const MOST_LEGEND = 24; // that many lines fit beside the chart

/**
 * The chart with its filters and roofs, and words on device, profile and what is left out.
 * @param {object} options
 * @param {any} options.Plotly
 * @param {Model} options.model
 * @param {string} options.title of the profile
 * @param {import("../state/query.js").ViewState} options.state
 * @param {import("../chart/figures.js").Paint} options.paint
 * @param {ReadonlySet<import("../state/model.js").Row>} options.shown
 * @param {"png" | "svg"} options.format
 */
export async function saveChart({ Plotly, model, title, state, paint, shown, format }) {
  const geometry = opGeometry(model, state, PICTURE, shown);
  const figure = opFigure(
    { ...geometry, dragmode: false, isShown: (row) => shown.has(row) },
    paint,
  );
  Object.assign(figure.layout, {
    paper_bgcolor: paint.colour("--surface"),
    plot_bgcolor: paint.colour("--surface"),
  });
  figure.layout.annotations.push(...captions(model, title, state, shown, paint));
  figure.data = [
    ...figure.data.map((trace) => ({ ...trace, showlegend: false })),
    ...legendTraces(geometry, shown, paint),
  ];
  Object.assign(figure.layout, {
    showlegend: true,
    legend: {
      x: 1.01,
      y: 1,
      font: { family: paint.family, size: 12, color: paint.colour("--ink-2") },
    },
  });
  const address = await Plotly.toImage(
    { ...figure, config: CONFIG },
    { format, width: PICTURE.width, height: PICTURE.height, scale: format === "png" ? 2 : 1 },
  );
  const name = fileName(title, `roofline.${format}`);
  save(
    format === "svg" ? new Blob([svgText(address)], { type: "image/svg+xml" }) : pngBlob(address),
    "",
    name,
  );
}

/** Plotly hands out data addresses, which the page's policy does not let anyone fetch. */
function svgText(address) {
  return decodeURIComponent(address.slice(address.indexOf(",") + 1));
}

function pngBlob(address) {
  const binary = atob(address.slice(address.indexOf(",") + 1));
  return new Blob([Uint8Array.from(binary, (character) => character.charCodeAt(0))], {
    type: "image/png",
  });
}

/** Names come from files: markup that Plotly would read is taken out. */
const inert = (text) => String(text).replace(/[<>&]/g, "").slice(0, 90);

/** A trace without points per other device and drawn category, longest first: only its entry in the legend is wanted. */
function legendTraces({ points, look, joined, others }, shown, paint) {
  const lines = others.map(({ name, token, dash }) => ({
    name: inert(name),
    x: [null],
    y: [null],
    mode: "lines",
    showlegend: true,
    line: { color: paint.colour(token), dash, width: 2 },
  }));
  if (joined)
    return [
      ...lines,
      ...joined.levels.map(({ label, token }) => ({
        name: inert(label),
        x: [null],
        y: [null],
        mode: "markers",
        showlegend: true,
        marker: { symbol: "circle", size: 10, color: paint.colour(token) },
      })),
    ];
  const shares = new Map();
  for (const { row } of points)
    if (shown.has(row)) shares.set(look(row), (shares.get(look(row)) ?? 0) + row.share);
  const marks = [...shares]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MOST_LEGEND - lines.length)
    .map(([category]) => ({
      name: inert(category.name).slice(0, 28),
      x: [null],
      y: [null],
      mode: "markers",
      showlegend: true,
      marker: { symbol: category.symbol, size: 10, color: paint.colour(category.token) },
    }));
  return [...lines, ...marks];
}

function captions(model, title, state, shown, paint) {
  const { device, profile } = model;
  const view = model.view(state.infeed);
  const place = opPlaces(model, view, state.x);
  const drawn = [...shown].filter((row) => place(row) !== null);
  const line = (text, y, size, token) => ({
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
  const infeed = state.infeed === "in" ? "with infeed and outfeed" : "without infeed and outfeed";
  return [
    line(inert(`${title} · ${device.name}`), 58, 18, "--ink"),
    line(
      inert(
        `${device.cores} × ${device.core_word}, ${device.hosts} host${device.hosts === 1 ? "" : "s"} · ${profile.files.map((file) => file.name).join(", ")}`,
      ),
      38,
      12,
      "--ink-2",
    ),
    line(
      `${count(drawn.length)} of ${count(view.rows.length)} ops drawn, ${percent(shareOf(drawn))} of the time · ${infeed} · per ${inert(device.core_word)}`,
      20,
      12,
      "--ink-2",
    ),
  ];
}
