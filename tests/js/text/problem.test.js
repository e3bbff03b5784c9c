import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Problem,
  connectionProblem,
  problemDetails,
  problemFromAnswer,
  reportText,
} from "../../../static/js/text/problem.js";
import { relativeTime } from "../../../static/js/text/relative-time.js";

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
  const shown = { message: "Wrong.", remedy: "Do this.", details: [["Reference", "code · id"]] };
  const text = reportText(shown, { address: "http://host/", now: new Date(0) });
  assert.equal(
    text,
    "Wrong.\nDo this.\n\nReference: code · id\nAddress: http://host/\nTime: 1970-01-01T00:00:00.000Z\n",
  );
});

test("times are told from now", () => {
  const now = new Date(2026, 10, 21, 12, 0, 0);
  const ago = (milliseconds) =>
    relativeTime(new Date(now.getTime() - milliseconds).toISOString(), now);
  const minute = 60_000;
  assert.equal(ago(-5000), "just now");
  assert.equal(ago(4 * minute), "4\u00a0min ago");
  assert.equal(ago(130 * minute), "2\u00a0h ago");
  assert.equal(ago(13 * 60 * minute), "yesterday");
  assert.equal(ago(20 * 24 * 60 * minute), "1 Nov");
  assert.equal(ago(400 * 24 * 60 * minute), "17 Oct 2025");
  assert.equal(relativeTime("nonsense", now), "–");
});
