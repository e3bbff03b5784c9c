import assert from "node:assert/strict";
import { test } from "node:test";

import { openedTab, rowsOf, shownRows } from "../../../static/js/state/compare-rows.js";
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
  const ops = [pair("at", 0, 0.1), pair("above", 0, 0.11)];
  const rows = rowsOf(comparison({ ops }));
  assert.deepEqual([rows.same[0].name, rows.changed[0].name], ["at", "above"]);
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

test("a search looks through names of both sides and paths", () => {
  const row = changeRow("p0", { searched: "fusion.1\njit(f)/norm" });
  const count = (/** @type {string} */ q) => shownRows([row], { ...START, q }, () => 0).length;
  assert.deepEqual([count("NORM fusion"), count("conv")], [1, 0]);
});

test("rows are sorted by numbers and by words, unknown ones last when descending", () => {
  const rows = [1, NaN, 3].map((at, i) => changeRow(`p${i}`, { changeUs: at }));
  const value = (/** @type {typeof rows[0]} */ row) => row.changeUs;
  const order = (/** @type {string} */ sort) =>
    shownRows(rows, { ...START, sort }, value).map(({ key }) => key);
  assert.deepEqual(order("-change"), ["p2", "p0", "p1"]);
  assert.deepEqual(order("change"), ["p1", "p0", "p2"]);
});
