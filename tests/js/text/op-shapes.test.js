// Lines of shapes in the drawer: which operand comes from which op, and what a group has.

import assert from "node:assert/strict";
import { test } from "node:test";
import { groupText, shapeLines } from "../../../static/js/text/op-shapes.js";

const shapes = { operands: ["bf16[8]", "f32[]"], results: ["bf16[8]"] };

test("each operand names the op that made it", () => {
  assert.deepEqual(shapeLines({ shapes, producers: ["dot.1", "c"] }), [
    "reads bf16[8] from dot.1",
    "reads f32[] from c",
    "makes bf16[8]",
  ]);
});

test("producers that do not match the shapes stand by themselves", () => {
  assert.deepEqual(shapeLines({ shapes, producers: ["dot.1"] }), [
    "reads bf16[8]",
    "reads f32[]",
    "reads from dot.1",
    "makes bf16[8]",
  ]);
  assert.deepEqual(shapeLines({ shapes: null, producers: ["a"] }), ["reads from a"]);
  assert.deepEqual(shapeLines({ shapes: null }), []);
});

test("a group has its size and its notation, as far as known", () => {
  assert.equal(
    groupText({ group_size: 2, replica_groups: "{{0,1}}" }),
    "2 devices in a group: {{0,1}}",
  );
  assert.equal(groupText({ group_size: 8 }), "8 devices in a group");
  assert.equal(groupText({ group_size: null, replica_groups: "{}" }), "{}");
  assert.equal(groupText({}), "");
});
