// Transfers against the peaks of their links, as the server's figure places them; links without a peak ask for it.

import { trackMarks } from "./card.js";
import { Marks } from "./marks.js";
import { Mount } from "./mount.js";
import { find, html, part } from "../ui/dom.js";

/** @import { ChartFigure } from "../types/figure.js" */
/** @import { Model, Row } from "../types/model.js" */
/** @import { Store } from "../state/store.js" */

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 * @param {(row: Row | null, event: PointerEvent) => void} options.onHover
 * @param {(row: Row, event: PointerEvent) => void} options.onClick
 * @param {(key: string) => void} options.onAsk a peak is asked for, by its key
 */
export function createLinkStrip({ model, store, onHover, onClick, onAsk }) {
  const box = find(HTMLElement, "#link-chart");
  const frame = find(HTMLElement, ".plot-links");
  const marks = new Marks(box);
  /** @type {Set<number>} */
  let shown = new Set();
  /** @type {number | null} */
  let lit = null;
  const mount = new Mount(box, {
    onDrawn() {
      if (mount.figure) marks.read(mount.figure);
      mark();
    },
    wire: (plot) =>
      trackMarks(box, plot, {
        isShown: ({ role, row }) => role === "marks" && shown.has(Number(row)),
        onHover: (pointed, event) => onHover(pointed && rowOf(Number(pointed.row)), event),
        onClick({ row }, event) {
          const chosen = rowOf(Number(row));
          if (chosen) onClick(chosen, event);
        },
      }),
  });

  /** @param {number} op */
  const rowOf = (op) => model.view(store.get().infeed).byOp.get(op) ?? null;

  function mark() {
    const { op } = store.get();
    marks.apply(
      (row) =>
        [
          shown.has(row) ? "" : "ghost",
          row === op ? "selected" : "",
          row === lit ? "hovered" : "",
        ].join(" "),
      () => true,
    );
  }

  return {
    /** @param {ChartFigure} figure */
    async draw(figure) {
      const lanes = figure.data.length;
      frame.hidden = lanes === 0;
      frame.style.setProperty("--lanes", String(lanes));
      part("links-box").hidden = figure.note === "";
      part("links-note").textContent = figure.note ?? "";
      part("link-asks").replaceChildren(...asks(model, store, onAsk));
      await mount.show(figure);
    },
    redraw: () => mount.redraw(),
    /** @param {ReadonlySet<Row>} rows */
    show(rows) {
      shown = new Set([...rows].map(({ op }) => op));
      mark();
    },
    /** @param {Row | null} row */
    light(row) {
      lit = row?.op ?? null;
      mark();
    },
  };
}

/**
 * A line for each link of transfers whose peak is not known.
 * @param {Model} model
 * @param {Store} store
 * @param {(key: string) => void} onAsk
 */
function asks(model, store, onAsk) {
  const links = model.levels.filter(({ is_link: isLink }) => isLink);
  const { is_start: starts, link: linkOf } = model.ops.columns;
  /** @type {Map<string | null, number>} */
  const counts = new Map();
  for (const { cost, op } of model.view(store.get().infeed).rows) {
    if (cost !== "transfer" || starts?.[op]) continue;
    const id = linkOf?.[op] ?? null;
    if (!links.find((level) => level.id === id)?.roof) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return [...counts].map(([id, n]) => {
    const label = links.find((level) => level.id === id)?.label;
    const words = label
      ? `The peak of ${label} is not known.`
      : "Which link joins the devices is not known.";
    const on = { click: () => onAsk(id ?? links[0]?.id ?? "") };
    const said = `${n} ${n === 1 ? "transfer" : "transfers"}: ${words}`;
    const button = html("button", { class: "btn small", type: "button", on }, "Set the peak…");
    return html("p", {}, said, " ", button);
  });
}
