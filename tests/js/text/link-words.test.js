import assert from "node:assert/strict";
import { test } from "node:test";

import { transferFacts } from "../../../static/js/text/link-words.js";
import { opReader } from "../../../static/js/text/op-facts.js";
import { plain } from "../builders.js";
import { modelWithTransfers } from "../transfers.js";

const model = modelWithTransfers();
const view = model.view("in");
/** @param {number} op */
const facts = (op) =>
  transferFacts(model, view.rows[op], opReader(view, view.rows[op])).map((fact) =>
    fact.map(plain).join(": "),
  );

test("the card of a transfer has its bytes, group, interval, rate and peak", () => {
  assert.deepEqual(facts(0), [
    "Link: ICI",
    "Achieved: 44.0 GB/s · 44.0 %",
    "Peak of the link: 100 GB/s, from the catalogue",
    "Bytes on the wire: 64.4 GB",
    "Devices in a group: 2",
    "From start to end: 1.46 s per core",
    "Exposed: 1.46 s per core",
  ]);
  assert.match(facts(1)[1], /^Achieved: ≥ 150 GB/);
  assert.equal(facts(3)[0], "Link: not known");
  assert.equal(facts(3)[2], "Peak of the link: not known");
  assert.deepEqual(facts(4), [], "other ops have none");
});
