// Plotly figures of both rooflines: traces and layout from geometry. Pure; only our own words enter as text.

import { intensityTicks, rateTicks } from "./axes.js";
import { peakBandwidth, peakRate, percent, significant } from "../text/format.js";
import { attainable, flatPlaces, roofLines, slantedLabels } from "./roofs.js";

/** Quiet chart: own buttons, own hover card, nothing that talks to another host. */
export const CONFIG = {
  displayModeBar: false,
  displaylogo: false,
  showTips: false,
  doubleClick: false,
  scrollZoom: false,
  responsive: false,
  showSendToCloud: false,
  editable: false,
};

/** Equal margins let the strip below line up with the chart, and label angles be computed. */
export const OP_MARGIN = { l: 84, r: 14, t: 10, b: 44 };
export const PROGRAM_MARGIN = { l: 78, r: 10, t: 8, b: 38 };

const power = (values) => values.map((value) => 10 ** value);

/**
 * @typedef {object} Paint what a figure needs to know about its looks
 * @property {(token: string) => string} colour
 * @property {string} family font
 */

function font(paint, size, token) {
  return { family: paint.family, size, color: paint.colour(token) };
}

function logAxis(paint, range, ticks, extra) {
  return {
    type: "log",
    range: [...range],
    tickmode: "array",
    tickvals: ticks.values,
    ticktext: ticks.labels,
    gridcolor: paint.colour("--grid"),
    gridwidth: 1,
    zeroline: false,
    showline: false,
    ticks: "",
    tickfont: font(paint, 11.5, "--axis"),
    ...extra,
  };
}

/**
 * Lines, ridges, labels and the two tinted regions.
 * @param {object} options
 * @param {{ memory: any[], compute: any[] }} options.shown
 * @param {any} options.main memory roof that distances are read against
 * @param {any} options.flat compute roof that distances are read against
 * @param {{ x: number, y: number } | null} options.corner main ridge
 * @param {import("./axes.js").Scale} options.scale
 * @param {boolean} options.small few words, no distance lines
 * @param {Paint} paint
 */
function roofParts({ shown, main, flat, corner, scale, small }, paint) {
  const lines = roofLines(shown, scale.xRange);
  const fontSize = small ? 11 : 12;
  const traces = [];
  const annotations = [];
  const hasRoof = lines.length > 0;
  if (hasRoof && !small) distanceLines({ main, flat, scale }, paint, traces, annotations);
  for (const { roof, points } of lines) {
    traces.push({
      name: roof.label,
      x: power(points.map((p) => p[0])),
      y: power(points.map((p) => p[1])),
      mode: "lines",
      line: {
        color: paint.colour(roof.token),
        width: isFurther(roof, shown) ? 1.2 : 2,
        dash: roof.dash,
      },
      hoverinfo: "skip",
    });
  }
  const corners = lines.map((line) => line.corner).filter(Boolean);
  traces.push({
    name: "ridge points",
    x: power(corners.map((c) => c.x)),
    y: power(corners.map((c) => c.y)),
    mode: "markers",
    hoverinfo: "skip",
    marker: {
      symbol: "circle",
      size: 8,
      color: paint.colour("--surface"),
      line: { color: paint.colour("--ink"), width: 1.6 },
    },
  });
  slantLabels(lines, scale, fontSize, paint, annotations);
  flatLabels(shown.compute, scale, { small, fontSize, corner }, paint, annotations);
  if (corner && hasRoof && !small) regionLabels(corner, scale, paint, annotations);
  return {
    traces,
    annotations,
    shapes: corner && hasRoof ? regionShapes(corner, scale, paint) : [],
  };
}

/** Dotted lines at a tenth and a hundredth of the roof, so that distance can be read. */
function distanceLines({ main, flat, scale }, paint, traces, annotations) {
  const bend = main && flat ? [Math.log10(flat.gflops) - Math.log10(main.gbs)] : [];
  const xs = [scale.xRange[0] - 3, ...bend, scale.xRange[1] + 3].sort((a, b) => a - b);
  for (const share of [0.1, 0.01]) {
    const y = (x) => attainable(x, main, flat) + Math.log10(share);
    traces.push({
      name: `${share * 100} % of roof`,
      x: power(xs),
      y: power(xs.map(y)),
      mode: "lines",
      hoverinfo: "skip",
      line: { color: paint.colour("--line-2"), width: 1, dash: "1px,4px" },
    });
    const end = y(scale.xRange[1]);
    if (end > scale.yRange[0] && end < scale.yRange[1]) {
      annotations.push({
        x: scale.xRange[1],
        y: end,
        text: `${share * 100} % of roof`,
        xanchor: "right",
        yanchor: "bottom",
        showarrow: false,
        xshift: -3,
        font: font(paint, 11, "--ink-3"),
      });
    }
  }
}

/** Plotly reads markup in text; labels from the page data lose what could start any. */
const words = (text) => String(text).replace(/[<>&]/g, "");

const memoryText = (roof) => `${words(roof.label)} ${peakBandwidth(roof.gibs)}`;

function slantLabels(lines, scale, size, paint, annotations) {
  const width = (roof) => memoryText(roof).length * size * 0.56 + 8;
  for (const { roof, x, y, angle, below } of slantedLabels(lines, scale, width)) {
    const radians = (angle * Math.PI) / 180;
    const away = below ? -11 : 11;
    annotations.push({
      x,
      y,
      text: memoryText(roof),
      showarrow: false,
      textangle: angle,
      font: font(paint, size, roof.token),
      xshift: away * Math.sin(radians),
      yshift: away * Math.cos(radians),
    });
  }
}

/** Further compute roofs are thinner than the main one. */
const isFurther = (roof, shown) => roof.gflops !== undefined && roof !== shown.compute[0];

function flatLabels(compute, scale, { small, fontSize, corner }, paint, annotations) {
  const right = scale.width - scale.margin.r;
  const left = Math.max(scale.margin.l, corner ? scale.toX(corner.x) - 60 : 0);
  const text = (roof) =>
    small || right - left < 210
      ? peakRate(roof.gflops)
      : `${words(roof.label)}${roof === compute[0] ? " peak" : ""} ${peakRate(roof.gflops)}`;
  const labels = (small ? compute.slice(0, 1) : compute)
    .map((roof) => ({
      roof,
      y: scale.toY(Math.log10(roof.gflops)),
      width: text(roof).length * fontSize * 0.56 + 4,
    }))
    .filter(({ y }) => y > scale.margin.t && y < scale.height - scale.margin.b);
  for (const { roof, right: end } of flatPlaces(labels, { left: small ? 0 : left, right })) {
    annotations.push({
      x: scale.xRange[1],
      y: Math.log10(roof.gflops),
      text: text(roof),
      showarrow: false,
      xanchor: "right",
      yanchor: "bottom",
      xshift: end - right - 3,
      yshift: roof === compute[0] ? 2 : 1,
      bgcolor: paint.colour("--label-bg"),
      font: font(paint, roof === compute[0] ? fontSize : fontSize - 1, roof.token),
      borderpad: 0,
    });
  }
}

function regionLabels(corner, scale, paint, annotations) {
  if (corner.x <= scale.xRange[0] || corner.x >= scale.xRange[1]) return;
  const add = (text, xanchor, yshift, token) =>
    annotations.push({
      x: corner.x,
      y: 0,
      yref: "paper",
      text,
      showarrow: false,
      xanchor,
      yanchor: "bottom",
      xshift: xanchor === "left" ? 5 : -5,
      yshift,
      font: font(paint, 11, token),
    });
  const before = (corner.x - scale.xRange[0]) * scale.perX;
  const after = (scale.xRange[1] - corner.x) * scale.perX;
  if (before > 110) add("← memory-bound", "right", 2, "--ink-2");
  if (after > 110) {
    add("compute-bound →", "left", 2, "--ink-2");
    add(`ridge ${significant(10 ** corner.x)} FLOP/B`, "left", 18, "--ink");
  }
}

function regionShapes(corner, scale, paint) {
  const area = (x0, x1, token) => ({
    type: "rect",
    xref: "x",
    yref: "paper",
    x0: 10 ** x0,
    x1: 10 ** x1,
    y0: 0,
    y1: 1,
    fillcolor: paint.colour(token),
    line: { width: 0 },
    layer: "below",
  });
  return [
    area(Math.min(scale.xRange[0], corner.x) - 3, corner.x, "--region-mem"),
    area(corner.x, Math.max(scale.xRange[1], corner.x) + 3, "--region-cmp"),
    {
      type: "line",
      x0: 10 ** corner.x,
      x1: 10 ** corner.x,
      y0: 10 ** (scale.yRange[0] - 3),
      y1: 10 ** corner.y,
      line: { color: paint.colour("--line-2"), width: 1, dash: "2px,3px" },
      layer: "below",
    },
  ];
}

function layout({ margin, scale, axes, dragmode, roofs }, paint) {
  return {
    margin,
    showlegend: false,
    hovermode: false,
    dragmode,
    width: scale.width,
    height: scale.height,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: font(paint, 11.5, "--axis"),
    shapes: roofs.shapes,
    annotations: roofs.annotations,
    uirevision: "keep",
    ...axes,
  };
}

/** Roofs of other devices: one broken line each, bent at its own ridge. */
function otherTraces(others, scale, paint) {
  return others
    .filter(({ memory, compute }) => memory || compute)
    .map(({ name, token, dash, memory, compute }) => {
      const bend = memory && compute ? [Math.log10(compute.gflops) - Math.log10(memory.gbs)] : [];
      const xs = [scale.xRange[0] - 3, ...bend, scale.xRange[1] + 3].sort((a, b) => a - b);
      return {
        name: words(name),
        x: power(xs),
        y: power(xs.map((x) => attainable(x, memory, compute))),
        mode: "lines",
        hoverinfo: "skip",
        line: { color: paint.colour(token), width: 1.6, dash },
      };
    });
}

/** Every memory level of an op: dots on its line, coloured by level. */
function joinedTraces(joined, paint) {
  const gap = null;
  const lines = joined.lines.flatMap(({ x0, x1, y }) => [[x0, y], [x1, y], gap]);
  const at = (list, i) => list.map((place) => (place === gap ? null : 10 ** place[i]));
  return [
    {
      name: "joined levels",
      x: at(lines, 0),
      y: at(lines, 1),
      mode: "lines",
      hoverinfo: "skip",
      line: { color: paint.colour("--ink-3"), width: 1 },
    },
    {
      name: "memory levels",
      x: power(joined.dots.map((dot) => dot.x)),
      y: power(joined.dots.map((dot) => dot.y)),
      mode: "markers",
      hoverinfo: "skip",
      marker: {
        symbol: "circle",
        size: joined.dots.map((dot) => 2 * dot.radius),
        color: joined.dots.map((dot) => paint.colour(dot.token)),
        opacity: 0.85,
        line: { color: paint.colour("--halo"), width: 1 },
      },
    },
  ];
}

const EDGE_SYMBOLS = {
  left: "triangle-left-open",
  right: "triangle-right-open",
  above: "triangle-up-open",
  below: "triangle-down-open",
};

function pointTraces(points, look, paint, isShown) {
  const free = points.filter((point) => !point.pinned);
  const pinned = points.filter((point) => point.pinned);
  const base = (list) => ({
    x: power(list.map((p) => p.x)),
    y: power(list.map((p) => p.y)),
    mode: "markers",
    hoverinfo: "skip",
  });
  const colours = (list) => list.map((p) => paint.colour(look(p.row).token));
  const opacity = (list, normal) => list.map((p) => (isShown(p.row) ? normal : 0.1));
  return [
    {
      ...base(free),
      name: "ops",
      marker: {
        symbol: free.map((p) => look(p.row).symbol),
        size: free.map((p) => 2 * p.radius),
        color: colours(free),
        opacity: opacity(free, 0.76),
        line: { color: paint.colour("--halo"), width: 1 },
      },
    },
    {
      ...base(pinned),
      name: "ops beyond the edge",
      marker: {
        symbol: pinned.map((p) => EDGE_SYMBOLS[p.edge]),
        size: 8,
        color: colours(pinned),
        opacity: opacity(pinned, 1),
        line: { width: 1.4 },
      },
    },
  ];
}

/**
 * @param {object} chart
 * @param {import("./axes.js").Scale} chart.scale
 * @param {import("./points.js").Point[]} chart.points
 * @param {{ x: number, y: number } | null} chart.program
 * @param {(row: import("../state/model.js").Row) => { token: string, symbol: string }} chart.look
 * @param {string} chart.axisLabel
 * @param {import("../metrics/other-devices.js").Other[]} chart.others
 * @param {ReturnType<typeof import("./joined-levels.js").joinLevels> | null} chart.joined in place of one point per op
 * @param {"zoom" | "pan" | false} chart.dragmode
 * @param {((row: import("../state/model.js").Row) => boolean) | null} chart.isShown only for pictures: the page draws the points itself
 * @param {Paint} paint
 */
export function opFigure(chart, paint) {
  const { scale, points, program, joined } = chart;
  const roofs = roofParts({ ...chart, small: false }, paint);
  const star = {
    name: "program",
    x: program ? power([program.x]) : [],
    y: program ? power([program.y]) : [],
    mode: "markers",
    hoverinfo: "skip",
    marker: {
      symbol: "star",
      size: 17,
      color: paint.colour("--star"),
      line: { color: paint.colour("--halo"), width: 1.5 },
    },
  };
  const axes = {
    xaxis: logAxis(paint, scale.xRange, intensityTicks(scale.xRange, scale.plotWidth), {
      title: {
        text: `Operational intensity, FLOP per byte of ${words(chart.axisLabel)}`,
        standoff: 6,
        font: font(paint, 11.5, "--axis"),
      },
    }),
    yaxis: logAxis(paint, scale.yRange, rateTicks(scale.yRange, scale.plotHeight), {}),
  };
  const marks =
    chart.isShown && !joined ? pointTraces(points, chart.look, paint, chart.isShown) : [];
  return {
    data: [
      ...otherTraces(chart.others, scale, paint),
      ...roofs.traces,
      ...(joined ? joinedTraces(joined, paint) : marks),
      ...(chart.isShown ? [star] : []),
    ],
    layout: layout({ margin: scale.margin, scale, axes, dragmode: chart.dragmode, roofs }, paint),
  };
}

/** "#24369c"-like colours of both ends, mixed: the order of the steps in one hue. */
export function stepColour(order, paint) {
  const channels = (token) =>
    paint
      .colour(token)
      .match(/[\d.]+/g)
      .map(Number);
  const from = channels("--step-0");
  const to = channels("--step-1");
  return `rgb(${[0, 1, 2].map((i) => Math.round(from[i] + (to[i] - from[i]) * order)).join(",")})`;
}

export const SCOPE_SYMBOLS = {
  total: "star",
  total_hw: "star-open",
  average: "diamond",
  step: "circle",
};
const SCOPE_SIZES = { total: 14, total_hw: 14, average: 11, step: 10 };

/**
 * @param {object} chart
 * @param {import("./axes.js").Scale} chart.scale
 * @param {{ x: number, y: number, point: any }[]} chart.marks log10 places, later ones on top
 * @param {{ x: number, y: number, roof: number } | null} chart.total where the dashed gap to the roof is drawn
 * @param {Paint} paint
 */
export function programFigure(chart, paint) {
  const { scale, marks, total } = chart;
  const roofs = roofParts({ ...chart, small: true }, paint);
  const label = font(paint, 11, "--ink-2");
  if (total) {
    roofs.shapes.push({
      type: "line",
      x0: 10 ** total.x,
      x1: 10 ** total.x,
      y0: 10 ** total.y,
      y1: 10 ** total.roof,
      line: { color: paint.colour("--ink-2"), width: 1, dash: "3px,3px" },
    });
    const rightHalf = scale.toX(total.x) > scale.width - 84;
    roofs.annotations.push({
      x: total.x,
      y: (total.y + total.roof) / 2,
      text: `${percent(total.share, 0)} of roof`,
      showarrow: false,
      xanchor: rightHalf ? "right" : "left",
      xshift: rightHalf ? -5 : 5,
      font: label,
    });
  }
  const outliers = marks.filter((mark) => mark.point.is_outlier);
  // A few can be named; many would hide each other's names, and the list has them.
  for (const { x, y, point } of outliers.length <= 3 ? outliers : []) {
    roofs.annotations.push({
      x,
      y,
      text: `step ${stepNumber(point.label)}`,
      showarrow: false,
      yanchor: "top",
      yshift: -7,
      font: label,
    });
  }
  const trace = {
    name: "program",
    meta: "program",
    x: power(marks.map((m) => m.x)),
    y: power(marks.map((m) => m.y)),
    mode: "markers",
    hoverinfo: "skip",
    marker: {
      opacity: 1,
      symbol: marks.map((m) => SCOPE_SYMBOLS[m.point.scope]),
      size: marks.map((m) => SCOPE_SIZES[m.point.scope]),
      color: marks.map((m) =>
        m.point.scope === "step" ? stepColour(m.point.order ?? 1, paint) : paint.colour("--star"),
      ),
      line: {
        color: marks.map((m) => paint.colour(m.point.is_outlier ? "--warn" : "--halo")),
        width: marks.map((m) => (m.point.is_outlier ? 2 : 1)),
      },
    },
  };
  const axes = {
    xaxis: logAxis(paint, scale.xRange, intensityTicks(scale.xRange, scale.plotWidth), {
      fixedrange: true,
      title: { text: "FLOP per byte", standoff: 4, font: font(paint, 11.5, "--axis") },
    }),
    yaxis: logAxis(paint, scale.yRange, rateTicks(scale.yRange, scale.plotHeight), {
      fixedrange: true,
    }),
  };
  return {
    data: [...roofs.traces, trace],
    layout: layout({ margin: scale.margin, scale, axes, dragmode: false, roofs }, paint),
  };
}

/** A step's label comes from the file; only digits reach Plotly, which reads markup in text. */
function stepNumber(label) {
  return String(label).replace(/[^\d]/g, "").slice(0, 12) || "?";
}
