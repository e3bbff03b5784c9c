// What the importer and the analysis noticed, counted, with what to do.

import { html, icon, part } from "../ui/dom.js";
import { count } from "../text/format.js";
import { counted } from "../text/words.js";

const ORDER = ["error", "warning", "info"];

/** @param {any} diagnostic */
const severityOf = ({ severity }) => (ORDER.includes(severity) ? severity : "info");
const WORDS = { error: "error", warning: "warning", info: "note" };

/**
 * @param {any[]} diagnostics
 * @param {{ format: string, limits?: string[] }} profile `limits`: what its profiler cannot know
 * @param {(filter: Record<string, unknown>) => void} onFollow
 */
export function showDiagnostics(diagnostics, { format, limits = [] }, onFollow) {
  const toggle = part("diagnostics-toggle");
  const panel = document.getElementById("diagnostics");
  toggle.hidden = diagnostics.length + limits.length === 0;
  const counts = ORDER.flatMap((severity) => {
    const n = diagnostics.filter((one) => severityOf(one) === severity).length;
    return n === 0
      ? []
      : [
          html(
            "span",
            { class: `n sev-${severity}` },
            icon(severity),
            `${n} ${WORDS[severity]}${n === 1 ? "" : "s"}`,
          ),
        ];
  });
  const known =
    limits.length === 0
      ? []
      : [
          html(
            "span",
            { class: "n sev-info", title: "What this profiler cannot know" },
            counted(limits.length, count(limits.length), "limit"),
          ),
        ];
  toggle.replaceChildren(...counts, ...known);
  const words = part("limits");
  words.hidden = limits.length === 0;
  words.replaceChildren(
    html("h3", {}, `What a profile of ${format} cannot know`),
    html("ul", {}, ...limits.map((limit) => html("li", {}, limit))),
  );
  toggle.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    toggle.setAttribute("aria-expanded", String(!panel.hidden));
  });
  const sorted = [...diagnostics].sort(
    (a, b) => ORDER.indexOf(severityOf(a)) - ORDER.indexOf(severityOf(b)),
  );
  part("diagnostics").replaceChildren(...sorted.map((one) => createItem(one, onFollow)));
}

function createItem(diagnostic, onFollow) {
  const severity = severityOf(diagnostic);
  return html(
    "li",
    {},
    html(
      "span",
      { class: `sev-${severity}` },
      icon(severity),
      html("span", { class: "sr" }, WORDS[severity]),
    ),
    html(
      "span",
      { class: "message" },
      diagnostic.message,
      diagnostic.count > 1
        ? html("span", { class: "times" }, ` ${count(diagnostic.count)}×`)
        : null,
    ),
    html("span", { class: "remedy" }, diagnostic.remedy ?? ""),
    diagnostic.filter
      ? html(
          "button",
          { class: "btn small", type: "button", on: { click: () => onFollow(diagnostic.filter) } },
          "Show",
        )
      : html("span"),
  );
}

/** Why there is nothing to see, from the most severe diagnostics. */
export function reasons(diagnostics) {
  return [...diagnostics]
    .sort((a, b) => ORDER.indexOf(severityOf(a)) - ORDER.indexOf(severityOf(b)))
    .slice(0, 3)
    .map((one) => [one.message, one.remedy].filter(Boolean).join(" "));
}
