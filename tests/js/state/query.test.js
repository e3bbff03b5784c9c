import assert from "node:assert/strict";
import { test } from "node:test";

import {
  DEFAULTS,
  isFiltered,
  parseQuery,
  toQuery,
  withFilter,
  withoutFilters,
} from "../../../static/js/state/query.js";

/** @import { ViewState } from "../../../static/js/types/view-state.js" */

test("the default view has an empty query", () => {
  assert.equal(toQuery({ ...DEFAULTS }), "");
  assert.deepEqual(parseQuery("").state, { ...DEFAULTS });
});

test("every key survives the address bar", () => {
  /** @type {ViewState} */
  const state = {
    from_us: 1500.5,
    to_us: 20_000,
    host: "t1v-n-0 & co",
    dvfs: "on",
    of: "serving:decode.32",
    infeed: "out",
    listing: "",
    q: "/fusion\\.(1|2)&=#/",
    cat: ["custom fusion", "a,b~c"],
    bound: ["HBM", "Compute"],
    part: "below_roof.hbm",
    finding: "G1:aten::mul [2, 3]+7",
    by: "layer",
    group: "net › layer_1",
    open: ["net", "a,b › c"],
    min: 0.1,
    cover: 90,
    box: [-1.5, 2, 0, 4.25],
    x: "hbm",
    y: "share",
    roofs: "all",
    prec: "compute",
    size: "equal",
    fit: "all",
    zoom: [0, 1, 2, 3.5],
    op: 12,
    sel: [12, 3],
    pins: [
      { at: "12", note: "too slow: why? a.b & c" },
      { at: "p3", note: "" },
    ],
    step: "4",
    sort: "name",
    cols: ["name", "rank"],
    pcols: ["label", "total_time_us"],
    tab: "details",
    page: 3,
    dev: "h100-sxm",
    peaks: { compute: 989_000, hbm: 1555 },
    vs: ["tpu-v5p", "b200"],
  };
  assert.deepEqual(Object.keys(state).sort(), Object.keys(DEFAULTS).sort());
  assert.deepEqual(parseQuery(`?${toQuery(state)}`).state, state);
});

test("XProf's link to an operation fills the name filter", () => {
  assert.equal(parseQuery("?roofline_op_name=fusion.1").state.q, "fusion.1");
  assert.equal(parseQuery("?roofline_op_name=fusion.1&q=copy").state.q, "copy");
  assert.equal(parseQuery("?device=h100-sxm").state.dev, "h100-sxm");
  assert.equal(parseQuery("?device=h100-sxm&dev=h200").state.dev, "h200");
});

test("a link of a newer version is named and not read", () => {
  const { state, newer } = parseQuery("?v=2&q=copy");
  assert.equal(newer, "2");
  assert.deepEqual(state, { ...DEFAULTS });
  assert.equal(parseQuery("?v=1&q=copy").newer, null);
});

test("values that make no sense leave the default", () => {
  const { state } = parseQuery(
    "?infeed=maybe&min=-1&cover=0&zoom=1,0,2,3&box=a,b,c,d&op=-1&page=0&roofs=x&size=&fit=5&tab=z",
  );
  assert.deepEqual(state, { ...DEFAULTS });
});

test("values that make no sense are named", () => {
  const { unreadable } = parseQuery("?roofs=x&size=&op=first&peak.l2=soon&q=copy&sort=name");
  assert.deepEqual(unreadable, ["peak.l2 “soon”", "roofs “x”", "op “first”"]);
  assert.deepEqual(parseQuery("?q=copy&peak.hbm=1200").unreadable, []);
});

test("clearing filters keeps axis, selection and table", () => {
  /** @type {ViewState} */
  const state = {
    ...DEFAULTS,
    q: "x",
    cat: ["a"],
    min: 1,
    box: [0, 1, 0, 1],
    x: "hbm",
    op: 3,
    sort: "name",
  };
  assert.ok(isFiltered(state));
  const cleared = withoutFilters(state);
  assert.ok(!isFiltered(cleared));
  assert.deepEqual([cleared.x, cleared.op, cleared.sort], ["hbm", 3, "name"]);
});

test("following a link replaces all filters and ignores unknown keys", () => {
  const state = withFilter(
    { ...DEFAULTS, q: "x", min: 1 },
    { cat: ["dynamic-update-slice"], nonsense: 1 },
  );
  assert.deepEqual(state, { ...DEFAULTS, cat: ["dynamic-update-slice"] });
});

test("a peak in a link may carry its unit; nonsense is left out", () => {
  const { state } = parseQuery(
    "?peak.hbm=1.2+TB/s&peak.compute=989TFLOP/s&peak.matrix_fp8=2e6&peak.l2=soon&peak.l1=-4",
  );
  assert.deepEqual(state.peaks, { hbm: 1200, compute: 989_000, matrix_fp8: 2_000_000 });
});
