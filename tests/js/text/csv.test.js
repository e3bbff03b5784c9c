import assert from "node:assert/strict";
import { test } from "node:test";

import { csvCell, fileName, toCsv } from "../../../static/js/text/csv.js";

test("text that a spreadsheet would run gets an apostrophe", () => {
  for (const start of ["=", "+", "-", "@", "\t", "\r"])
    assert.match(csvCell(`${start}cmd`), /^"?'/);
  assert.equal(csvCell('=HYPERLINK("http://x")'), `"'=HYPERLINK(""http://x"")"`);
});

test("numbers stay numbers, also negative ones", () => {
  assert.equal(csvCell(-1.5), "-1.5");
  assert.equal(csvCell(0), "0");
  assert.equal(csvCell(null), "");
  assert.equal(csvCell(true), "true");
});

test("commas, quotes and line breaks are quoted", () => {
  assert.equal(
    toCsv(
      ["a", "b"],
      [
        ["x,y", 'say "hi"'],
        ["two\nlines", 1],
      ],
    ),
    'a,b\r\n"x,y","say ""hi"""\r\n"two\nlines",1\r\n',
  );
});

test("file names hold no path and no markup", () => {
  assert.equal(fileName("../../etc/<b>", "x.csv"), "etc-b-x.csv");
  assert.equal(fileName("日本"), "roofline");
});
