import assert from "node:assert/strict";
import { test } from "node:test";

import { viewerAddress } from "../../../static/js/text/viewer-address.js";

const opened = { from: 1500, to: 20_000, host: "t1v & co" };

test("a range and a host are filled in", () => {
  assert.equal(
    viewerAddress(" localhost:6006/?host={host}#t={from_ms}-{to_ms} ", opened),
    "http://localhost:6006/?host=t1v%20%26%20co#t=1.5-20",
  );
  assert.equal(
    viewerAddress("https://ui.perfetto.dev/#!/?visStart={from_ns}&visEnd={to_ns}", opened),
    "https://ui.perfetto.dev/#!/?visStart=1500000&visEnd=20000000",
  );
});

test("only addresses of the web are opened", () => {
  for (const text of [
    "",
    "  ",
    "javascript:alert(1)",
    "javascript://x%0aalert(1)",
    "file:///etc",
    "data:,x",
    "http://",
  ])
    assert.equal(viewerAddress(text, opened), null, text);
});
