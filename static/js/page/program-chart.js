// The small roofline of the program: total, average and steps.

import { trackMarks } from "../chart/card.js";
import { Marks } from "../chart/marks.js";
import { Mount } from "../chart/mount.js";
import { createOverlay } from "../chart/overlay.js";
import { noProgramText } from "../text/empty-words.js";
import { find, part } from "../ui/dom.js";

/** @import { ChartFigure } from "../types/figure.js" */
/** @import { ProgramPoint } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */
/** @import { ShownPin } from "../state/pins.js" */
/** @import { Store } from "../state/store.js" */

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 * @param {() => readonly ShownPin[]} options.pinned
 * @param {(point: ProgramPoint | null, event: PointerEvent) => void} options.onHover
 * @param {(point: ProgramPoint) => void} options.onClick
 */
export function createProgramChart({ model, store, pinned, onHover, onClick }) {
  const box = find(HTMLElement, "#program-chart");
  const marks = new Marks(box);
  const overlay = createOverlay(find(HTMLElement, ".plot-program"));
  /** @type {ProgramPoint | null} */
  let lit = null;
  const points = () => model.view(store.get().infeed).program;
  const mount = new Mount(box, {
    onDrawn() {
      if (mount.figure) marks.read(mount.figure);
      markSelection();
    },
    wire: (plot) =>
      trackMarks(box, plot, {
        isShown: ({ role }) => role === "marks",
        onHover: (pointed, event) => onHover(pointed && points()[Number(pointed.row)], event),
        onClick: ({ row }) => onClick(points()[Number(row)]),
      }),
  });

  /** @param {ProgramPoint | null | undefined} point */
  const indexOf = (point) =>
    points().findIndex((one) => one.label === point?.label && one.scope === point?.scope);

  function markSelection() {
    const { step } = store.get();
    const selected = points().findIndex((point) => point.label === step);
    const lighted = lit ? indexOf(lit) : -1;
    marks.apply(
      (row) =>
        [row === selected ? "selected" : "", row === lighted ? "hovered" : ""]
          .filter(Boolean)
          .join(" "),
      () => true,
    );
    markPins();
  }

  /** The numbers of pinned points. */
  function markPins() {
    overlay.pins(
      pinned().flatMap(({ number, point }) => {
        const place = marks.placeOf(point ? indexOf(point) : null);
        return place ? [{ place, number }] : [];
      }),
    );
  }

  return {
    /** @param {ChartFigure} figure */
    async draw(figure) {
      const hasMarks = figure.data.some(({ meta, x }) => meta.role === "marks" && x.length > 0);
      part("program-empty").hidden = hasMarks;
      part("program-empty").textContent = noProgramText(points());
      part("program-note").textContent = figure.note ?? "";
      await mount.show(figure);
    },
    redraw: () => mount.redraw(),
    markSelection,
    markPins,
    /** @param {ProgramPoint | null} point */
    light(point) {
      if (lit === point) return;
      lit = point;
      markSelection();
    },
  };
}

/** @typedef {ReturnType<typeof createProgramChart>} ProgramChart */
