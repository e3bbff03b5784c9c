import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Problem,
  connectionProblem,
  problemDetails,
  problemFromAnswer,
  reportText,
} from "../../../static/js/text/problem.js";

test("an answer of the server keeps its words", () => {
  const body = JSON.stringify({
    message: "cut.pb ends at byte 12.",
    remedy: "Copy it again.",
    code: "corrupt-profile",
  });
  const problem = problemFromAnswer(422, body, "01ab");
  assert.equal(problem.message, "cut.pb ends at byte 12.");
  assert.equal(problem.remedy, "Copy it again.");
  assert.equal(problem.canRetry, false);
  assert.deepEqual(problemDetails(problem, { names: ["cut.pb"], size: 12 }), [
    ["File", "cut.pb"],
    ["Size", "12\u00a0B"],
    ["Reference", "corrupt-profile · 01ab"],
  ]);
});

test("answers of a proxy become a sentence with their status", () => {
  for (const body of ["<html>Bad Gateway</html>", "", "null", '"text"', "{}"]) {
    const problem = problemFromAnswer(502, body);
    assert.match(problem.message, /status 502/);
    assert.equal(problem.canRetry, true);
  }
  assert.match(problemFromAnswer(413, "<html>").remedy, /proxy/);
});

test("a lost connection can be retried", () => {
  assert.equal(connectionProblem().canRetry, true);
});

test("what was found comes first in the details", () => {
  const problem = new Problem("x", { found: { "Recognised as": "a text file" } });
  assert.deepEqual(problemDetails(problem, { names: [], size: 0 }), [
    ["Recognised as", "a text file"],
  ]);
});

test("a report holds everything needed to reproduce it", () => {
  /** @type {[string, string][]} */
  const details = [["Reference", "code · id"]];
  const shown = { message: "Wrong.", remedy: "Do this.", details };
  const text = reportText(shown, { address: "http://host/", now: new Date(0) });
  assert.equal(
    text,
    "Wrong.\nDo this.\n\nReference: code · id\nAddress: http://host/\nTime: 1970-01-01T00:00:00.000Z\n",
  );
});
