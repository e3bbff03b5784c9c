// The rows of a comparison's table as a CSV file, every term in its own column.

import { TERM_NAMES } from "../text/compare-words.js";
import { fileName, toCsv } from "../text/csv.js";
import { saveCsv } from "../ui/save.js";

/** @import { ChangeRow } from "../types/comparison.js" */

const HEADER = [
  ...[
    "a",
    "b",
    "category",
    "path",
    "tier",
    "a_calls",
    "b_calls",
    "a_time_us",
    "b_time_us",
    "change_us",
  ],
  ...Object.keys(TERM_NAMES).map((name) => `${name}_us`),
  ...[
    "a_bound_by",
    "b_bound_by",
    "a_roofline_efficiency_ratio",
    "b_roofline_efficiency_ratio",
    "source",
  ],
];

/** @param {ChangeRow[]} rows @param {{ title: string }[][]} sides */
export function saveRows(rows, sides) {
  const name = fileName(sides[0][0].title, "to", sides[1][0].title, "comparison.csv");
  saveCsv(toCsv(HEADER, rows.map(line)), name);
}

/** @param {ChangeRow} row */
const line = ({ a, b, category, path, tier, changeUs, terms }) => [
  a?.names.join("; "),
  b?.names.join("; "),
  category,
  path,
  tier,
  a?.calls,
  b?.calls,
  a?.timeUs,
  b?.timeUs,
  changeUs,
  ...Object.keys(TERM_NAMES).map((name) => terms[name]),
  a?.bound,
  b?.bound,
  a?.efficiency,
  b?.efficiency,
  b?.source || a?.source,
];
