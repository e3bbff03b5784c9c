import assert from "node:assert/strict";
import { test } from "node:test";

import { createScale } from "../../../static/js/chart/axes.js";
import { axisShapes, figureShapes } from "../../../static/js/chart/figure-shapes.js";
import { layout, logAxis } from "../../../static/js/chart/looks.js";
import { PAINT, there } from "../builders.js";

/** @import { Annotation, Shape, Trace } from "../../../static/js/types/plotly.js" */

const SCALE = createScale(
  [
    [0, 4],
    [1, 3],
  ],
  { width: 500, height: 250, margin: { l: 80, r: 20, t: 10, b: 40 } },
);
const FONT = { family: "sans", size: 12, color: "red" };
const AXES = {
  xaxis: logAxis(PAINT, [0, 4], { values: [10, 1000], labels: ["10", "1k"] }),
  yaxis: logAxis(PAINT, [1, 3], { values: [100], labels: ["100"] }),
};
/** @param {{ data?: Trace[], shapes?: Shape[], annotations?: Annotation[] }} parts */
const drawn = ({ data = [], shapes = [], annotations = [] }) =>
  figureShapes(
    {
      data,
      layout: layout({ scale: SCALE, axes: AXES, dragmode: false, shapes, annotations }, PAINT),
    },
    SCALE,
  );
/** @type {Trace} */
const LINE = {
  name: "a <roof>",
  x: [1, 100, null, 10, 1000],
  y: [10, 1000, null, 10, 10],
  mode: "lines",
  hoverinfo: "skip",
  line: { color: "blue", width: 2, dash: "dash" },
};

test("a line is a path in pixels of the plot, broken where a value is missing", () => {
  const [trace] = drawn({ data: [LINE] }).ground;
  const [path] = there(trace.children);
  assert.equal(trace.attributes["data-trace"], "a <roof>");
  assert.ok(typeof path !== "string");
  assert.equal(path.attributes.d, "M0,200L200,0M100,200L300,200");
  assert.equal(path.attributes["stroke-dasharray"], "9,9");
  assert.equal(path.attributes["stroke-width"], 2);
});

test("marks have the size, colour and edge of each point; open ones are not filled", () => {
  const [trace] = drawn({
    data: [
      {
        ...LINE,
        x: [100, 100],
        y: [100, 100],
        mode: "markers",
        marker: {
          symbol: ["circle", "star-open"],
          size: 8,
          color: ["red", "blue"],
          line: { width: 1.6 },
        },
      },
    ],
  }).ground;
  const marks = there(trace.children).map((mark) =>
    typeof mark === "string" ? {} : mark.attributes,
  );
  assert.equal(marks[0].transform, "translate(200,100)");
  assert.equal(marks[0].d, "M4,0A4,4 0 1 1 0,-4A4,4 0 0 1 4,0Z");
  assert.deepEqual(
    marks.map(({ fill, stroke }) => [fill, stroke]),
    [
      ["red", "red"],
      ["none", "blue"],
    ],
  );
  assert.equal(marks[1]["stroke-width"], 1.6);
});

test("regions lie behind the grid, and other shapes over the lines", () => {
  const place = { x0: 1, x1: 100, line: { color: "grey" } };
  const { regions, ground } = drawn({
    data: [LINE],
    shapes: [
      { ...place, type: "rect", yref: "paper", y0: 0, y1: 1, fillcolor: "pink", layer: "below" },
      { ...place, type: "line", y0: 10, y1: 1000 },
    ],
  });
  const { x, y, width, height, fill } = regions[0].attributes;
  assert.deepEqual([x, y, width, height, fill], [0, 0, 200, 200, "pink"]);
  assert.equal(ground[1].attributes.d, "M0,200L200,0");
});

test("labels are moved, turned and anchored as Plotly does it in pictures", () => {
  const plain = { x: 2, y: 2, text: "<b>", showarrow: false, font: FONT };
  const [turned, beside, ground, above] = drawn({
    annotations: [
      { ...plain, textangle: -30, xshift: 5, yshift: 10 },
      { ...plain, text: "one<br>two", xanchor: "left", yanchor: "bottom", bgcolor: "white" },
    ],
  }).labels;
  assert.equal(turned.attributes.transform, "rotate(-30,205,90)");
  assert.equal(turned.attributes["text-anchor"], "middle");
  assert.ok(Math.abs(Number(turned.attributes.y) - 94) < 0.1, "the middle of its letters is there");
  assert.deepEqual(turned.children, ["<b>"], "text is text");
  assert.equal(beside.tag, "rect");
  assert.equal(ground.attributes.x, 202);
  assert.ok(Number(ground.attributes.y) < 85, "the last line is above the place");
  assert.equal(there(ground.children).length, 2);
  assert.equal(above, undefined);
});

test("axes have a line and a number at each tick, and a title in the middle", () => {
  const title = { text: "FLOP per byte", standoff: 6, font: FONT };
  const { grid, ticks } = axisShapes({ ...AXES, xaxis: { ...AXES.xaxis, title } }, SCALE);
  assert.deepEqual(
    grid.map(({ attributes }) => attributes.d),
    ["M100,0V200", "M300,0V200", "M0,100H400"],
  );
  const [across, up, name] = ticks.map(({ children }) => there(children));
  const words = (/** @type {typeof across} */ texts) =>
    texts.map((one) => typeof one !== "string" && there(one.children)[0]);
  assert.deepEqual(words(across), ["10", "1k"]);
  assert.deepEqual(words(up), ["100"]);
  assert.ok(typeof name[0] !== "string" && name[0].attributes.x === 200);
});
