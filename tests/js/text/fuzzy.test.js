import assert from "node:assert/strict";
import { test } from "node:test";

import { best, fit } from "../../../static/js/text/fuzzy.js";

/** @param {...string} names */
const entries = (...names) => names.map((name) => ({ name, lower: name.toLowerCase() }));
/** @param {{ name: string }[]} found */
const names = (found) => found.map(({ name }) => name);

test("letters fit in their order, with gaps", () => {
  assert.notEqual(fit("copy link", ["cplk"]), null);
  assert.equal(fit("copy link", ["klc"]), null);
  assert.equal(fit("copy link", ["copy", "z"]), null);
});

test("words fit in any order", () => {
  assert.notEqual(fit("group by layer and module", ["layer", "group"]), null);
});

test("the whole word comes before scattered letters, the start of a word before its middle", () => {
  const list = entries("f-u-s-i-o-n", "confusion", "loop fusion");
  assert.deepEqual(names(best(list, "fusion", 9)), ["loop fusion", "confusion", "f-u-s-i-o-n"]);
});

test("of names that fit alike the first stays first, whole names before longer ones", () => {
  const list = entries("fusion.42", "fusion.75", "fusion.7");
  assert.deepEqual(names(best(list, "fus", 9)), ["fusion.42", "fusion.75", "fusion.7"]);
  assert.deepEqual(names(best(list, "fusion.7", 1)), ["fusion.7"]);
});

test("nothing typed leaves the order, and both end at the most", () => {
  const list = entries("b", "a", "c");
  assert.deepEqual(names(best(list, "  ", 2)), ["b", "a"]);
  assert.equal(best(entries("aa", "ab", "ac"), "A", 2).length, 2);
});
