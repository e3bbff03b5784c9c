// The sentences at the top: the server sends them cut into segments, with raw numbers.

import { countsText } from "../text/provenance.js";
import { segmentText, withWholeLinks } from "../text/sentences.js";
import { coded, html, part } from "../ui/dom.js";

/** @import { Filter, Lines, Provenance, Segment } from "../types/page-data.js" */

/** @param {Segment} segment @param {(filter: Filter) => void} onFollow */
function segmentNode(segment, onFollow) {
  const { kind, token, filter, quantity, raw } = segment;
  const text = segmentText(segment);
  if (quantity !== undefined) return html("data", { "data-q": quantity, value: String(raw) }, text);
  switch (kind) {
    case "strong":
      return html("b", {}, text);
    case "caution":
      return html("span", { class: "caution" }, text);
    case "bound":
      return html(
        "span",
        { class: "bound-word", vars: token ? { color: `var(${token})` } : {} },
        text,
      );
    case "link": {
      if (!filter) return text;
      const on = { click: () => onFollow(filter) };
      return html("button", { class: "linkish", type: "button", on }, text);
    }
    default:
      return coded(text);
  }
}

/**
 * @param {Lines} lines
 * @param {Provenance | undefined} provenance of FLOPs and bytes; undefined where none are known
 * @param {(filter: Filter) => void} onFollow
 */
export function showVerdict({ headline, do_first: first, lead }, provenance, onFollow) {
  /** @param {Segment[]} segments */
  const nodes = (segments) =>
    withWholeLinks(segments).flatMap((segment) => segmentNode(segment, onFollow));
  part("headline").replaceChildren(...nodes(headline));
  part("do-first").replaceChildren(...nodes(first));
  part("do-first").hidden = first.length === 0;
  part("lead").replaceChildren(...nodes(lead.slice(first.length)));
  part("counts").textContent = countsText(provenance)?.meaning ?? "";
}
