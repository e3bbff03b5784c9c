// A figure of ours as shapes of SVG, in pixels of its plot: the page draws them itself, since Plotly takes 50 ms for them;
// for pictures Plotly draws the same figure. Pure.

import { outline, rounded } from "./outlines.js";

/** @import { Annotation, Figure, LogAxis, Shape as FigureShape, Trace } from "../types/plotly.js" */
/** @import { Scale } from "./axes.js" */

/**
 * @typedef {object} SvgShape
 * @property {"g" | "path" | "rect" | "text" | "tspan"} tag
 * @property {Record<string, string | number>} attributes
 * @property {(SvgShape | string)[]} [children] shapes in it, or its text
 *
 * @typedef {object} FigureShapes
 * @property {SvgShape[]} regions behind the grid
 * @property {SvgShape[]} ground lines and marks over the grid
 * @property {SvgShape[]} labels texts over the marks
 *
 * @typedef {{ grid: SvgShape[], ticks: SvgShape[] }} AxisShapes
 *
 * @typedef {{ x: (value: number) => number, y: (value: number) => number }} Pixels from log10 to pixels of the plot
 */

const LETTER = 0.56; // of the font's size: width of a letter
const LINE = 1.3; // of the font's size: from one line of text to the next
const ASCENT = 0.93;
const DESCENT = 0.27;
const MIDDLE = 0.33; // from the middle of the letters down to their baseline
const BORDER = 1; // pixels that Plotly keeps around a text, beside its padding
const TICK = { down: 12.5, left: -1, middle: 4 }; // pixels from the axis to the baseline of its numbers
const TITLE = 23; // pixels from the axis to the baseline of its title, beside its standoff

/** @param {Scale} scale @returns {Pixels} */
const pixelsOf = ({ toX, toY, margin }) => ({
  x: (value) => rounded(toX(value) - margin.l),
  y: (value) => rounded(toY(value) - margin.t),
});

/**
 * @param {Figure} figure
 * @param {Scale} scale
 * @returns {FigureShapes}
 */
export function figureShapes({ data, layout: { shapes, annotations } }, scale) {
  const pixels = pixelsOf(scale);
  const [below, above] = [true, false].map((isBelow) =>
    shapes
      .filter(({ layer }) => (layer === "below") === isBelow)
      .map((shape) => plainShape(shape, pixels, scale)),
  );
  return {
    regions: below,
    ground: [...data.map((trace) => traceShape(trace, pixels)), ...above],
    labels: annotations.flatMap((one) => labelShapes(one, pixels, scale)),
  };
}

/**
 * Grid lines, and the numbers and titles beside the axes.
 * @param {{ xaxis: LogAxis, yaxis: LogAxis }} axes
 * @param {Scale} scale
 * @returns {AxisShapes}
 */
export function axisShapes({ xaxis, yaxis }, scale) {
  const pixels = pixelsOf(scale);
  const { plotWidth: width, plotHeight: height } = scale;
  const xs = xaxis.tickvals.map((value) => pixels.x(Math.log10(value)));
  const ys = yaxis.tickvals.map((value) => pixels.y(Math.log10(value)));
  const { title } = xaxis;
  return {
    grid: [
      ...xs.map((x) => line(`M${x},0V${height}`, { color: xaxis.gridcolor })),
      ...ys.map((y) => line(`M0,${y}H${width}`, { color: yaxis.gridcolor })),
    ],
    ticks: [
      group(
        "xtick",
        xs.map((x, i) => text(xaxis.ticktext[i], x, height + TICK.down, "middle", xaxis.tickfont)),
      ),
      group(
        "ytick",
        ys.map((y, i) =>
          text(yaxis.ticktext[i], TICK.left, y + TICK.middle, "end", yaxis.tickfont),
        ),
      ),
      group(
        "xtitle",
        title
          ? [text(title.text, width / 2, height + TITLE + title.standoff, "middle", title.font)]
          : [],
      ),
    ],
  };
}

/** @param {string} name @param {SvgShape[]} children @returns {SvgShape} */
const group = (name, children) => ({ tag: "g", attributes: { class: name }, children });

/**
 * @param {string} words
 * @param {number} x
 * @param {number} y baseline
 * @param {"start" | "middle" | "end"} anchor
 * @param {{ size: number, color: string }} font
 * @returns {SvgShape}
 */
const text = (words, x, y, anchor, { size, color }) => ({
  tag: "text",
  attributes: {
    x: rounded(x),
    y: rounded(y),
    "text-anchor": anchor,
    "font-size": size,
    fill: color,
  },
  children: [words],
});

/**
 * @param {string} d
 * @param {{ color: string, width?: number, dash?: string }} looks
 * @returns {SvgShape}
 */
function line(d, { color, width = 1, dash = "solid" }) {
  const attributes = { class: "line", d, fill: "none", stroke: color, "stroke-width": width };
  const lengths = dashLengths(dash, width);
  return {
    tag: "path",
    attributes: lengths ? { ...attributes, "stroke-dasharray": lengths } : attributes,
  };
}

const DASH_UNIT = 3; // pixels; wider lines have longer dashes
/** @type {Record<string, number[] | undefined>} */
const DASHES = {
  solid: [],
  dot: [1, 1],
  dash: [3, 3],
  dashdot: [3, 1, 1, 1],
  longdash: [5, 5],
  longdashdot: [5, 1, 1, 1],
};

/** Lengths of a dash by its name; other words are the lengths themselves. @param {string} dash @param {number} width */
function dashLengths(dash, width) {
  const unit = Math.max(width, DASH_UNIT);
  return DASHES[dash]?.map((part) => part * unit).join(",") ?? dash;
}

/** @param {Trace} trace @param {Pixels} pixels @returns {SvgShape} */
function traceShape(trace, pixels) {
  const places = placesOf(trace, pixels);
  const children = trace.mode === "lines" ? lineShapes(trace, places) : markShapes(trace, places);
  return { tag: "g", attributes: { class: "trace", "data-trace": trace.name }, children };
}

/** @typedef {[x: number, y: number] | null} PixelPlace null: the line breaks */

/** @param {Trace} trace @param {Pixels} pixels @returns {PixelPlace[]} */
const placesOf = ({ x: xs, y: ys }, { x: toX, y: toY }) =>
  xs.map((x, i) => {
    const y = ys[i];
    return x === null || y === null ? null : [toX(Math.log10(x)), toY(Math.log10(y))];
  });

/** @param {Trace} trace @param {PixelPlace[]} places */
function lineShapes({ line: looks = {} }, places) {
  const d = places.map((at, i) => (at ? `${places[i - 1] ? "L" : "M"}${at.join()}` : "")).join("");
  const { color, width, dash } = looks;
  return [line(d, { color: String(color), width: Number(width ?? 1), dash })];
}

/** The value of a mark: one for all, or one of each. @template T @param {T | T[]} values @param {number} i @returns {T} */
const each = (values, i) => (Array.isArray(values) ? values[i] : values);

/** @param {Trace} trace @param {PixelPlace[]} places */
const markShapes = ({ marker }, places) =>
  places.flatMap((at, i) => {
    if (!at || !marker) return [];
    const symbol = each(marker.symbol, i);
    const isOpen = symbol.endsWith("-open");
    const color = each(marker.color, i);
    const { line: edge = {} } = marker;
    /** @type {SvgShape} */
    const mark = {
      tag: "path",
      attributes: {
        class: "mark",
        transform: `translate(${at.join()})`,
        d: outline(symbol.replace("-open", ""), each(marker.size, i) / 2),
        fill: isOpen ? "none" : color,
        stroke: isOpen ? color : each(edge.color ?? color, i),
        "stroke-width": each(edge.width ?? 1, i),
        opacity: each(marker.opacity ?? 1, i),
      },
    };
    return [mark];
  });

/** @param {FigureShape} shape @param {Pixels} pixels @param {Scale} scale @returns {SvgShape} */
function plainShape({ type, x0, x1, y0, y1, yref, fillcolor, line: looks }, pixels, scale) {
  const [left, right] = [x0, x1].map((x) => pixels.x(Math.log10(x)));
  const onPaper = (/** @type {number} */ y) => (1 - y) * scale.plotHeight;
  const [from, to] = [y0, y1].map((y) => (yref === "paper" ? onPaper(y) : pixels.y(Math.log10(y))));
  if (type === "line") {
    const { color, width, dash } = looks;
    return line(`M${left},${from}L${right},${to}`, {
      color: String(color),
      width: Number(width ?? 1),
      dash,
    });
  }
  const [top, bottom] = [Math.min(from, to), Math.max(from, to)];
  return {
    tag: "rect",
    attributes: {
      x: left,
      y: top,
      width: rounded(right - left),
      height: bottom - top,
      fill: fillcolor ?? "none",
    },
  };
}

const ANCHORS = /** @type {const} */ ({ left: "start", center: "middle", right: "end" });
const BESIDE = { start: 1, middle: 0, end: -1 };

/** @param {Annotation} one @param {Pixels} pixels @param {Scale} scale @returns {SvgShape[]} */
function labelShapes(one, pixels, { plotWidth, plotHeight }) {
  const { font, xanchor = "center", yanchor = "middle", borderpad = 1 } = one;
  const anchor = ANCHORS[xanchor];
  const pad = borderpad + BORDER;
  const lines = one.text.split("<br>");
  const x = (one.xref === "paper" ? one.x * plotWidth : pixels.x(one.x)) + (one.xshift ?? 0);
  const y = (one.yref === "paper" ? (1 - one.y) * plotHeight : pixels.y(one.y)) - (one.yshift ?? 0);
  const down = baseline(yanchor, pad, font.size, lines.length);
  const at = { x: rounded(x + BESIDE[anchor] * pad), y: rounded(y + down) };
  const words = text(lines[0], at.x, at.y, anchor, font);
  if (lines.length > 1)
    words.children = lines.map((part, i) => ({
      tag: "tspan",
      attributes: { x: at.x, dy: i === 0 ? 0 : LINE * font.size },
      children: [part],
    }));
  if (one.textangle) words.attributes.transform = `rotate(${one.textangle},${x},${y})`;
  return one.bgcolor ? [plate(one.bgcolor, at, lines[0], anchor, font.size), words] : [words];
}

/**
 * Pixels from the place of a label down to the baseline of its first line.
 * @param {"top" | "middle" | "bottom"} side of the label that is at its place
 * @param {number} pad
 * @param {number} size of the font
 * @param {number} lines
 */
function baseline(side, pad, size, lines) {
  const others = LINE * size * (lines - 1);
  if (side === "top") return pad + ASCENT * size;
  return side === "middle" ? MIDDLE * size - others / 2 : -pad - DESCENT * size - others;
}

/**
 * A ground that covers lines behind a text.
 * @param {string} color
 * @param {{ x: number, y: number }} at
 * @param {string} words
 * @param {"start" | "middle" | "end"} anchor
 * @param {number} size of the font
 * @returns {SvgShape}
 */
function plate(color, { x, y }, words, anchor, size) {
  const width = words.length * size * LETTER;
  const before = { start: 0, middle: 0.5, end: 1 }[anchor] * width;
  const height = 1.25 * size;
  return {
    tag: "rect",
    attributes: {
      x: rounded(x - before),
      y: rounded(y - 0.8 * height),
      width: rounded(width),
      height: rounded(height),
      fill: color,
    },
  };
}
