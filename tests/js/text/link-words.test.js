import assert from "node:assert/strict";
import { test } from "node:test";

import { linkGeometry } from "../../../static/js/chart/link-places.js";
import { DEFAULTS } from "../../../static/js/state/query.js";
import { linkLaneText, linkNote, transferFacts } from "../../../static/js/text/link-words.js";
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

test("the strip says what it shows and what it does not", () => {
  const box = { width: 600, height: 120, margin: { l: 96, r: 14, t: 4, b: 24 }, lane: 46 };
  const { lanes } = linkGeometry(model, DEFAULTS, box);
  assert.equal(
    plain(linkNote(model, lanes, new Set(view.rows))),
    "3 transfers · 1.46 s exposed per core · 1 off scale ▷ · 1 without a known share of the peak",
  );
  const { exposed_us: _, ...columns } = model.ops.columns;
  const untimed = { ...model, ops: { ...model.ops, columns } };
  assert.match(plain(linkNote(untimed, lanes, new Set(view.rows))), /^3 transfers · 1 off scale/);
  assert.equal(linkLaneText(null), "peak not known");
});

test("exposed time that is not known is not zero", () => {
  const box = { width: 600, height: 120, margin: { l: 96, r: 14, t: 4, b: 24 }, lane: 46 };
  const found = modelWithTransfers();
  const { lanes } = linkGeometry(found, DEFAULTS, box);
  const rows = new Set(lanes.flatMap((lane) => lane.rows));
  const exposed = found.ops.columns.exposed_us ?? [];
  exposed[[...rows][1].op] = null;
  assert.match(plain(linkNote(found, lanes, rows)), /^3 transfers · ≥ .* exposed per core/);
  exposed.fill(null);
  assert.doesNotMatch(linkNote(found, lanes, rows), /exposed/);
});
