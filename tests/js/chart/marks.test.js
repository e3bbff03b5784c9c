import assert from "node:assert/strict";
import { test } from "node:test";

import { areaOf, Marks } from "../../../static/js/chart/marks.js";
import { emptyFigure } from "../builders.js";

/** An element as far as marks know one. @param {number} x @param {number} [size] */
function element(x, size = 10) {
  /** @type {Set<string>} */
  const classes = new Set();
  const frame = { x: x - size / 2, y: 50 - size / 2, width: size, height: size };
  let text = "point";
  return {
    classes,
    getAttribute: () => text,
    /** @param {string} _ @param {string} value */
    setAttribute(_, value) {
      text = value;
    },
    /** @type {{ toggle: (name: string, isOn: boolean) => void }} */
    classList: { toggle: (name, isOn) => (isOn ? classes.add(name) : classes.delete(name)) },
    getBoundingClientRect: () => frame,
    get text() {
      return text;
    },
  };
}

function chart() {
  const points = [element(20), element(500), element(60, 0)];
  const names = [element(20), element(60)];
  const found = /** @type {Record<string, object[]>} */ ({
    ".tracemarks-0 > .points > .point": points,
    ".tracelabels-wide > .text > .textpoint": names,
  });
  const frame = { x: 0, y: 0, width: 100, height: 100 };
  const box = /** @type {HTMLElement} */ (
    /** @type {unknown} */ ({
      getBoundingClientRect: () => frame,
      querySelector: () => ({ getBoundingClientRect: () => frame }),
      /** @param {string} query */
      querySelectorAll: (query) => found[query] ?? [],
    })
  );
  const trace = { name: "", mode: /** @type {const} */ ("markers"), x: [], y: [] };
  const marks = new Marks(box);
  marks.read({
    ...emptyFigure("op"),
    data: [
      { ...trace, uid: "marks-0", meta: { role: "marks" }, customdata: [7, 3, 5] },
      { ...trace, uid: "labels-wide", meta: { role: "labels" }, customdata: [null, 3] },
      { ...trace, meta: { role: "roof" } },
    ],
  });
  return { box, marks, points, names };
}

test("classes follow the rows of the marks, and names go with them", () => {
  const { marks, points, names } = chart();
  marks.apply(
    (row) => (row === 3 ? "ghost" : ""),
    (row) => row !== 3,
  );
  assert.deepEqual(
    points.map(({ text }) => text),
    ["point", "point ghost", "point"],
  );
  assert.deepEqual(
    names.map(({ classes }) => [...classes]),
    [[], ["gone"]],
  );
});

test("a mark has a place where it is in sight", () => {
  const { box, marks } = chart();
  assert.deepEqual(marks.placeOf(7), { px: 20, py: 50, radius: 5 });
  for (const row of [3, 5, 8, null]) assert.equal(marks.placeOf(row), null);
  assert.deepEqual(areaOf(box), { x: 0, y: 0, width: 100, height: 100 });
});
