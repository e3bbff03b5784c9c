import assert from "node:assert/strict";
import { test } from "node:test";

import {
  bindsId,
  boundTimeId,
  createChosenHardware,
  isSameChoice,
  viewAddress,
  withOthers,
} from "../../../static/js/state/chosen-hardware.js";
import { DEFAULTS } from "../../../static/js/state/query.js";
import { pageWith } from "../builders.js";

/** @import { Other } from "../../../static/js/types/other-devices.js" */

test("a view's address has the choice, in the words of the server", () => {
  const choice = { ...DEFAULTS, dev: "h100-sxm", peaks: { hbm: 3000, compute: 9e5 } };
  assert.equal(viewAddress("/view", DEFAULTS), "/view");
  assert.equal(
    decodeURIComponent(viewAddress("/view?host=a", choice)),
    "/view?host=a&dev=h100-sxm&peak=hbm=3000GB/s&peak=compute=900000GFLOP/s",
  );
  assert.equal(viewAddress("/view", { ...DEFAULTS, infeed: "out" }), "/view?infeed=out");
  assert.equal(viewAddress("/parts", DEFAULTS, ["t4", "l4"]), "/parts?device=t4&device=l4");
});

test("only another device, other peaks, other hardware beside and infeed ask the server", () => {
  assert.ok(isSameChoice({ ...DEFAULTS }, DEFAULTS));
  for (const change of [{ dev: "t4" }, { peaks: {} }, { vs: ["t4"] }, { infeed: "out" }])
    assert.ok(!isSameChoice(/** @type {any} */ ({ ...DEFAULTS, ...change }), DEFAULTS));
});

/** A server that answers when it is told to, and a page that asks it. */
function asked() {
  const { views, ops, ...rest } = pageWith([["matmul", "fusion", "HBM", "known", 1, 10, 100]]);
  const facts = { ...rest, ops, views };
  const program = { count: 0, columns: {} };
  /** @type {{ url: string, signal?: AbortSignal, answer: (found: any) => void, fail: (e: Error) => void }[]} */
  const requests = [];
  const hardware = createChosenHardware({
    facts: () => Promise.resolve(/** @type {any} */ (facts)),
    viewUrl: "/view",
    partsUrl: "/parts",
    devicesUrl: "/devices",
    read: (url, signal) =>
      new Promise((answer, fail) =>
        requests.push({ url, answer, fail, ...(signal ? { signal } : {}) }),
      ),
  });
  /** @param {string} label */
  const view = (label) => ({
    bounds: [{ label }],
    ops: { columns: { bound_by: [0] } },
    views: { in: { columns: {}, program }, out: { columns: {}, program } },
  });
  return { hardware, requests, view };
}

test("the newest choice wins, and requests for others are aborted", async () => {
  const { hardware, requests, view } = asked();
  const first = hardware.ask({ ...DEFAULTS, dev: "t4" });
  const second = hardware.ask({ ...DEFAULTS, dev: "l4" });
  await Promise.resolve();
  assert.equal(requests[0].signal?.aborted, true);
  requests[1].answer(view("second"));
  requests[0].answer(view("first"));
  assert.equal(await first, null);
  assert.equal((await second)?.page.bounds[0].label, "second");
  assert.equal(hardware.seen?.page.bounds[0].label, "second");
  assert.equal(hardware.own, null, "by other peaks");
});

test("a failure of the newest request is passed on, and that of an older request is not", async () => {
  const { hardware, requests, view } = asked();
  const own = hardware.ask(DEFAULTS);
  requests[0].answer(view("own"));
  assert.equal((await own)?.page, hardware.own);
  const failing = hardware.ask({ ...DEFAULTS, dev: "t4" });
  requests[1].fail(new Error("The server is busy with other profiles."));
  await assert.rejects(failing, /busy/);
  assert.equal(hardware.seen?.page.bounds[0].label, "own", "the old view stays");
  const older = hardware.ask({ ...DEFAULTS, dev: "t4" });
  const newer = hardware.ask({ ...DEFAULTS, dev: "l4" });
  requests[2].fail(new Error("aborted"));
  requests[3].answer(view("newer"));
  assert.equal(await older, null);
  assert.ok(await newer);
});

test("devices beside it are asked for with the view, and add two columns each", async () => {
  const { hardware, requests, view } = asked();
  const both = hardware.ask({ ...DEFAULTS, vs: ["t4"] });
  assert.deepEqual(
    requests.map(({ url }) => url),
    ["/view", "/parts?device=t4"],
  );
  requests[0].answer(view("HBM"));
  const line = { id: "t4", name: "T4", us: [750], bound_by: [0], notes: [] };
  requests[1].answer({ here: { name: "here" }, devices: [line] });
  const seen = await both;
  assert.equal(seen?.others[0].token, "--vs-1");
  assert.deepEqual(seen?.page.ops.columns[boundTimeId("t4")], [750]);
});

test("what binds there says what binds here, where that differs", () => {
  const page = pageWith([
    ["a", "fusion", "HBM", "known", 0.5],
    ["b", "fusion", "Compute", "known", 0.3],
    ["c", "fusion", "HBM", "known", 0.2],
  ]);
  const [here] = page.ops.columns.bound_by;
  const other = { id: "t4", name: "T4", us: [1, 2, null], bound_by: [here, here, here] };
  const found = withOthers(page, [/** @type {Other} */ (/** @type {unknown} */ (other))]);
  assert.deepEqual(found.ops.columns[bindsId("t4")], ["HBM", "HBM, here compute", null]);
  assert.equal(withOthers(page, []), page);
});
