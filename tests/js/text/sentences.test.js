import assert from "node:assert/strict";
import { test } from "node:test";

import { inSentence, percent } from "../../../static/js/text/format.js";
import { plainText, say } from "../../../static/js/text/sentences.js";
import { GOLDEN } from "../builders.js";

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

test("a template that is not known says nothing", () => {
  assert.deepEqual(say(GOLDEN.templates, "above_something_new"), []);
});
