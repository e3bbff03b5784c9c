import assert from "node:assert/strict";
import { test } from "node:test";

import { PICTURE, pictureFigure } from "../../../static/js/chart/picture-figure.js";
import { createModel } from "../../../static/js/state/model.js";
import { DEFAULTS } from "../../../static/js/state/query.js";
import { pageWith, PAINT, plain } from "../builders.js";

function picture() {
  const page = pageWith([
    ["fusion.1", "loop fusion", "HBM", "known", 0.6, 10, 5000],
    ["dot.1", "<i>dot</i>", "Compute", "known", 0.3, 900, 50_000],
    ["copy.1", "copy", "HBM", "no_flops", 0.1],
  ]);
  page.profile.files = [{ name: "host<0>.pb", size_bytes: 1, host: "", cores: 1 }];
  const model = createModel(page);
  const rows = model.view("in").rows;
  return {
    model,
    title: "Run & <b>more</b>",
    state: DEFAULTS,
    shown: new Set(rows),
    pins: [],
    source: "Roofline 1 · http://host/p/1?v=1&bound=<b>",
  };
}

test("a picture says what it shows: title, device, files, ops drawn; nothing of it is markup", () => {
  const { layout } = pictureFigure(picture(), PAINT);
  const texts = layout.annotations.map(({ text }) => plain(text));
  assert.ok(texts.includes("Run  bmore/b · TPU"), String(texts));
  assert.ok(texts.includes("1 × TensorCore, 1 host · host0.pb"));
  assert.ok(texts.includes("Roofline 1 · http://host/p/1?v=1&amp;bound=b"));
  assert.ok(
    texts.some((text) => /^Peaks per TensorCore: Compute .+FLOP.s .+, HBM .+GB.s /.test(text)),
    String(texts),
  );
  assert.ok(
    texts.includes(
      "2 of 3 ops drawn, 90.0 % of the time · with infeed and outfeed · per TensorCore",
    ),
  );
});

test("the legend has one entry per drawn category, the longest first", () => {
  const { data, layout } = pictureFigure(picture(), PAINT);
  const entries = data.filter((trace) => trace.showlegend).map(({ name }) => name);
  assert.deepEqual(entries, ["loop fusion", "idot/i"]);
  assert.equal(layout.showlegend, true);
  assert.deepEqual([layout.width, layout.height], [PICTURE.width, PICTURE.height]);
});

test("a picture draws the ops that it counts, and no others", () => {
  const whole = picture();
  const [first] = whole.shown;
  const { data } = pictureFigure({ ...whole, shown: new Set([first]) }, PAINT);
  const drawn = data.filter(({ name }) => name.startsWith("ops")).map(({ x }) => x.length);
  assert.deepEqual(drawn, [1, 0]);
});

test("pinned operations have their numbers, and notes stand below the chart", () => {
  const whole = picture();
  const rows = whole.model.view("in").rows;
  const pins = [rows[1], rows[2]].map((row, i) => {
    const note = i === 0 ? "<b>why?\n& =1" : "";
    return {
      number: i + 1,
      at: String(row.op),
      name: row.name,
      note,
      kept: null,
      row,
      point: null,
    };
  });
  const { layout } = pictureFigure({ ...whole, pins }, PAINT);
  const texts = layout.annotations.map(({ text }) => plain(text));
  assert.equal(texts.filter((text) => text === "<b>1</b>").length, 1);
  assert.ok(!texts.includes("<b>2</b>"), "an operation without FLOPs has no point");
  assert.ok(texts.includes("1  dot.1: bwhy?  =1"), String(texts));
  assert.ok(texts.includes("2  copy.1"));
  assert.equal(layout.height, PICTURE.height + 36);
});
