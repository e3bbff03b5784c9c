import assert from "node:assert/strict";
import { test } from "node:test";

import {
  otherRuns,
  parseCompare,
  SORT,
  withCompare,
  withOtherRun,
} from "../../../static/js/state/compare-query.js";

test("what was chosen survives the address", () => {
  const query = "tab=groups&sort=-a&q=a%26b&term=traffic&category=loop+fusion&arrows=all&page=3";
  const state = parseCompare(query);
  assert.deepEqual(state, {
    tab: "groups",
    sort: "-a",
    q: "a&b",
    term: "traffic",
    category: "loop fusion",
    arrows: "all",
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

test("other runs are added once and removed", () => {
  assert.equal(withOtherRun("unit=step&vs=x", "y", true), "unit=step&vs=x&vs=y");
  assert.equal(withOtherRun("vs=x&vs=y", "x", false), "vs=y");
  assert.deepEqual(otherRuns("vs=x&vs=y&vs=x"), ["x", "y"]);
});
