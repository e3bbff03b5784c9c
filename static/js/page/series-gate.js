// The gate of a series: the card that says what the chosen run broke.

import { html, part } from "../ui/dom.js";

/**
 * @typedef {{ rule: string, state: string, level: string, base: string, new: string, change: string, limit: string }} RuleRow
 * @typedef {{ id: string, base_id: string | null, rules: RuleRow[], lines: string[] }} Check
 */

/** What a rule says of a run. @type {Record<string, { words: string, tone: string } | undefined>} */
const STATES = {
  passed: { words: "passed", tone: "good" },
  better: { words: "better", tone: "good" },
  broken: { words: "failed", tone: "bad" },
  accepted: { words: "accepted", tone: "warn" },
  inconclusive: { words: "unclear", tone: "warn" },
};
const UNTESTED = { words: "not tested", tone: "muted" };

/**
 * The card of a run: rules, what grew where, and where to go from here.
 * @param {HTMLElement} mark of the run @param {number} number of the run, from 1 @param {string} checkUrl
 */
export async function showGate({ dataset: run }, number, checkUrl) {
  const card = part("gate");
  card.dataset.run = run.run;
  part("gate-run").textContent = `Run ${number}`;
  const state = part("gate-state");
  state.textContent = run.words ?? "";
  state.className = `gate-state ${run.tone}`;
  part("gate-numbers").textContent = run.said ?? "";
  const profile = html("a", { href: run.url }, "Open the profile");
  const compared = html("a", { href: run.compareUrl }, "Compare with its base");
  part("gate-links").replaceChildren(...(run.compareUrl ? [compared, " · "] : []), profile);
  const rules = part("gate-rules");
  const lines = part("gate-lines");
  rules.replaceChildren();
  lines.replaceChildren();
  if (!run.compareUrl) {
    lines.append(html("li", {}, "The runs after it are held against it."));
    return;
  }
  const found = await read(`${checkUrl}&run=${encodeURIComponent(run.run ?? "")}`);
  if (card.dataset.run !== run.run) return; // another run was chosen meanwhile
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

/** @param {RuleRow} row */
function ruleRow({ rule, state, level, base, new: now, change, limit }) {
  const { words, tone } = STATES[state] ?? UNTESTED;
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
