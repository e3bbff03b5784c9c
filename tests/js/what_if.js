// Standard input: `{ page, devices, choice }`; standard output: the page under the chosen peaks. For the test that
// holds the browser's arithmetic against the analysis.

import { readFileSync } from "node:fs";

import { chosenRoofs } from "../../static/js/metrics/peaks.js";
import { unpacked } from "../../static/js/state/model.js";
import { withRoofs } from "../../static/js/metrics/whatif.js";

const { page: sent, devices, choice } = JSON.parse(readFileSync(0, "utf-8"));
const page = unpacked(sent);
const { roofs, unknown } = chosenRoofs(page, devices, choice);
process.stdout.write(JSON.stringify({ page: withRoofs(page, roofs), unknown }));
