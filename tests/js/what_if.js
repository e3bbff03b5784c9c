// Standard input: `{ page, devices, choices }`; standard output: the page under each choice of peaks, one after the
// other. For the test that holds the browser's arithmetic against the analysis.

import { readFileSync } from "node:fs";

import { chosenRoofs } from "../../static/js/metrics/peaks.js";
import { unpacked } from "../../static/js/state/model.js";
import { withRoofs } from "../../static/js/metrics/whatif.js";

const { page: sent, devices, choices } = JSON.parse(readFileSync(0, "utf-8"));
const page = unpacked(sent);
/** @param {Parameters<typeof chosenRoofs>[2]} choice */
const under = (choice) => {
  const { roofs, unknown } = chosenRoofs(page, devices, choice);
  return { page: withRoofs(page, roofs), unknown };
};
process.stdout.write(JSON.stringify(choices.map(under)));
