import assert from "node:assert/strict";
import { test } from "node:test";

import {
  canDropInfeed,
  createModel,
  pointValue,
  unpacked,
} from "../../../static/js/state/model.js";
import { level, memoryRoof, pageWith, programPoint } from "../builders.js";

/** @import { Page } from "../../../static/js/types/page-data.js" */

const page = () =>
  pageWith([
    ["IDLE", "IDLE", "Unknown", "idle", 0.5],
    ["fusion.1", "loop fusion", "HBM", "known", 0.3, 10, 1000],
    ["Fusion.2", "loop fusion", "Compute", "known", 0.2, 500, 50_000],
  ]);

test("facts and a view are joined: keys, columns of operations and of the view", () => {
  const { views, ops, device, roofs, ...rest } = page();
  const { name, category, cost, ...underPeaks } = ops.columns;
  const { op, columns, program: _, ...ofView } = views.in;
  const program = { count: 2, columns: { scope: ["total", "step"], label: ["Total", "0"] } };
  const facts = { ...rest, ops: { ...ops, columns: { name, category, cost } }, views: {} };
  Object.assign(facts.views, { in: { op, columns: {} }, out: { op: [], columns: {} } });
  const view = { device, roofs, ops: { columns: underPeaks }, views: {} };
  Object.assign(view.views, { in: { ...ofView, columns, program } });
  const joined = unpacked(facts, view, "in");
  assert.deepEqual(joined.ops.columns, ops.columns);
  assert.equal(joined.ops.count, ops.count);
  assert.equal(joined.device, device);
  assert.deepEqual(joined.views.in.columns, columns);
  assert.deepEqual(
    joined.views.in.program.map(({ label }) => label),
    ["Total", "0"],
  );
  assert.equal(createModel(joined).view("in").rows.length, 3);
});

test("a row has its op's columns, and its share of the view's time", () => {
  const view = createModel(page()).view("in");
  const [idle, first] = view.rows;
  assert.deepEqual([first.name, first.lowerName, first.cost], ["fusion.1", "fusion.1", "known"]);
  assert.equal(first.timing, "measured");
  assert.equal(view.byOp.get(1), first);
  assert.equal(idle.covered, 1, "idle time is not work");
  assert.deepEqual(
    view.rows.slice(1).map(({ covered }) => covered),
    [0, 0.6],
  );
});

test("a reader gives a column's values, and null for what is missing", () => {
  const base = page();
  base.ops.columns.program = ["", "jit", ""];
  base.ops.columns.program_id = [null, "7", "8"];
  const view = createModel(base).view("in");
  assert.deepEqual(view.rows.map(view.reader("flop_rate_gflops")), [null, 1000, 50_000]);
  assert.deepEqual(view.rows.map(view.reader("rank")), [1, 2, 3]);
  assert.deepEqual(view.rows.map(view.reader("no_such_column")), [null, null, null]);
  assert.deepEqual(view.rows.map(view.reader("program")), [null, "jit", "8"]);
});

test("the model follows other page data in place", () => {
  const model = createModel(page());
  const before = model.view("in");
  model.use({ ...page(), roofs: { compute: [], memory: [] } });
  assert.deepEqual(model.roofs.compute, []);
  assert.notEqual(model.view("in"), before);
  assert.equal(model.levels[0].roof, null);
});

test("an unknown axis is the first one; an unknown column is none", () => {
  const model = createModel(page());
  assert.equal(model.axis("nope").id, "hbm");
  assert.equal(model.column("nope"), null);
  assert.equal(model.coreWord, "core");
});

test("levels have the labels of their axes, and their roofs", () => {
  const base = page();
  base.levels.push(level("l2", "L2 cache"));
  base.x_axes.push({ id: "l2", label: "L2 cache", column: "l2_intensity" });
  assert.deepEqual(
    createModel(base).levels.map(({ label }) => label),
    ["HBM", "L2 cache"],
  );
  assert.deepEqual(
    createModel(base).levels[0].roof,
    memoryRoof(1000, { ridge_flop_per_byte: 100 }),
  );
});

test("flags of a program point are not values of a table", () => {
  const point = programPoint({ is_outlier: true, total_time_us: 5 });
  assert.equal(pointValue(point, "is_outlier"), null);
  assert.equal(pointValue(point, "total_time_us"), 5);
  assert.equal(pointValue(point, "nope"), null);
});

test("the infeed switch is offered to TPUs and where there are host transfers", () => {
  /**
   * @param {Page["device"]["kind"]} kind
   * @param {...string} names
   * @returns {Pick<Page, "device" | "categories">}
   */
  const of = (kind, ...names) => ({
    device: { ...page().device, kind },
    categories: names.map((name) => ({ name, token: "--c1", symbol: "circle" })),
  });
  assert.equal(canDropInfeed(of("tpu", "dot")), true);
  assert.equal(canDropInfeed(of("gpu", "dot", "infeed")), true);
  assert.equal(canDropInfeed(of("gpu", "matmul")), false);
});
