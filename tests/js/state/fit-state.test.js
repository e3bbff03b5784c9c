import assert from "node:assert/strict";
import { test } from "node:test";

import { fitToProfile, leftOutText, withoutHardware } from "../../../static/js/state/fit-state.js";
import { createModel } from "../../../static/js/state/model.js";
import { DEFAULTS } from "../../../static/js/state/query.js";
import { pageWith, programPoint } from "../builders.js";

/** @import { ViewState } from "../../../static/js/types/view-state.js" */

const model = () => {
  const page = pageWith([
    ["matmul", "fusion", "Compute", "known", 0.5],
    ["copy", "copy", "HBM", "no_flops", 0.3],
  ]);
  for (const view of Object.values(page.views)) view.program = [programPoint()];
  return createModel(page);
};
/** @param {Partial<ViewState>} change */
const fit = (change) => fitToProfile({ ...DEFAULTS, ...change }, model());

test("what the profile has is kept", () => {
  const wanted = {
    cat: ["copy"],
    bound: ["HBM"],
    cols: ["hbm_bandwidth_gibs"],
    sort: "-hbm_bandwidth_gibs",
    op: 1,
    step: "Total",
  };
  const { state, unknown } = fit(wanted);
  assert.deepEqual(unknown, []);
  assert.deepEqual(state, { ...DEFAULTS, ...wanted });
  assert.deepEqual(fit({ cols: ["all"] }), { state: { ...DEFAULTS, cols: ["all"] }, unknown: [] });
});

test("what it does not have is left out and named", () => {
  const { state, unknown } = fit({
    cat: ["copy", "nope"],
    bound: ["CMEM"],
    cols: ["gone"],
    x: "l7",
    sort: "-wrong",
    op: 99_999,
    step: "12",
  });
  assert.deepEqual(state, { ...DEFAULTS, cat: ["copy"] });
  assert.deepEqual(unknown, [
    "category “nope”",
    "bound “CMEM”",
    "column “gone”",
    "x axis “l7”",
    "sort column “-wrong”",
    "operation “99999”",
    "step “12”",
  ]);
});

test("the page says what a link names in vain, once for all", () => {
  assert.equal(leftOutText([]), "");
  assert.match(
    leftOutText(["category “nope”", "“gone”"]),
    /^This link names category “nope”, “gone”, which this profile or the list of devices does not have\./,
  );
});

test("unknown devices and peaks are left out, the others stay", () => {
  const state = { ...DEFAULTS, dev: "gone", vs: ["b200", "gone2"], peaks: { hbm: 1, lds: 2 } };
  assert.deepEqual(withoutHardware(state, ["gone", "gone2", "lds"]), {
    ...DEFAULTS,
    dev: null,
    vs: ["b200"],
    peaks: { hbm: 1 },
  });
});
