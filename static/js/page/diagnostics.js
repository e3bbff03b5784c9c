// Findings of the importer and the analysis: each with its remedy.

import { count } from "../text/format.js";
import { bySeverity, severityOf } from "../text/diagnostics.js";
import { coded, find, html, part } from "../ui/dom.js";
import { icon } from "../ui/marks.js";

/** @import { Diagnostic, Filter, Profile } from "../types/page-data.js" */

const WORDS = { error: "error", warning: "warning", info: "note" };

/**
 * @param {Diagnostic[]} diagnostics
 * @param {Pick<Profile, "format" | "limits">} profile `limits`: what its profiler cannot know
 * @param {(filter: Filter) => void} onFollow
 */
export function showDiagnostics(diagnostics, { format, limits = [] }, onFollow) {
  find(HTMLElement, "#diagnostics").hidden = diagnostics.length + limits.length === 0;
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
    html("span", { class: "remedy" }, ...coded(diagnostic.remedy ?? "")),
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
