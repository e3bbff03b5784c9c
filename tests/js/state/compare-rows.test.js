import assert from "node:assert/strict";
import { test } from "node:test";

import {
  filterOf,
  leastChange,
  mostOfChange,
  openedTab,
  rowsOf,
  shownRows,
} from "../../../static/js/state/compare-rows.js";
import { parseCompare } from "../../../static/js/state/compare-query.js";
import { changeRow, comparison, pair } from "../comparisons.js";

const START = parseCompare("");

test("pairs are apart by whether they changed, ops of one run by which", () => {
  const rows = rowsOf(comparison());
  assert.deepEqual(
    rows.changed.map(({ name }) => name),
    ["mul", "add"],
  );
  assert.deepEqual(
    rows.same.map(({ name }) => name),
    ["same"],
  );
  assert.deepEqual([rows.groups.length, rows["only-a"].length, rows["only-b"].length], [1, 0, 1]);
  assert.equal(rows["only-b"][0].changeUs, 10);
  assert.deepEqual(rows["only-b"][0].terms, { new: 10 });
});

test("runs without a pair open the first tab that has rows", () => {
  const { groups, only_b } = comparison();
  const open = (/** @type {object} */ given) => openedTab(rowsOf(comparison(given)), "changed");
  assert.equal(open({}), "changed");
  assert.equal(open({ ops: [pair("same", 1, 1)] }), "changed");
  assert.equal(open({ ops: [], groups: [], only_b }), "only-b");
  assert.equal(open({ ops: [], groups }), "groups");
  assert.equal(open({ ops: [], groups: [], only_b: [] }), "changed");
  assert.equal(openedTab(rowsOf(comparison({ ops: [] })), "same"), "same");
});

test("a change of a hundredth of a per cent of the longer side is none", () => {
  assert.equal(leastChange(comparison()), 0.1);
});

test("names of both sides are said, and twins are counted", () => {
  const ops = [
    pair("gelu", 1, 2, { b: "silu", b_names: ["silu"] }),
    pair("twin", 1, 2, { a_names: ["twin", "twin.1"], b_names: ["twin.7"] }),
  ];
  const { changed } = rowsOf(comparison({ ops }));
  assert.deepEqual(
    changed.map(({ name }) => name),
    ["gelu → silu", "twin and twins, 2 → 1"],
  );
});

test("a group has the work of all its ops, or none where one is not known", () => {
  const [group] = rowsOf(comparison()).groups;
  assert.equal(group.a?.timeUs, 20);
  assert.equal(group.a?.flop, null);
  assert.equal(group.a?.bytes, 400);
  assert.equal(group.b?.flop, 2000);
});

test("filters hold names of both sides, terms and categories", () => {
  const row = changeRow("p0", {
    searched: "fusion.1\njit(f)/norm",
    terms: { traffic: 2, work: 0 },
  });
  assert.ok(filterOf({ ...START, q: "NORM fusion" })(row));
  assert.ok(!filterOf({ ...START, q: "conv" })(row));
  assert.ok(filterOf({ ...START, term: "traffic" })(row));
  assert.ok(!filterOf({ ...START, term: "work" })(row));
  assert.ok(!filterOf({ ...START, term: "new" })(row), "a pair is in both runs");
  assert.ok(filterOf({ ...START, term: "new" })(changeRow("b0", { terms: { new: 3 } })));
  assert.ok(!filterOf({ ...START, category: "matmul" })(row));
});

test("rows are sorted by numbers and by words, unknown ones last when descending", () => {
  const rows = [1, NaN, 3].map((at, i) => changeRow(`p${i}`, { changeUs: at }));
  const value = (/** @type {typeof rows[0]} */ row) => row.changeUs;
  const order = (/** @type {string} */ sort) =>
    shownRows(rows, { ...START, sort }, value).map(({ key }) => key);
  assert.deepEqual(order("-change"), ["p2", "p0", "p1"]);
  assert.deepEqual(order("change"), ["p1", "p0", "p2"]);
});

test("arrows are for the pairs that make 90 % of all change", () => {
  const rows = [-60, 25, 10, 4, 1, 0].map((changeUs, i) => changeRow(`p${i}`, { changeUs }));
  assert.deepEqual([...mostOfChange(rows)], ["p0", "p1", "p2"]);
  assert.equal(mostOfChange([changeRow("p0")]).size, 0);
});
