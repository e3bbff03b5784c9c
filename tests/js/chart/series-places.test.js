import assert from "node:assert/strict";
import { test } from "node:test";

import {
  bandsOf,
  panelPlaces,
  stepLine,
  straightLine,
} from "../../../static/js/chart/series-places.js";

const BOX = { left: 100, right: 500, top: 0, bottom: 100 };
const run = (/** @type {number} */ time, /** @type {number | null} */ roof = null) => ({
  id: "x",
  url: "/p/x",
  title: "t",
  created_at: "",
  time_us: time,
  roof_us: roof,
  roof_ratio: null,
  gate: "passed",
  base_id: null,
  rules: [],
  accepted_until: "",
});

test("runs lie in their order, larger values higher, on an axis that is cut", () => {
  const { places, ticks } = panelPlaces([run(100), run(110), run(90)], (one) => one.time_us, BOX);
  assert.deepEqual(
    places.map(({ x }) => x),
    [100, 300, 500],
  );
  assert.ok(places[1].y < places[0].y && places[0].y < places[2].y);
  assert.deepEqual(
    ticks.map(({ value }) => value),
    [90, 110],
  );
  for (const { y } of places) assert.ok(y > BOX.top && y < BOX.bottom);
});

test("noise of a thousandth does not fill a panel", () => {
  const { places } = panelPlaces([run(1000), run(1001)], (one) => one.time_us, BOX);
  assert.ok(Math.abs(places[0].y - places[1].y) < 5);
});

test("a run without the number has no place; one run lies in the middle", () => {
  const { places } = panelPlaces([run(1), run(1, 4)], (one) => one.roof_us, BOX);
  assert.deepEqual(
    places.map(({ x }) => x),
    [500],
  );
  assert.deepEqual(
    panelPlaces([run(1)], (one) => one.roof_us, BOX),
    { places: [], ticks: [] },
  );
  assert.equal(panelPlaces([run(1)], (one) => one.time_us, BOX).places[0].x, 300);
});

test("roof time is a line of steps, the others are straight", () => {
  const { places } = panelPlaces([run(1), run(2)], (one) => one.time_us, BOX);
  assert.match(stepLine(places), /^M100 [\d.]+H500V[\d.]+$/);
  assert.match(straightLine(places), /^M100 [\d.]+L500 [\d.]+$/);
});

test("neighbours that broke a rule share one band, of half a step at each end", () => {
  const gates = ["base", "broken", "broken", "accepted", "broken"].map((gate) => ({ gate }));
  assert.deepEqual(bandsOf(gates, BOX), [
    { from: 150, to: 350 },
    { from: 450, to: 550 },
  ]);
  assert.deepEqual(bandsOf([{ gate: "passed" }], BOX), []);
});
