import assert from "node:assert/strict";
import { test } from "node:test";

import { createSelection } from "../../../static/js/page/selection.js";
import { createModel } from "../../../static/js/state/model.js";
import { DEFAULTS } from "../../../static/js/state/query.js";
import { pageWith, programPoint } from "../builders.js";

/** @import { ViewState } from "../../../static/js/types/view-state.js" */
/** @import { Store } from "../../../static/js/state/store.js" */

const { rows } = createModel(
  pageWith([
    ["a", "c", "HBM", "known", 0.6],
    ["b", "c", "HBM", "known", 0.4],
  ]),
).view("in");

/** A store and a table without a page. @param {Partial<ViewState>} [initial] */
function selectionIn(initial = {}) {
  let state = { ...DEFAULTS, ...initial };
  /** @type {string[]} */
  const scrolled = [];
  /** @type {Store} */
  const store = {
    get: () => state,
    set: (change) => {
      state = { ...state, ...change };
    },
    restore: () => {},
    subscribe: () => {},
    hovered: null,
    onHovered: () => {},
  };
  const table = {
    rows,
    pageOf: (/** @type {string} */ key) => (key === "1" ? 2 : 1),
    scrollTo: (/** @type {string} */ key) => void scrolled.push(key),
  };
  return { selection: createSelection({ store, table: () => table }), store, scrolled };
}

test("a chosen op is brought into sight, on its page of the table", () => {
  const { selection, store, scrolled } = selectionIn();
  selection.toggle(rows[1]);
  assert.deepEqual([store.get().op, store.get().page, scrolled], [1, 2, ["1"]]);
});

test("the selected op is left when it is chosen again, and the table stays where it is", () => {
  const { selection, store, scrolled } = selectionIn({ op: 1, page: 3 });
  selection.toggle(rows[1]);
  assert.deepEqual([store.get().op, store.get().page, scrolled], [null, 3, []]);
});

test("J and K walk in the table's order, and stop at its ends", () => {
  const { selection, store } = selectionIn();
  selection.move(1);
  assert.equal(store.get().op, 0, "without a selection they start at the first op");
  selection.move(1);
  selection.move(1);
  assert.equal(store.get().op, 1);
  selection.move(-1);
  assert.equal(store.get().op, 0);
  selection.move(-1);
  assert.equal(store.get().op, 0);
});

test("a program point is chosen and left by its label", () => {
  const { selection, store } = selectionIn();
  selection.togglePoint(programPoint({ label: "4" }));
  assert.equal(store.get().step, "4");
  selection.togglePoint(programPoint({ label: "4" }));
  assert.equal(store.get().step, null);
});

test("closing leaves both", () => {
  const { selection, store } = selectionIn({ op: 1, step: "4" });
  selection.closeOp();
  assert.deepEqual([store.get().op, store.get().step], [null, "4"]);
  selection.close();
  assert.deepEqual([store.get().op, store.get().step], [null, null]);
});

test("a click with Shift or Ctrl adds an op to the sum, the selected one first, and takes it out again", () => {
  const { selection, store } = selectionIn({ op: 0 });
  const plain = { shiftKey: false, ctrlKey: false, metaKey: false };
  selection.click(rows[1], { ...plain, shiftKey: true });
  assert.deepEqual([store.get().sel, store.get().op], [[0, 1], 0]);
  selection.click(rows[0], { ...plain, ctrlKey: true });
  assert.deepEqual(store.get().sel, [1]);
  selection.click(rows[0], plain);
  assert.deepEqual([store.get().sel, store.get().op], [[1], null]);
  selection.close();
  assert.deepEqual(store.get().sel, []);
});
