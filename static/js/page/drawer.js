// Details of the selected op, over the right column.

import { boundBadge, categoryBadge, entry, html, part } from "../ui/dom.js";
import { bandwidth, count, duration, flopRate, percent } from "../text/format.js";
import { joined, memoryTable, opFacts, peakName } from "./hover-card.js";
import { AT_BEST } from "../text/words.js";
import { launchContent } from "./launches.js";
import { miniRoofline } from "../chart/mini-roofline.js";
import { logPlace } from "../chart/points.js";
import { rateWord } from "../text/provenance.js";
import { computeRoof } from "../chart/roofs.js";

/**
 * @param {object} options
 * @param {import("../state/model.js").Model} options.model
 * @param {string} options.opsUrl
 * @param {() => void} options.onClose
 * @param {(step: number) => void} options.onMove
 */
export function createDrawer({ model, opsUrl, onClose, onMove }) {
  const drawer = document.getElementById("drawer");
  const body = part("drawer-body");
  const zone = part("zone");
  const filters = part("filters");
  /** @type {Map<number, Promise<any>>} details already asked for */
  const details = new Map();
  let current = null;

  part("drawer-close").addEventListener("click", onClose);
  for (const button of drawer.querySelectorAll("[data-drawer-by]")) {
    button.addEventListener("click", () => onMove(Number(button.dataset.drawerBy)));
  }
  addEventListener("scroll", dock, { passive: true });
  addEventListener("resize", dock);

  /** Its top follows the charts, so that result count and Clear stay in sight. */
  function dock() {
    if (drawer.hidden) return;
    const top = Math.max(zone.getBoundingClientRect().top, filters.getBoundingClientRect().bottom);
    drawer.style.setProperty("--top", `${Math.round(top)}px`);
  }

  function fetchDetails(op) {
    if (!details.has(op)) {
      details.set(
        op,
        fetch(`${opsUrl}/${op}`).then((response) => {
          if (!response.ok) throw new Error(String(response.status));
          return response.json();
        }),
      );
      // A failure is asked again the next time the op is opened.
      details.get(op).catch(() => details.delete(op));
    }
    return details.get(op);
  }

  async function fillOrigin(row, target) {
    try {
      const found = await fetchDetails(row.op);
      if (current === row.op)
        target.replaceChildren(...originContent(found), ...launchContent(found, model.levels));
    } catch {
      if (current === row.op)
        target.replaceChildren(
          html(
            "p",
            { class: "muted" },
            "The server did not answer; the numbers above are complete.",
          ),
        );
    }
  }

  return {
    dock,
    /** The numbers have changed: the open op is written anew. */
    forget() {
      current = null;
    },
    /**
     * @param {import("../state/model.js").View} view
     * @param {import("../state/model.js").Row | null} row
     * @param {{ hidden: boolean }} status `hidden`: a filter hides the op
     */
    show(view, row, { hidden }) {
      drawer.hidden = row === null;
      document.body.classList.toggle("with-drawer", row !== null);
      if (row === null) {
        current = null;
        return;
      }
      dock();
      if (current === row.op) {
        body.querySelector("[data-hidden-note]").hidden = !hidden;
        return;
      }
      current = row.op;
      const { get } = opFacts(model, view, row);
      part("drawer-place").textContent =
        `Operation ${count(get("rank"))} of ${count(view.rows.length)} by self time`;
      const origin = html(
        "div",
        { class: "origin-details" },
        html("p", { class: "muted" }, "Loading…"),
      );
      body.replaceChildren(
        ...content(model, view, row, hidden),
        html("h3", {}, "Origin"),
        originFacts(get),
        origin,
      );
      body.scrollTop = 0;
      fillOrigin(row, origin);
    },
  };
}

function content(model, view, row, hidden) {
  const { get, category, sentence } = opFacts(model, view, row);
  return [
    html("p", { class: "op-name" }, row.name),
    html("div", { class: "badges" }, categoryBadge(category), boundBadge(model.bounds[row.bound])),
    html(
      "p",
      { class: "muted", "data-hidden-note": true, hidden: !hidden },
      "Hidden by the filters.",
    ),
    html("p", { class: "say" }, sentence),
    html("h3", {}, "Place on the roofline"),
    ...miniatures(model, row, category, get),
    html("h3", {}, `Time per ${model.coreWord}`),
    list(
      ["Self", joined(duration(get("self_time_per_core_us")), percent(row.share))],
      ["Total", joined(duration(get("total_time_per_core_us")), percent(get("total_share_ratio")))],
      ["Occurrences", count(get("occurrences"))],
      ["Each, self", duration(get("avg_self_time_us"))],
      ["Each, total", duration(get("avg_time_us"))],
      [
        "Saves at the roof",
        joined(duration(get("saving_per_core_us")), percent(get("saving_share_ratio"))),
      ],
      ["Stalled by DMA", percent(get("dma_stall_ratio"))],
    ),
    html("h3", {}, "Compute"),
    list(
      [
        ["FLOP rate, normalised", rateWord(model.profile.provenance, "flop_rate_gflops")]
          .filter(Boolean)
          .join(", "),
        flopRate(get("flop_rate_gflops")),
      ],
      ["FLOP rate, model", flopRate(get("model_flop_rate_gflops"))],
      [
        `Share of ${peakName(model, get("compute_unit"))}`,
        percent(get("compute_efficiency_ratio")),
      ],
      ["Attainable here", flopRate(get("attainable_gflops"))],
      [
        "Share of roof",
        row.timing === "predicted" ? AT_BEST : percent(get("roofline_efficiency_ratio")),
      ],
    ),
    html("h3", {}, "Memory"),
    memoryTable(model, get),
    list(["Busiest memory", `${percent(get("memory_utilisation_ratio"))} of its peak`]),
  ];
}

function miniatures(model, row, category, get) {
  const compute = computeRoof(model, get("compute_unit"));
  const drawn = model.levels.flatMap(({ id, roof }) => {
    const place = logPlace(get(`${id}_intensity`), get("flop_rate_gflops"));
    return roof && place
      ? [
          miniRoofline({
            memory: roof,
            compute,
            place,
            token: category.token,
            gibs: get(`${id}_bandwidth_gibs`),
          }),
        ]
      : [];
  });
  if (drawn.length > 0) return drawn;
  return [html("p", { class: "muted" }, withoutPlace(model, row, get))];
}

function withoutPlace(model, row, get) {
  if (row.cost === "idle") return "Idle time has no place on a roofline.";
  if (row.cost === "unknown") return "Nothing is known about its work.";
  if (row.cost === "no_flops") {
    const level = model.levels[0];
    const moved = level ? get(`${level.id}_bandwidth_gibs`) : null;
    return moved
      ? `No FLOPs, so no place on a roofline. It moves ${bandwidth(moved)} of ${level.label}.`
      : "No FLOPs, so no place on a roofline.";
  }
  return "No peak is known for the memory it uses.";
}

function list(...rows) {
  return html("dl", { class: "facts" }, ...rows.flatMap(([term, text]) => entry(term, text)));
}

function originFacts(get) {
  return list(
    ["Source", get("source") || "–"],
    ["Program", get("program") || "–"],
    ["Program ID", get("program_id") || "–"],
  );
}

function originContent(found) {
  const parts = [];
  const stack = found.source_stack ?? [];
  if (stack.length > 0)
    parts.push(
      html("h4", {}, "Stack"),
      html("ol", { class: "stack-lines" }, ...stack.map((line) => html("li", {}, line))),
    );
  if (found.long_name)
    parts.push(html("h4", {}, "Long name"), html("pre", { class: "long-name" }, found.long_name));
  if (parts.length === 0)
    parts.push(html("p", { class: "muted" }, "Long name and stack are not in this profile."));
  return parts;
}
