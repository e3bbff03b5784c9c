// The card beside the pointer: ops, program points and column help. Own elements, text only.

import { boundBadge, categoryBadge, entry, html, part } from "../ui/dom.js";
import {
  bandwidth,
  count,
  DASH,
  duration,
  flopRate,
  intensity,
  peakBandwidth,
  percent,
} from "../text/format.js";
import { rateWord } from "../text/provenance.js";
import { computeRoof } from "../chart/roofs.js";
import { AT_BEST, placeSentence, programName } from "../text/words.js";

const DISTANCE = 16; // from the pointer
const MARGIN = 8; // from the window's edge

/**
 * What the sentences and the card need of one op.
 * @param {import("../state/model.js").Model} model
 * @param {import("../state/model.js").View} view
 * @param {import("../state/model.js").Row} row
 */
export function opFacts(model, view, row) {
  const get = (id) => view.reader(id)(row);
  return {
    get,
    category: model.categories[row.category],
    sentence: placeSentence({
      cost: row.cost,
      coreWord: model.coreWord,
      bound: model.bounds[row.bound],
      efficiency: get("roofline_efficiency_ratio"),
      computeEfficiency: get("compute_efficiency_ratio"),
      savingUs: get("saving_per_core_us"),
      savingShare: get("saving_share_ratio"),
      timing: row.timing,
    }),
  };
}

/** Level, bandwidth and intensity of every memory that has either. */
export function memoryTable(model, get) {
  const row = (label, rate, ratio) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, label),
      html("td", {}, bandwidth(rate)),
      html("td", {}, intensity(ratio)),
    );
  const levels = model.levels.filter(
    ({ id }) => get(`${id}_bandwidth_gibs`) !== null || get(`${id}_intensity`) !== null,
  );
  return html(
    "table",
    { class: "memory" },
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        html("th", { scope: "col" }, "Memory"),
        html(
          "th",
          { scope: "col" },
          ["bandwidth", rateWord(model.profile.provenance, "memory_bandwidth_gibs")]
            .filter(Boolean)
            .join(", "),
        ),
        html("th", { scope: "col" }, "intensity"),
      ),
    ),
    html(
      "tbody",
      {},
      row("all levels", get("memory_bandwidth_gibs"), get("operational_intensity")),
      ...levels.map(({ id, label }) =>
        row(label, get(`${id}_bandwidth_gibs`), get(`${id}_intensity`)),
      ),
      row("bottleneck", null, get("bottleneck_intensity")),
    ),
  );
}

/** "peak", or whose peak: "Tensor core bf16 peak" where work is split by compute unit. */
export function peakName(model, unit) {
  return unit === null || unit === undefined
    ? "peak"
    : `${computeRoof(model, unit)?.label ?? ""} peak`.trimStart();
}

/** The least time of an op on each device compared with, and what binds there where that differs. */
function otherBounds({ others, bounds }, { op, bound }) {
  if (others.length === 0) return [];
  const text = ({ us, bound: there }) =>
    [
      duration(us[op]),
      us[op] !== null && there[op] !== bound ? `${bounds[there[op]].label}-bound` : "",
    ]
      .filter(Boolean)
      .join(" · ");
  return [
    html(
      "dl",
      { class: "others" },
      ...others.flatMap((other) => entry(`At least on ${other.name}`, text(other))),
    ),
  ];
}

/** Several numbers on one line; missing ones are left out, nothing at all is "–". */
export const joined = (...parts) =>
  parts.filter((text) => text !== null && !text.startsWith(DASH)).join(" · ") || DASH;

/** @param {import("../state/model.js").Model} model */
export function createHoverCard(model) {
  const card = part("hover-card");
  const rateLabel = ["FLOP rate", rateWord(model.profile.provenance, "flop_rate_gflops")]
    .filter(Boolean)
    .join(", ");

  function put(event, ...content) {
    card.replaceChildren(...content.filter(Boolean));
    card.hidden = false;
    follow(event.clientX, event.clientY);
  }

  function follow(x, y) {
    const { width, height } = card.getBoundingClientRect();
    const left = x + DISTANCE + width > innerWidth - MARGIN ? x - width - DISTANCE : x + DISTANCE;
    const top = Math.min(y + DISTANCE, innerHeight - height - MARGIN);
    card.style.left = `${Math.max(MARGIN, left)}px`;
    card.style.top = `${Math.max(MARGIN, top)}px`;
  }

  return {
    hide() {
      card.hidden = true;
    },
    /** @param {import("../state/model.js").View} view @param {import("../state/model.js").Row} row @param {PointerEvent} event */
    showOp(view, row, event) {
      const { get, category, sentence } = opFacts(model, view, row);
      const program =
        [...new Set([get("program"), get("program_id")])].filter(Boolean).join(" · ") || DASH;
      put(
        event,
        html("div", { class: "name" }, row.name),
        html(
          "div",
          { class: "badges" },
          categoryBadge(category),
          boundBadge(model.bounds[row.bound]),
          html("span", {}, `rank ${count(get("rank"))}`),
        ),
        html(
          "dl",
          {},
          ...entry(
            `Self time per ${model.coreWord}`,
            joined(duration(get("self_time_per_core_us")), percent(row.share)),
          ),
          ...entry(
            `Total time per ${model.coreWord}`,
            joined(duration(get("total_time_per_core_us")), percent(get("total_share_ratio"))),
          ),
          ...entry(
            "Occurrences",
            joined(count(get("occurrences")), `${duration(get("avg_self_time_us"))} each`),
          ),
          ...entry(
            rateLabel,
            joined(
              `${flopRate(get("flop_rate_gflops"))}${row.timing === "predicted" ? ` ${AT_BEST}` : ""}`,
              `${percent(get("compute_efficiency_ratio"))} of ${peakName(model, get("compute_unit"))}`,
            ),
          ),
          ...entry("FLOP rate, model", flopRate(get("model_flop_rate_gflops"))),
          ...entry("Program", program),
        ),
        memoryTable(model, get),
        ...otherBounds(model, row),
        html("div", { class: "sentence" }, sentence),
      );
    },
    /** @param {any} point @param {PointerEvent} event */
    showProgram(point, event) {
      const get = (id) => point[id] ?? null;
      const bound = model.bounds[point.bound_by];
      put(
        event,
        html("div", { class: "name" }, programName(point)),
        html(
          "div",
          { class: "badges" },
          bound ? boundBadge(bound) : null,
          point.is_outlier
            ? html("span", { class: "sev-warning" }, "unlike the other steps")
            : null,
        ),
        html(
          "dl",
          {},
          ...entry(`Time per ${model.coreWord}`, duration(get("total_time_per_core_us"))),
          ...entry(
            rateLabel,
            joined(
              flopRate(get("flop_rate_gflops")),
              `${percent(get("compute_efficiency_ratio"))} of ${peakName(model, get("compute_unit"))}`,
            ),
          ),
          ...entry("FLOP rate, model", flopRate(get("model_flop_rate_gflops"))),
          ...entry("Attainable", flopRate(get("attainable_gflops"))),
          ...entry("Share of roof", percent(get("roofline_efficiency_ratio"))),
        ),
        memoryTable(model, get),
      );
    },
    /** @param {{ roof: import("../chart/roofs.js").MemoryRoof, x: number, y: number }} ridge @param {PointerEvent} event */
    showRidge({ roof, x, y }, event) {
      put(
        event,
        html("div", { class: "title" }, `Ridge point of ${roof.label}`),
        html(
          "dl",
          {},
          ...entry("Intensity", intensity(10 ** x)),
          ...entry("FLOP rate", flopRate(10 ** y, 4)),
          ...entry("Bandwidth", peakBandwidth(roof.gibs)),
        ),
        html(
          "div",
          { class: "sentence" },
          `With fewer FLOPs per byte ${roof.label} is the limit, with more it is compute.`,
        ),
      );
    },
    /** @param {{ label: string, sub: string, help: string }} column @param {HTMLElement} anchor */
    showHelp(column, anchor) {
      if (!column.help) return;
      card.replaceChildren(
        html("div", { class: "title" }, [column.label, column.sub].filter(Boolean).join(", ")),
        html("p", {}, column.help),
      );
      card.hidden = false;
      const frame = anchor.getBoundingClientRect();
      const { height } = card.getBoundingClientRect();
      const above = frame.top - height - MARGIN;
      card.style.left = `${Math.max(MARGIN, Math.min(frame.left, innerWidth - card.offsetWidth - MARGIN))}px`;
      card.style.top = `${above > MARGIN ? above : frame.bottom + MARGIN}px`;
    },
  };
}
