// The gate of a series: a mark for each run, and the card that says what the chosen run broke.

import { dateTime, duration } from "../text/format.js";
import { html, part, svg } from "../ui/dom.js";

/**
 * @import { SeriesRun } from "../chart/series-places.js"
 * @typedef {{ rule: string, state: string, level: string, base: string, new: string, change: string, limit: string }} RuleRow
 * @typedef {{ id: string, base_id: string | null, rules: RuleRow[], lines: string[] }} Check
 */

/** @type {Record<string, { mark: string, words: string, tone: string }>} */
const STATES = {
  base: { mark: "M-4 0H4M0 -4V4", words: "first of the series", tone: "muted" },
  passed: { mark: "M-4 0L-1 3L4 -4", words: "passed", tone: "good" },
  better: { mark: "M-4 0L-1 3L4 -4", words: "better", tone: "good" },
  broken: { mark: "M-4 -4L4 4M4 -4L-4 4", words: "failed", tone: "bad" },
  accepted: { mark: "M0 -5L5 4H-5ZM0 -2V1", words: "accepted", tone: "warn" },
  inconclusive: { mark: "M-4 0H4", words: "unclear", tone: "warn" },
  untested: { mark: "M-3 0H3", words: "not tested", tone: "muted" },
};

/** @param {string} state */
const shown = (state) => STATES[state] ?? STATES.untested;

/** @param {SeriesRun} run */
export function gateWords({ gate, accepted_until: until }) {
  const { words } = shown(gate);
  return gate === "accepted" ? `${words} until ${until}` : words;
}

/**
 * A run's mark under the panels; it chooses the run.
 * @param {SeriesRun} run @param {number} x @param {number} y pixels
 * @param {boolean} isChosen @param {() => void} choose
 */
export function gateMark(run, x, y, isChosen, choose) {
  const said = `${run.title}, ${dateTime(run.created_at)}. Gate: ${gateWords(run)}`;
  const mark = svg(
    "g",
    {
      class: `gate-mark ${shown(run.gate).tone}`,
      role: "button",
      tabindex: isChosen ? 0 : -1,
      "aria-pressed": String(isChosen),
      "aria-label": said,
      "data-run": run.id,
      transform: `translate(${x} ${y})`,
    },
    svg("title", {}, said),
    svg("circle", { class: "reach", r: 12 }),
    svg("path", { d: shown(run.gate).mark }),
  );
  mark.addEventListener("click", choose);
  return mark;
}

/**
 * The card of a run: rules, what grew where, and where to go from here.
 * @param {SeriesRun} run @param {readonly SeriesRun[]} runs @param {string} checkUrl
 */
export async function showGate(run, runs, checkUrl) {
  const card = part("gate");
  card.dataset.run = run.id;
  part("gate-run").textContent = `Run ${runs.indexOf(run) + 1}`;
  const state = part("gate-state");
  state.textContent = gateWords(run);
  state.className = `gate-state ${shown(run.gate).tone}`;
  part("gate-numbers").textContent =
    `${run.title}, ${dateTime(run.created_at)}: time ${duration(run.time_us)}, roof time ${duration(run.roof_us)}`;
  part("gate-links").replaceChildren(...links(run));
  const rules = part("gate-rules");
  const lines = part("gate-lines");
  rules.replaceChildren();
  lines.replaceChildren();
  if (run.base_id === null) {
    lines.append(html("li", {}, "The runs after it are held against it."));
    return;
  }
  const found = await read(`${checkUrl}&run=${encodeURIComponent(run.id)}`);
  if (card.dataset.run !== run.id) return; // another run was chosen meanwhile
  rules.replaceChildren(...found.rules.map(ruleRow));
  lines.replaceChildren(...found.lines.map((line) => html("li", {}, line)));
}

/** @param {string} url @returns {Promise<Check>} */
async function read(url) {
  const failed = { id: "", base_id: null, rules: [], lines: ["The rules could not be read."] };
  try {
    const response = await fetch(url);
    return response.ok ? await response.json() : failed;
  } catch {
    return failed;
  }
}

/** @param {SeriesRun} run */
function links(run) {
  const profile = html("a", { href: run.url }, "Open the profile");
  if (run.base_id === null) return [profile];
  const address = `/c/${encodeURIComponent(run.base_id)}..${encodeURIComponent(run.id)}`;
  return [html("a", { href: address }, "Compare with its base"), " · ", profile];
}

/** @param {RuleRow} row */
function ruleRow({ rule, state, level, base, new: now, change, limit }) {
  const { words, tone } = shown(state);
  const isWarning = state === "broken" && level === "warn";
  return html(
    "tr",
    {},
    html(
      "th",
      { scope: "row" },
      rule.replace(/^exact\./, ""),
      html("small", { class: isWarning ? "warn" : tone }, isWarning ? "warning" : words),
    ),
    ...[base, now, change, limit].map((text) => html("td", {}, text)),
  );
}
