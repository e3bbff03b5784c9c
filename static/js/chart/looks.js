// Shared looks of our Plotly figures: configuration, fonts, axes, frame. Pure.

/** @import { Figure, Font, Layout, LogAxis, Shape, Annotation } from "../types/plotly.js" */
/** @import { Range, Scale } from "./axes.js" */

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

/**
 * @typedef {object} Paint what a figure needs to know about its looks
 * @property {(token: string) => string} colour
 * @property {string} family font
 */

/** Values of a log axis from their logarithms. @param {readonly number[]} values log10 */
export const power = (values) => values.map((value) => 10 ** value);

/**
 * Plotly reads markup in text; labels from the page data lose what could start any.
 * @param {string} text
 */
export const words = (text) => text.replace(/[<>&]/g, "");

/** @param {Paint} paint @param {number} size @param {string} token @returns {Font} */
export function font(paint, size, token) {
  return { family: paint.family, size, color: paint.colour(token) };
}

/**
 * @param {Paint} paint
 * @param {Range} range
 * @param {{ values: number[], labels: string[] }} ticks
 * @param {Partial<LogAxis>} [extra]
 * @returns {LogAxis}
 */
export function logAxis(paint, range, ticks, extra = {}) {
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
    ticklabeloverflow: "allow", // else each label is measured again, and ours have room
    tickfont: font(paint, 11.5, "--axis"),
    ...extra,
  };
}

/**
 * An empty plot, which is there to be dragged: the page draws what is seen. Plotly moves no plot without a trace.
 * @param {Scale} scale
 * @param {Layout["dragmode"]} dragmode
 * @returns {Figure}
 */
export function dragFigure(scale, dragmode) {
  /** @type {Paint} */
  const paint = { colour: () => "rgba(0,0,0,0)", family: "sans-serif" };
  /** @param {Range} range */
  const axis = (range) =>
    logAxis(paint, range, { values: [], labels: [] }, { showgrid: false, showticklabels: false });
  const axes = { xaxis: axis(scale.xRange), yaxis: axis(scale.yRange) };
  return {
    data: [{ name: "", x: [null], y: [null], mode: "lines", hoverinfo: "skip" }],
    layout: layout({ scale, axes, dragmode, shapes: [], annotations: [] }, paint),
  };
}

/**
 * @param {object} parts
 * @param {Scale} parts.scale
 * @param {{ xaxis: LogAxis, yaxis: LogAxis }} parts.axes
 * @param {Layout["dragmode"]} parts.dragmode
 * @param {Shape[]} parts.shapes
 * @param {Annotation[]} parts.annotations
 * @param {Paint} paint
 * @returns {Layout}
 */
export function layout({ scale, axes, dragmode, shapes, annotations }, paint) {
  return {
    margin: scale.margin,
    showlegend: false,
    hovermode: false,
    dragmode,
    width: scale.width,
    height: scale.height,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: font(paint, 11.5, "--axis"),
    shapes,
    annotations,
    uirevision: "keep",
    ...axes,
  };
}
