import assert from "node:assert/strict";
import { test } from "node:test";

import { parseRun, runQuery } from "../../../static/js/state/run-query.js";

test("a view survives its address, and the first view has none", () => {
  assert.equal(runQuery(parseRun("")), "");
  const search = "host=rank+3+%26+co&metric=wait&tab=hosts&sort=-work&q=a&page=2";
  assert.equal(runQuery(parseRun(`?${search}`)), search);
});

test("an address cannot name other metrics, tabs or pages", () => {
  const state = parseRun("?metric=__proto__&tab=constructor&page=-3");
  assert.deepEqual([state.metric, state.tab, state.page], ["ratio", "ops", 1]);
});
