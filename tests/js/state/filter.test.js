import assert from "node:assert/strict";
import { test } from "node:test";

import {
  filterRows,
  nameMatcher,
  owns,
  shareOf,
  sortRows,
} from "../../../static/js/state/filter.js";
import { createModel } from "../../../static/js/state/model.js";
import { logPlace } from "../../../static/js/state/places.js";
import { DEFAULTS } from "../../../static/js/state/query.js";
import { pageWith, there } from "../builders.js";

/** @import { Row } from "../../../static/js/types/model.js" */
/** @import { ViewState } from "../../../static/js/types/view-state.js" */
/** @import { OpTuple } from "../builders.js" */

/** @type {OpTuple[]} */
const OPS = [
  ["IDLE", "IDLE", "Unknown", "idle", 0.4],
  ["fusion.1", "loop fusion", "HBM", "known", 0.3, 1, 100],
  ["Fusion.2", "loop fusion", "Compute", "known", 0.15, 500, 50_000],
  ["copy.1", "copy", "HBM", "no_flops", 0.1, 0, 0],
  ["<b>mystery</b>", "custom-call", "Unknown", "unknown", 0.05],
];
const model = createModel(pageWith(OPS));
const view = model.view("in");
const intensity = view.reader("bottleneck_intensity");
const rate = view.reader("flop_rate_gflops");
const context = {
  categories: model.categories,
  bounds: model.bounds,
  place: (/** @type {Row} */ row) => logPlace(intensity(row), rate(row)),
};
/** @param {Partial<ViewState>} state */
const names = (state) =>
  filterRows(view.rows, { ...DEFAULTS, ...state }, context).shown.map((row) => row.name);

test("no filter keeps everything", () => {
  assert.equal(names({}).length, OPS.length);
});

test("a part of the budget owns the ops whose time it is", () => {
  assert.ok(owns("below_roof.hbm", "work.hbm"));
  assert.ok(owns("at_roof.hbm", "work.hbm"));
  assert.ok(!owns("at_roof.compute", "work.hbm"));
  assert.ok(owns("below_roof", "work.compute"), "a kind of parts");
  assert.ok(!owns("below_roof", "unknown"));
  assert.ok(owns("exposed.ici", "exposed.ici"));
  assert.ok(!owns("exposed.ici", "exposed.dcn"));
  assert.ok(owns("idle", "idle") && owns("launch_gaps", "idle"));
  assert.ok(!owns("idle", null), "a profile without a budget");
});

test("a chosen part leaves its ops", () => {
  const owners = ["idle", "work.hbm", "work.compute", "work.hbm", "unknown"];
  const rows = view.rows.map((row, i) => ({ ...row, part: owners[i] }));
  const { shown } = filterRows(rows, { ...DEFAULTS, part: "below_roof.hbm" }, context);
  assert.deepEqual(
    shown.map((row) => row.name),
    ["fusion.1", "copy.1"],
  );
});

test("a name is found in any case, a regular expression between slashes", () => {
  assert.deepEqual(names({ q: "fusion" }), ["fusion.1", "Fusion.2"]);
  assert.deepEqual(names({ q: "/^fusion\\.1$/" }), ["fusion.1"]);
  assert.deepEqual(names({ q: "/^copy" }), ["copy.1"]);
  assert.deepEqual(names({ q: "<b>" }), ["<b>mystery</b>"]);
});

test("a broken pattern is reported and hides nothing", () => {
  const result = filterRows(view.rows, { ...DEFAULTS, q: "/(/" }, context);
  assert.equal(result.shown.length, OPS.length);
  assert.match(there(result.error), /group/i);
  assert.equal(nameMatcher("/").error, null);
});

test("categories and bounds are each any-of, and combine", () => {
  assert.deepEqual(names({ cat: ["loop fusion", "copy"] }), ["fusion.1", "Fusion.2", "copy.1"]);
  assert.deepEqual(names({ cat: ["loop fusion", "copy"], bound: ["HBM"] }), ["fusion.1", "copy.1"]);
  assert.deepEqual(names({ cat: ["no such category"] }), []);
});

test("the least share is in percent of the time", () => {
  assert.deepEqual(names({ min: 10 }), ["IDLE", "fusion.1", "Fusion.2", "copy.1"]);
});

test("covering a part of the time keeps the longest ops and leaves idle time out", () => {
  assert.deepEqual(names({ cover: 50 }), ["fusion.1"]);
  assert.deepEqual(names({ cover: 70 }), ["fusion.1", "Fusion.2"]);
  assert.equal(names({ cover: 100 }).length, OPS.length);
});

test("a rectangle keeps what has a place inside it", () => {
  assert.deepEqual(names({ box: [-1, 1, 1, 3] }), ["fusion.1"]);
});

test("filters only remove, whatever their order", () => {
  const states = [
    { q: "fusion" },
    { min: 1 },
    { bound: ["HBM"] },
    { cover: 80 },
    { cat: ["copy", "loop fusion"] },
  ];
  /** @type {Partial<ViewState>} */
  let combined = {};
  let left = names({});
  for (const state of states) {
    combined = { ...combined, ...state };
    const next = names(combined);
    assert.ok(next.every((name) => left.includes(name)));
    left = next;
  }
});

test("missing values sort last in both directions, numbers in names by value", () => {
  assert.deepEqual(
    sortRows(view.rows, rate, true).map((row) => rate(row)),
    [50_000, 100, 0, null, null],
  );
  assert.deepEqual(
    sortRows(view.rows, rate, false).map((row) => rate(row)),
    [0, 100, 50_000, null, null],
  );
  const rows = createModel(
    pageWith([
      ["f.10", "c", "HBM", "known", 0.5],
      ["f.9", "c", "HBM", "known", 0.5],
    ]),
  ).view("in").rows;
  assert.deepEqual(
    sortRows(rows, (row) => row.name, false).map((row) => row.name),
    ["f.9", "f.10"],
  );
});

test("shares add up", () => {
  assert.ok(Math.abs(shareOf(view.rows) - 1) < 1e-12);
});

test("a thousand rows are filtered within a few milliseconds", () => {
  /** @type {OpTuple[]} */
  const ops = Array.from({ length: 1000 }, (_, i) => [
    `fusion.${i}`,
    `c${i % 20}`,
    "HBM",
    "known",
    0.001,
    1,
    1,
  ]);
  const many = createModel(pageWith(ops));
  const rows = many.view("in").rows;
  const start = performance.now();
  for (let i = 0; i < 20; i += 1)
    filterRows(
      rows,
      { ...DEFAULTS, q: `${i}`, cat: ["c1", "c2"], cover: 90 },
      { ...context, categories: many.categories },
    );
  assert.ok((performance.now() - start) / 20 < 10);
});
