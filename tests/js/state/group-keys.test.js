import assert from "node:assert/strict";
import { test } from "node:test";

import { groupId, isOf } from "../../../static/js/state/group-keys.js";

test("a group has its ops and those of the groups in it", () => {
  const id = groupId(["net", "layer_1"]);
  assert.ok(isOf(id, ["net", "layer_1", "mlp"]));
  assert.ok(!isOf(id, ["net", "layer_10"]));
  assert.ok(isOf("", []), "ops of which the profile does not say it");
});
