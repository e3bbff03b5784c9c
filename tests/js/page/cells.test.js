import assert from "node:assert/strict";
import { test } from "node:test";

import { entryOf, tableColumn } from "../../../static/js/page/cells.js";
import { createModel } from "../../../static/js/state/model.js";
import { column, pageWith, plain } from "../builders.js";

/** @import { Column } from "../../../static/js/types/page-data.js" */
/** @import { Row } from "../../../static/js/types/model.js" */

/** The part of an element that cells use; it counts what is written. */
class Cell {
  writes = 0;
  #class = "";
  title = "";
  /** @type {{ nodeValue: string } | null} */
  firstChild = null;
  /** @type {Cell | null} */
  firstElementChild = null;
  /** @type {Map<string, string>} */
  vars = new Map();
  style = {
    getPropertyValue: (/** @type {string} */ name) => this.vars.get(name) ?? "",
    setProperty: (/** @type {string} */ name, /** @type {string} */ value) => {
      this.writes += 1;
      this.vars.set(name, value);
    },
  };

  get className() {
    return this.#class;
  }

  set className(name) {
    this.writes += 1;
    this.#class = name;
  }

  /** @param {string} text */
  append(text) {
    this.writes += 1;
    this.firstChild = { nodeValue: text };
  }

  get text() {
    return plain(this.firstChild?.nodeValue ?? "");
  }
}

function opened() {
  const page = pageWith([
    ["fusion.1", "loop fusion", "HBM", "known", 0.4, 10, 20_000],
    ["late", "loop fusion", "Unknown", "idle", 0.2],
    ["over", "copy", "HBM", "known", 0.4, 10, 0],
  ]);
  page.ops.columns.roofline_efficiency_ratio = [0.5, null, 1.4];
  page.ops.columns.memory_utilisation_ratio = [0.5, null, 1.4];
  const model = createModel(page);
  return { model, view: model.view("in") };
}

/**
 * @param {Partial<Column> & { id: string }} wanted
 * @param {number} at row
 * @param {Partial<Row>} [change]
 */
function painted(wanted, at, change = {}) {
  const { model, view } = opened();
  const made = tableColumn(column(wanted.id, wanted), {
    read: view.reader(wanted.id),
    rows: view.rows,
    model,
    barToken: (row) => model.bounds[row.bound].token,
    shareToken: (row) => model.categories[row.category].token,
    costOf: (row) => row.cost,
    timingOf: (row) => row.timing,
    causeOf: () => "asynchronous",
    notShownOf: () => "Not a rate: the op was measured for 2 ns.",
    isLeast: () => false,
    head: wanted.id === "name",
    headText: (row) => row.short,
    headTitle: (row) => row.name,
    chips: false,
    chipsOf: (row) => row.chips,
    sourcePrefix: "/home/me/",
  });
  const cell = new Cell();
  const paint = () =>
    made.paint(/** @type {HTMLElement} */ (/** @type {unknown} */ (cell)), {
      ...view.rows[at],
      ...change,
    });
  paint();
  return { cell, made, paint };
}

test("one unit for all numbers of a column stands in its header", () => {
  const { cell, made } = painted({ id: "flop_rate_gflops", unit: "gflops", sub: "per core" }, 0);
  assert.deepEqual([made.sub, made.align, cell.text], ["TFLOP/s per core", "right", "20.0"]);
  const zero = painted({ id: "flop_rate_gflops", unit: "gflops" }, 2);
  assert.equal(zero.cell.className, "zero");
});

test("painting the same again writes nothing", () => {
  const { cell, paint } = painted({ id: "roofline_efficiency_ratio", unit: "ratio" }, 0);
  const before = cell.writes;
  paint();
  assert.equal(cell.writes, before);
});

test("a share of the roof is a bar of its bound's colour; above the roof it says so", () => {
  const { cell } = painted({ id: "roofline_efficiency_ratio", unit: "ratio" }, 0);
  assert.deepEqual(
    [cell.className, cell.vars.get("--v"), cell.vars.get("--swatch")],
    ["bar", "50", "var(--roof-hbm)"],
  );
  const over = painted({ id: "roofline_efficiency_ratio", unit: "ratio" }, 2).cell;
  assert.deepEqual([over.className, over.vars.get("--v")], ["bar over", "100"]);
  assert.match(over.title, /asynchronous transfer/);
});

test("a share of a peak above it says so in its own column", () => {
  const memory = { id: "memory_utilisation_ratio", unit: /** @type {const} */ ("ratio") };
  const { cell } = painted(memory, 2);
  assert.deepEqual([cell.text, cell.className], ["140 %", "over"]);
  assert.match(cell.title, /asynchronous transfer/);
  assert.deepEqual([painted(memory, 0).cell.className, painted(memory, 0).cell.title], ["", ""]);
});

test("a share of time is read against the largest", () => {
  const { cell } = painted({ id: "self_share_ratio", unit: "ratio" }, 1);
  assert.deepEqual(
    [cell.text, cell.vars.get("--v"), cell.vars.get("--swatch")],
    ["20.0 %", "50", "var(--c1)"],
  );
});

test("an idle op says idle where a bound would stand", () => {
  assert.equal(painted({ id: "bound_by", unit: "bound" }, 1).cell.text, "idle");
  const { cell } = painted({ id: "bound_by", unit: "bound" }, 0);
  assert.deepEqual([cell.text, cell.className], ["HBM", "left bound bound-slanted"]);
});

test("a prediction has no share of the roof", () => {
  const { cell } = painted({ id: "roofline_efficiency_ratio", unit: "ratio" }, 1, {
    timing: "predicted",
  });
  assert.equal(cell.text, "at best");
});

test("a category has its mark, and its whole name as title", () => {
  const { cell } = painted({ id: "category", unit: "category" }, 0);
  assert.deepEqual(
    [cell.text, cell.title, cell.className],
    ["loop fusion", "loop fusion", "left clip category mark-circle"],
  );
});

test("an index that means nothing has no entry", () => {
  assert.equal(entryOf(["a"], 0), "a");
  assert.equal(entryOf(["a"], 3), undefined);
  assert.equal(entryOf(["a"], null), undefined);
});

test("a cell that is empty because it would not be a rate says why", () => {
  const why = "Not a rate: the op was measured for 2 ns.";
  for (const id of ["roofline_efficiency_ratio", "memory_utilisation_ratio"]) {
    assert.equal(painted({ id, unit: "ratio" }, 1).cell.title, why);
    assert.equal(painted({ id, unit: "ratio" }, 0).cell.title, "");
  }
  assert.equal(painted({ id: "hbm_bandwidth_gibs", unit: "gibs" }, 0).cell.title, why);
});
