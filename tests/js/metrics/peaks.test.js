import assert from "node:assert/strict";
import { test } from "node:test";

import { chosenRoofs, isWhatIf, keyOf, parseAmount } from "../../../static/js/metrics/peaks.js";
import { knownBandwidth, knownDevice, knownRate, pageWith, SOURCES, there } from "../builders.js";

/** @import { Choice } from "../../../static/js/metrics/peaks.js" */

const DEVICES = {
  sources: SOURCES,
  devices: [
    knownDevice("big", {
      name: "Big",
      compute: [knownRate("matrix_bf16", 400_000), knownRate("vector_fp32", 20_000)],
      memory: [knownBandwidth("dram", 2000, "as sold"), knownBandwidth("l2", 9000)],
    }),
  ],
};
/** @param {Partial<Choice>} choice */
const choose = (choice) =>
  chosenRoofs(pageWith([["a", "fusion", "HBM", "known", 1, 5, 2]]), DEVICES, {
    dev: null,
    peaks: {},
    ...choice,
  });

test("amounts are read as people write them", () => {
  assert.equal(parseAmount("1.2 TB/s", "gbs"), 1200);
  assert.equal(parseAmount("1555 GB/s", "gbs"), 1555);
  assert.equal(parseAmount("1,555 gb/s", "gbs"), 1555);
  assert.equal(parseAmount("1,2 TB/s", "gbs"), 1200);
  assert.equal(parseAmount("1 GiB/s", "gbs"), 1.073741824);
  assert.equal(parseAmount("989 TFLOP/s", "gflops"), 989_000);
  assert.equal(parseAmount("2.1PFLOPS", "gflops"), 2_100_000);
  assert.equal(parseAmount("1e3", "gbs"), 1000);
  assert.equal(parseAmount("1.555,2 GB/s", "gbs"), 1555.2);
  assert.equal(parseAmount("1,555.2 GB/s", "gbs"), 1555.2);
  assert.equal(parseAmount("0,125 TB/s", "gbs"), 125);
  assert.equal(parseAmount("1'638 GB/s", "gbs"), 1638);
  assert.equal(parseAmount("1\u202f638\u00a0GB/s", "gbs"), 1638);
});

test("anything but a positive amount of the right kind is refused", () => {
  for (const text of [
    "",
    "fast",
    "-3 GB/s",
    "0",
    "989 TFLOP/s",
    "12 parsecs",
    "1.2.3 TB/s",
    "1e300 GB/s",
  ])
    assert.equal(parseAmount(text, "gbs"), null, text);
  assert.equal(parseAmount("3 TB/s", "gflops"), null);
});

test("another device's main memory stands where the profile has its own", () => {
  const { roofs, device, unknown } = choose({ dev: "big" });
  assert.equal(there(device).name, "Big");
  assert.deepEqual(unknown, []);
  assert.deepEqual(
    roofs.memory.map(({ id, gbs, origin, source }) => [id, gbs, origin, source]),
    [["hbm", 2000, "catalogue", "Big. A data sheet. as sold"]],
  );
  assert.deepEqual(
    roofs.compute.map(({ id, dash }) => [id, dash]),
    [
      ["matrix_bf16", "solid"],
      ["vector_fp32", "dash"],
    ],
  );
});

test("single peaks replace those of the device, and say that they were set", () => {
  const { roofs } = choose({ dev: "big", peaks: { compute: 1000, hbm: 50 } });
  assert.deepEqual(
    [roofs.compute[0].gflops, roofs.compute[0].origin, roofs.compute[1].origin],
    [1000, "user", "catalogue"],
  );
  assert.deepEqual([roofs.memory[0].gbs, roofs.memory[0].origin], [50, "user"]);
  assert.deepEqual(
    roofs.compute.map((roof) => keyOf(roofs, roof)),
    ["compute", "vector_fp32"],
  );
  assert.equal(keyOf(roofs, roofs.memory[0]), "hbm");
});

test("unknown devices and peaks are named and change nothing", () => {
  const { roofs, unknown } = choose({ dev: "gone", peaks: { lds: 3, matrix_int4: 1 } });
  assert.deepEqual(unknown, ["gone", "lds", "matrix_int4"]);
  assert.equal(roofs.compute[0].id, "peak");
});

test("without a choice there is no what-if", () => {
  assert.equal(isWhatIf({ dev: null, peaks: {} }), false);
  assert.equal(isWhatIf({ dev: null, peaks: { hbm: 1 } }), true);
});
