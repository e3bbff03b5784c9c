// The content of the drawer: all numbers of an op, its places on small rooflines, its origin.

import { logPlace } from "../state/places.js";
import { percent } from "../text/format.js";
import { transferFacts } from "../text/link-words.js";
import {
  computeFacts,
  opReader,
  opSentence,
  originFacts,
  timeFacts,
  withoutPlace,
} from "../text/op-facts.js";
import { groupText, shapeLines } from "../text/op-shapes.js";
import { boundWord } from "../text/words.js";
import { copyWithFeedback } from "../ui/clipboard.js";
import { html } from "../ui/dom.js";
import { boundBadge, categoryBadge } from "../ui/marks.js";
import { factList, memoryTable } from "./hover-card.js";
import { launchContent } from "./launches.js";
import { ceilingContent, clockContent } from "./op-bars.js";

/** @import { OpDetails } from "../types/page-data.js" */
/** @import { Level, Model, Row, View } from "../types/model.js" */
/** @import { Fact, Get } from "../text/op-facts.js" */

/** @param {string} text */
const title = (text) => html("h3", {}, text);
/** @param {readonly Fact[]} facts */
const list = (facts) => factList(facts, "facts");

/** @param {Model} model @param {View} view @param {Row} row */
export function opDetails(model, view, row) {
  const get = opReader(view, row);
  return [
    html("p", { class: "op-name" }, html("bdi", {}, row.name)),
    html(
      "div",
      { class: "badges" },
      categoryBadge(model.categories[row.category]),
      boundBadge(
        model.bounds[row.bound],
        boundWord(model.words, model.bounds[row.bound], row.cost),
      ),
    ),
    html("p", { class: "muted", "data-hidden-note": true, hidden: true }, "Hidden by the filters."),
    html("p", { class: "say" }, opSentence(model, view, row)),
    ...withoutPlaceContent(model, row, get),
    title(`Time per ${model.coreWord}`),
    list(timeFacts(row, get)),
    ...clockContent(model, row, get),
    ...transferContent(model, row, get),
    title("Compute"),
    list(computeFacts(model, row, get)),
    title("Memory"),
    memoryTable(model, get),
    list([["Busiest memory", `${percent(get("memory_utilisation_ratio"))} of its peak`]]),
    title("Origin"),
    list(originFacts(get)),
  ];
}

/** @param {Model} model @param {Row} row @param {Get} get */
function transferContent(model, row, get) {
  const facts = transferFacts(model, row, get);
  return facts.length > 0 ? [title("Over its link"), list(facts)] : [];
}

/**
 * Why the chart has no mark of the op: else it has, below the op's own ceilings.
 * @param {Model} model
 * @param {Row} row
 * @param {Get} get
 */
function withoutPlaceContent(model, row, get) {
  const rate = get("flop_rate_gflops");
  if (model.levels.some(({ columns, roof }) => roof && logPlace(get(columns.intensity), rate)))
    return [];
  return [
    title("Place on the roofline"),
    html("p", { class: "muted" }, withoutPlace(model, row, get)),
  ];
}

/**
 * Range of the compute roof, path, shapes, stack, long name and launches, as the server tells them.
 * @param {OpDetails} found
 * @param {Level[]} levels
 */
export function originDetails(found, levels) {
  const stack = (found.source_stack ?? []).map((line) => html("li", {}, line));
  const parts = [
    ...section("Compute unit", found.compute_range),
    ...section("FLOPs and bytes", found.counted),
    ...section("Framework path", found.path),
    ...shapeContent(found),
    ...section("Replica groups", groupText(found)),
    ...(stack.length > 0
      ? [html("h4", {}, "Stack"), html("ol", { class: "stack-lines" }, ...stack)]
      : []),
    ...section("Long name", found.long_name),
    ...replayContent(found.replay),
  ];
  const none = html("p", { class: "muted" }, "Long name and stack are not in this profile.");
  const known = parts.length > 0 ? parts : [none];
  return [...known, ...ceilingContent(found), ...launchContent(found, levels)];
}

/** The command that runs the op alone, where the device is. @param {string} [op] its words for the op */
function replayContent(op) {
  if (!op) return [];
  const files = document.querySelector("main")?.dataset.replayOf;
  const command = `roofline replay ${files ?? location.origin + location.pathname} ${op}`;
  const copy = html("button", { class: "btn small", type: "button" }, "Copy command");
  copy.addEventListener("click", () => copyWithFeedback(copy, command));
  return [...section("Run it alone", command), copy];
}

/** @param {string} title @param {string} [text] */
function section(title, text) {
  return text ? [html("h4", {}, title), html("pre", { class: "long-name" }, text)] : [];
}

/**
 * One line per operand, with the op that made it, and one per result.
 * @param {OpDetails} found
 */
function shapeContent(found) {
  const [lines, dtypes] = [shapeLines(found), found.dtypes ?? []];
  if (lines.length === 0) return [];
  const types = dtypes.length > 0 ? ` (${dtypes.join(", ")})` : "";
  const rows = lines.map((line) => html("li", {}, line));
  return [html("h4", {}, `Shapes${types}`), html("ul", { class: "stack-lines" }, ...rows)];
}
