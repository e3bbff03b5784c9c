import assert from "node:assert/strict";
import { test } from "node:test";

import { GIB_PER_GB, gibToGb } from "../../../static/js/metrics/units.js";

test("a gigabyte is 10^9 bytes, a gibibyte 2^30", () => {
  assert.equal(GIB_PER_GB * 2 ** 30, 1e9);
  assert.equal(gibToGb(1), 1.073741824);
  assert.equal(gibToGb(null), null);
});
