import assert from "node:assert/strict";
import { test } from "node:test";

import { createModel } from "../../../static/js/state/model.js";
import {
  isPlace,
  LONGEST_NOTE,
  noteToKeep,
  readPin,
  shownPins,
  withoutPin,
  withPin,
  writePin,
} from "../../../static/js/state/pins.js";
import { pageWith, programPoint } from "../builders.js";

const page = pageWith([
  ["a", "c", "HBM", "known", 0.2],
  ["b", "c", "HBM", "known", 0.5],
  ["b", "c", "HBM", "known", 0.3],
]);
page.ops.columns.program = ["p", "p", "q"];
page.views.in.program = [programPoint(), programPoint({ label: "7", scope: "step" })];
const view = createModel(page).view("in");

/** @param {Partial<import("../../../static/js/types/pins.js").KeptNote>} extra */
const kept = (extra) => ({
  ...{ id: "n", kind: "operation", name: "b", program: "q", text: "kept", by: "Ada", at: "" },
  ...extra,
});

test("a pin is a place, and behind a point its note", () => {
  assert.deepEqual(readPin("12.a.b: ü\nc"), { at: "12", note: "a.b: ü\nc" });
  assert.deepEqual(readPin("p3"), { at: "p3", note: "" });
  for (const text of ["", "x", "-1", "1e3", "p", ".note", "12note"])
    assert.equal(readPin(text), null);
  assert.equal(readPin(`1.${"x".repeat(900)}`)?.note.length, LONGEST_NOTE);
  for (const text of ["12.a.b", "p3"]) assert.equal(writePin(readPin(text) ?? assert.fail()), text);
});

test("a place has one pin", () => {
  const pins = withPin(withPin([], { at: "1", note: "x" }), { at: "2", note: "" });
  assert.deepEqual(withPin(pins, { at: "1", note: "y" }), [
    { at: "1", note: "y" },
    { at: "2", note: "" },
  ]);
  assert.deepEqual(withoutPin(pins, "1"), [{ at: "2", note: "" }]);
});

test("places of another profile are not known", () => {
  assert.deepEqual(
    ["0", "2", "3", "p0", "p1", "p2"].map((at) => isPlace(view, at)),
    [true, true, false, true, true, false],
  );
});

test("operations come by their time, then points of the program", () => {
  const pins = [
    { at: "p1", note: "step" },
    { at: "0", note: "first" },
    { at: "9", note: "elsewhere" },
  ];
  const found = shownPins(view, [kept({})], pins);
  assert.deepEqual(
    found.map(({ number, at, name, note }) => [number, at, name, note]),
    [
      [1, "2", "b", "kept"],
      [2, "0", "a", "first"],
      [3, "p1", "7", "step"],
    ],
  );
});

test("a kept note finds the longest of its name, and the link's note stands in its place", () => {
  const notes = [kept({ program: "" }), kept({ id: "s", kind: "program", name: "7" })];
  const gone = [kept({ name: "c" }), kept({ kind: "program", name: "8" })];
  const found = shownPins(view, [...notes, ...gone], [{ at: "p1", note: "new" }]);
  assert.deepEqual(
    found.map(({ at, note, kept: one }) => [at, note, one?.id]),
    [
      ["1", "kept", "n"],
      ["p1", "new", "s"],
    ],
  );
});

test("what is kept names the point, not its place", () => {
  const [op, point] = shownPins(
    view,
    [],
    [
      { at: "2", note: "x" },
      { at: "p1", note: "" },
    ],
  );
  assert.deepEqual(noteToKeep(view, op), { kind: "operation", name: "b", program: "q", text: "x" });
  assert.deepEqual(noteToKeep(view, point), { kind: "program", name: "7", program: "", text: "" });
});
