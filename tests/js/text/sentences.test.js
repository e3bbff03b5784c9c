import assert from "node:assert/strict";
import { test } from "node:test";

import { inSentence, percent } from "../../../static/js/text/format.js";
import { plainText, say, withWholeLinks } from "../../../static/js/text/sentences.js";
import { GOLDEN } from "../builders.js";

/** @import { Segment } from "../../../static/js/types/page-data.js" */

test("numbers are written as the server writes them", () => {
  for (const [value, unit, text] of GOLDEN.numbers)
    assert.equal(inSentence(value, unit), text, `${value} ${unit}`);
  for (const [value, digits, text] of GOLDEN.percents)
    assert.equal(percent(value, digits), text, `${value} with ${digits} decimals`);
});

test("sentences are filled as the server fills them", () => {
  for (const { sentence, fillings, segments, text } of GOLDEN.examples) {
    const filled = say(GOLDEN.templates, sentence, fillings);
    assert.deepEqual(filled, segments, sentence);
    assert.equal(plainText(filled), text, sentence);
  }
});

test("a link of several segments is one link", () => {
  const filter = { bound: ["Compute"] };
  /** @type {Segment[]} */
  const segments = [
    { kind: "link", value: 2, unit: "count", filter },
    { kind: "link", text: " ops", filter },
    { kind: "plain", text: " run." },
  ];
  assert.deepEqual(withWholeLinks(segments), [
    { kind: "link", text: "2 ops", filter },
    { kind: "plain", text: " run." },
  ]);
});

test("a template that is not known says nothing", () => {
  assert.deepEqual(say(GOLDEN.templates, "above_something_new"), []);
});
