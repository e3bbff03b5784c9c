// The sentence at the top, computed by the server and cut into segments where the style changes.

import { html, part } from "../ui/dom.js";
import { countsText } from "../text/provenance.js";

/**
 * @param {any[]} segments
 * @param {(filter: Record<string, unknown>) => void} onFollow
 */
export function segmentNodes(segments, onFollow) {
  return segments.map(({ text, style, token, filter }) => {
    switch (style) {
      case "strong":
        return html("b", {}, text);
      case "caution":
        return html("span", { class: "caution" }, text);
      case "bound": {
        const word = html("span", {}, text);
        if (token) word.style.color = `var(${token})`;
        return word;
      }
      case "link":
        return filter
          ? html(
              "button",
              { class: "linkish", type: "button", on: { click: () => onFollow(filter) } },
              text,
            )
          : text;
      default:
        return text;
    }
  });
}

/**
 * @param {{ headline: any[], lead: any[] }} verdict
 * @param {import("../types/page-data.js").Provenance | undefined} provenance of FLOPs and bytes; undefined where none are known
 * @param {(filter: Record<string, unknown>) => void} onFollow
 */
export function showVerdict(verdict, provenance, onFollow) {
  part("headline").replaceChildren(...segmentNodes(verdict.headline, onFollow));
  const counts = countsText(provenance);
  const tag = counts
    ? [" ", html("span", { class: "origin", title: counts.meaning }, counts.text)]
    : [];
  part("lead").replaceChildren(...segmentNodes(verdict.lead, onFollow), ...tag);
}
