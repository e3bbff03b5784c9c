import assert from "node:assert/strict";
import { test } from "node:test";

import { createLight } from "../../../static/js/page/light.js";
import { createModel } from "../../../static/js/state/model.js";
import { pageWith, programPoint } from "../builders.js";

const EVENT = /** @type {PointerEvent} */ ({ clientX: 1, clientY: 2 });

function lightIn() {
  const page = pageWith([["a", "c", "HBM", "known", 1]]);
  page.views.in.program = [programPoint()];
  const view = createModel(page).view("in");
  /** @type {string[]} */
  const log = [];
  /** @param {string} what */
  const says = (what) => () => void log.push(what);
  const light = createLight({
    view: () => view,
    card: {
      hide: says("hidden"),
      showOp: says("op"),
      showProgram: says("program"),
      showRidge: says("ridge"),
      showBlock: says("block"),
      showHelp: says("help"),
    },
    lit: () => ({
      charts: null,
      parts: {
        opTable: { grid: { light: (key) => void log.push(`table ${key}`) } },
        programTable: { light: says("program table") },
        programList: { light: (_, into) => void log.push(into ? "list scrolls" : "list") },
      },
    }),
  });
  return { light, log, row: view.rows[0] };
}

test("an op under the pointer is lit in the table and described by the card", () => {
  const { light, log, row } = lightIn();
  light.row(row, EVENT);
  assert.deepEqual(log, ["table 0", "op"]);
});

test("a row of the table is lit without a card", () => {
  const { light, log, row } = lightIn();
  light.row(row, null);
  light.row(null, null);
  assert.deepEqual(log, ["table 0", "hidden", "table null", "hidden"]);
});

test("a program point of the chart comes into sight in the list; one of the list stays", () => {
  const { light, log } = lightIn();
  light.point(programPoint(), EVENT);
  light.point(programPoint(), null);
  assert.deepEqual(
    log,
    ["program table", "list scrolls", "program"].concat(["program table", "list", "hidden"]),
  );
});

test("a ridge and the program's star have cards of their own", () => {
  const at = { row: null, x: 1, y: 1 };
  for (const [place, said] of /** @type {const} */ ([
    [{ ...at, role: "ridges" }, ["ridge"]],
    [{ ...at, role: "program" }, ["program"]],
    [null, []],
  ])) {
    const { light, log } = lightIn();
    light.place(place, EVENT);
    assert.deepEqual(log, ["table null", "hidden", ...said]);
  }
});

test("a column's help is shown while its header is pointed at", () => {
  const { light, log } = lightIn();
  const anchor = /** @type {HTMLElement} */ ({});
  light.help({ label: "Rank", sub: "", help: "By self time." }, anchor);
  light.help(null, anchor);
  assert.deepEqual(log, ["help", "hidden"]);
});
