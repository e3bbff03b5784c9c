import assert from "node:assert/strict";
import { test } from "node:test";

import {
  compareAddress,
  foldsOf,
  otherRuns,
  parseCompare,
  SORT,
  withCompare,
  withFold,
  withoutRun,
} from "../../../static/js/state/compare-query.js";

test("what was chosen survives the address", () => {
  const query = "tab=groups&sort=-a&q=a%26b&page=3";
  const state = parseCompare(query);
  assert.deepEqual(state, {
    tab: "groups",
    sort: "-a",
    q: "a&b",
    page: 3,
  });
  assert.deepEqual(parseCompare(withCompare("", state)), state);
});

test("an address without choices, or with bad ones, opens the usual view", () => {
  const usual = parseCompare("");
  assert.equal(usual.sort, SORT);
  assert.deepEqual(parseCompare("tab=nothing&page=-4&arrows=no"), usual);
  assert.equal(withCompare("", usual), "");
});

test("captures and unit stay in the address", () => {
  const query = withCompare("a=x&a=y&unit=step&tab=same", { ...parseCompare(""), q: "mul" });
  assert.equal(query, "a=x&a=y&unit=step&q=mul");
});

test("other runs are there once, and can be removed", () => {
  assert.equal(withoutRun("unit=step&vs=x&vs=y", "x"), "unit=step&vs=y");
  assert.deepEqual(otherRuns("vs=x&vs=y&vs=x"), ["x", "y"]);
});

test("open folds are in the address, and an older link to a tab opens the operations", () => {
  assert.equal(withFold("unit=step", "split", true), "unit=step&open=split");
  assert.equal(withFold("open=split", "split", false), "");
  assert.deepEqual(foldsOf("open=split%2Cfacts"), ["split", "facts"]);
  assert.deepEqual(foldsOf("tab=groups"), ["ops"]);
  assert.equal(withFold("tab=groups&q=mul", "ops", false), "");
});

const OLD = { id: "old", created: "2026-01-01T00:00:00Z" };
const NEW = { id: "new", created: "2026-02-01T00:00:00Z" };
const MIDDLE = { id: "mid", created: "2026-01-15T00:00:00Z" };

test("the older run is A, in whichever order they were chosen", () => {
  assert.equal(compareAddress([NEW, OLD]), "/c/old..new");
  assert.equal(compareAddress([OLD, NEW]), "/c/old..new");
});

test("runs between them are compared with A, too", () => {
  assert.equal(compareAddress([MIDDLE, NEW, OLD]), "/c/old..new?vs=mid");
});
