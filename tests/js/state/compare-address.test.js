import assert from "node:assert/strict";
import { test } from "node:test";

import { compareAddress } from "../../../static/js/state/compare-address.js";

const OLD = { id: "old", created: "2026-01-01T00:00:00Z" };
const NEW = { id: "new", created: "2026-02-01T00:00:00Z" };
const MIDDLE = { id: "mid", created: "2026-01-15T00:00:00Z" };

test("the older run is A, in whichever order they were chosen", () => {
  assert.equal(compareAddress([NEW, OLD]), "/c/old..new");
  assert.equal(compareAddress([OLD, NEW]), "/c/old..new");
});

test("runs between them are compared with A, too", () => {
  assert.equal(compareAddress([MIDDLE, NEW, OLD]), "/c/old..new?vs=mid");
});
