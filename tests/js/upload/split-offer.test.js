import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem, problemFromAnswer } from "../../../static/js/text/problem.js";
import { divisionOf, namesShown, splitLabel } from "../../../static/js/upload/split-offer.js";

/** @param {string} label @param {...string} files */
const group = (label, ...files) => ({ label, files });
/** @param {string} name */
const bad = (name) => ({ name, message: "It is cut off." });

/** @param {string} code @param {object} [details] */
const answerOf = (code, details) =>
  problemFromAnswer(400, JSON.stringify({ message: "No.", remedy: "", code, details }));

test("an answer about several profiles has their groups", () => {
  const groups = [group("TPU v4", "a.pb"), group("TPU v6e", "b.pb")];
  const problem = answerOf("mixed-upload", { groups, unreadable: [bad("c.pb")] });
  assert.deepEqual(divisionOf(problem), { groups, unreadable: [bad("c.pb")] });
  assert.deepEqual(divisionOf(answerOf("mixed-upload", { groups })), { groups, unreadable: [] });
});

test("other problems do not divide", () => {
  for (const problem of [
    answerOf("mixed-upload"),
    answerOf("mixed-upload", { groups: [] }),
    answerOf("corrupt-profile", { groups: [group("TPU v4", "a.pb")] }),
    new Problem("No."),
  ])
    assert.equal(divisionOf(problem), null);
});

test("the button says what it does", () => {
  const two = [group("TPU v4", "a.pb"), group("TPU v6e", "b.pb")];
  assert.equal(splitLabel({ groups: two, unreadable: [] }), "Make 2 profiles");
  assert.equal(splitLabel({ groups: two, unreadable: [bad("c.pb")] }), "Make 2 profiles");
  const [one] = two;
  assert.equal(splitLabel({ groups: [one], unreadable: [bad("c.pb")] }), "Go on without c.pb");
  assert.equal(
    splitLabel({ groups: [one], unreadable: [bad("c.pb"), bad("d.pb")] }),
    "Go on without 2 files",
  );
});

test("a group with one format and nothing unreadable is opened alone", () => {
  assert.equal(splitLabel({ groups: [group("XSpace", "a.pb")], unreadable: [] }), "Import it");
});

test("many names are counted", () => {
  assert.equal(namesShown(["a", "b"]), "a, b");
  assert.equal(namesShown(["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d, e and 2 more");
});
