import assert from "node:assert/strict";
import { test } from "node:test";

import { partLabel } from "../../../static/js/text/budget-words.js";

const parts = [{ id: "below_roof.hbm", label: "below the HBM roof", time_us: 1 }];
const budget = { total_us: 1, floor_us: 0, parts };

test("a part has the words of the server, a kind of parts its own", () => {
  assert.equal(partLabel(budget, "below_roof.hbm"), "Below the HBM roof");
  assert.equal(partLabel(budget, "at_roof"), "At the roof");
  assert.equal(partLabel(null, "idle"), "Idle");
});
