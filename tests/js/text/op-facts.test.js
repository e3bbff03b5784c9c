import assert from "node:assert/strict";
import { test } from "node:test";

import { createModel } from "../../../static/js/state/model.js";
import {
  cardFacts,
  computeFacts,
  joined,
  memoryRows,
  opReader,
  opSentence,
  originFacts,
  otherFacts,
  peakName,
  pointFacts,
  pointReader,
  timeFacts,
  withoutPlace,
} from "../../../static/js/text/op-facts.js";
import { computeRoof, pageWith, plain, programPoint, workUnit } from "../builders.js";

/** @import { Fact } from "../../../static/js/text/op-facts.js" */

function opened() {
  const page = pageWith([
    ["fusion.1", "loop fusion", "HBM", "known", 0.25, 10, 2000],
    ["copy.1", "copy", "HBM", "no_flops", 0.1],
  ]);
  Object.assign(page.ops.columns, {
    self_time_per_core_us: [1500, 20],
    occurrences: [4, 1],
    avg_time_us: [375, 20],
    compute_efficiency_ratio: [0.02, 0],
    roofline_efficiency_ratio: [0.2, 0.5],
    memory_bandwidth_gibs: [186, 465],
    hbm_bandwidth_gibs: [186, 465],
    hbm_intensity: [10, 0],
    program: ["jit_step", ""],
    program_id: ["42", "42"],
  });
  page.profile.provenance = { flop: "estimated", bytes: "measured" };
  const model = createModel(page);
  const view = model.view("in");
  const [row, copy] = view.rows;
  return { model, view, row, copy, get: opReader(view, row) };
}

/** @param {readonly Fact[]} facts */
const said = (facts) => Object.fromEntries(facts.map(([term, value]) => [term, plain(value)]));

test("numbers on one line leave out the missing ones; nothing at all is a dash", () => {
  assert.equal(joined("1 ms", "–", "5 %"), "1 ms · 5 %");
  assert.equal(joined("–", "– each"), "–");
});

test("the card has time, rate against its peak, and program", () => {
  const { model, row, get } = opened();
  const facts = said(cardFacts(model, row, get));
  assert.equal(facts["Self time per core"], "1.50 ms · 25.0 %");
  assert.equal(facts.Occurrences, "4 · 375 µs each");
  assert.equal(facts["FLOP rate, estimated"], "2.00 TFLOP/s · 2.0 % of peak");
  assert.equal(facts.Program, "jit_step · 42");
});

test("a prediction says that its rate is the best one, and has no share of the roof", () => {
  const { model, row, get } = opened();
  const predicted = { ...row, timing: /** @type {const} */ ("predicted") };
  assert.match(said(cardFacts(model, predicted, get))["FLOP rate, estimated"], /TFLOP\/s at best/);
  assert.equal(said(computeFacts(model, predicted, get))["Share of roof"], "at best");
  assert.equal(said(computeFacts(model, row, get))["Share of roof"], "20.0 %");
});

test("the peak is named where work is split by unit", () => {
  const page = pageWith([]);
  page.roofs.compute = [computeRoof(1), computeRoof(2, { label: "Vector fp32" })];
  page.units = [workUnit("vector_fp32", "Vector fp32"), workUnit("matrix_int8", "Matrix int8")];
  const model = createModel(page);
  /** @param {number | null} unit @param {number | null} gflops */
  const peakOf = (unit, gflops) =>
    peakName(model, pointReader(programPoint({ compute_unit: unit, flop_rate_gflops: gflops })));
  assert.equal(peakOf(1, 5), "Vector fp32 peak");
  assert.equal(peakOf(null, 5), "a peak that is unknown");
  assert.equal(peakOf(null, 0), "peak");
  assert.equal(peakOf(null, null), "peak");
});

test("every memory that has a number is a row, with the sum", () => {
  const { model, get } = opened();
  const { head, rows } = memoryRows(model, get);
  assert.deepEqual(head, ["Memory", "bandwidth, measured", "intensity"]);
  assert.deepEqual(
    rows.map((cells) => cells.map(plain)),
    [
      ["all levels", "200 GB/s", "–"],
      ["HBM", "200 GB/s", "10.0 FLOP/B"],
    ],
  );
});

test("a start has no bandwidth: its bytes move until long after its time", () => {
  const { model, get } = opened();
  const { rows } = memoryRows(model, (id) => (id === "is_start" ? 1 : get(id)));
  assert.deepEqual(
    rows.map(([, rate]) => plain(rate)),
    ["–", "–"],
  );
});

test("a program point has the same facts by its own columns", () => {
  const { model } = opened();
  const point = programPoint({ total_time_per_core_us: 5e6, roofline_efficiency_ratio: 0.37 });
  const facts = said(pointFacts(model, point));
  assert.equal(facts["Time per core"], "5.00 s");
  assert.equal(facts["Largest use"], "37.0 %");
  assert.equal(facts["FLOP rate, model"], "–");
});

test("other devices tell their least time, and what binds there if it differs", () => {
  const { model, row } = opened();
  const facts = otherFacts(
    {
      ...model,
      others: [
        /** @type {typeof model.others[number]} */ (
          /** @type {unknown} */ ({ name: "H100", us: [750, null], bound_by: [0, 1] })
        ),
      ],
    },
    row,
  );
  assert.deepEqual(
    facts.map(([term, text]) => [term, plain(text)]),
    [["At least on H100", "750 µs · compute-bound"]],
  );
});

test("an op without a place says why", () => {
  const { model, view, copy } = opened();
  assert.match(plain(withoutPlace(model, copy, opReader(view, copy))), /It moves 499 GB\/s of HBM/);
  const idle = { ...copy, cost: /** @type {const} */ ("idle") };
  assert.match(withoutPlace(model, idle, opReader(view, copy)), /Idle time/);
});

test("time and origin facts are there, with dashes for what is missing", () => {
  const { row, get, model } = opened();
  assert.equal(said(timeFacts(row, get)).Total, "–");
  assert.deepEqual(said(originFacts(get)), {
    Source: "–",
    Program: "jit_step",
    "Program ID": "42",
  });
  assert.match(opSentence(model, opened().view, row), /of the HBM roof/);
});
