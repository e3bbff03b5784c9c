// Findings of the importer and the analysis: their counts, and each with its remedy.

import { count } from "../text/format.js";
import { bySeverity, SEVERITIES, severityOf } from "../text/diagnostics.js";
import { counted } from "../text/words.js";
import { find, html, part } from "../ui/dom.js";
import { icon } from "../ui/marks.js";

/** @import { Diagnostic, Filter, Profile } from "../types/page-data.js" */

const WORDS = { error: "error", warning: "warning", info: "note" };

/**
 * @param {Diagnostic[]} diagnostics
 * @param {Pick<Profile, "format" | "limits">} profile `limits`: what its profiler cannot know
 * @param {(filter: Filter) => void} onFollow
 */
export function showDiagnostics(diagnostics, { format, limits = [] }, onFollow) {
  const toggle = part("diagnostics-toggle");
  const panel = find(HTMLElement, "#diagnostics");
  toggle.hidden = diagnostics.length + limits.length === 0;
  toggle.replaceChildren(...severityCounts(diagnostics), ...limitCount(limits));
  toggle.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    toggle.setAttribute("aria-expanded", String(!panel.hidden));
  });
  const words = part("limits");
  words.hidden = limits.length === 0;
  words.replaceChildren(
    html("h3", {}, `What a profile of ${format} cannot know`),
    html("ul", {}, ...limits.map((limit) => html("li", {}, limit))),
  );
  part("diagnostics").replaceChildren(
    ...bySeverity(diagnostics).map((one) => createItem(one, onFollow)),
  );
}

/** @param {Diagnostic[]} diagnostics */
const severityCounts = (diagnostics) =>
  SEVERITIES.flatMap((severity) => {
    const n = diagnostics.filter((one) => severityOf(one) === severity).length;
    const text = `${n} ${WORDS[severity]}${n === 1 ? "" : "s"}`;
    return n === 0 ? [] : [html("span", { class: `n sev-${severity}` }, icon(severity), text)];
  });

/** @param {string[]} limits */
function limitCount({ length }) {
  if (length === 0) return [];
  const text = counted(length, count(length), "limit");
  return [html("span", { class: "n sev-info", title: "What this profiler cannot know" }, text)];
}

/** @param {Diagnostic} diagnostic @param {(filter: Filter) => void} onFollow */
function createItem(diagnostic, onFollow) {
  const severity = severityOf(diagnostic);
  const word = html("span", { class: "sr" }, WORDS[severity]);
  const times = html("span", { class: "times" }, ` ${count(diagnostic.count)}×`);
  const message = [diagnostic.message, diagnostic.count > 1 ? times : null];
  return html(
    "li",
    {},
    html("span", { class: `sev-${severity}` }, icon(severity), word),
    html("span", { class: "message" }, ...message),
    html("span", { class: "remedy" }, diagnostic.remedy ?? ""),
    diagnostic.filter ? showButton(diagnostic.filter, onFollow) : html("span"),
  );
}

/** @param {Filter} filter @param {(filter: Filter) => void} onFollow */
const showButton = (filter, onFollow) =>
  html(
    "button",
    { class: "btn small", type: "button", on: { click: () => onFollow(filter) } },
    "Show",
  );
