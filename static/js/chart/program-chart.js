// The small roofline of the program: total, average and steps.

import { noProgramText } from "../text/empty-words.js";
import { find, part } from "../ui/dom.js";
import { watchedSize } from "../ui/size.js";
import { Drawing } from "./drawing.js";
import { PROGRAM_MARGIN } from "./looks.js";
import { createOverlay } from "./overlay.js";
import { trackPointer } from "./pointer.js";
import { dropFirstFigure } from "./first-figure.js";
import { programFigure } from "./program-figure.js";
import { programGeometry } from "./program-geometry.js";
import { shownRoofs } from "./shown-roofs.js";

/** @import { ProgramPoint } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */
/** @import { ShownPin } from "../state/pins.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Paint } from "./looks.js" */
/** @import { ProgramPlace } from "./program-geometry.js" */

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 * @param {Paint} options.paint
 * @param {() => readonly ShownPin[]} options.pinned
 * @param {(point: ProgramPoint | null, event: PointerEvent) => void} options.onHover
 * @param {(point: ProgramPoint) => void} options.onClick
 */
export function createProgramChart({ model, store, paint, pinned, onHover, onClick }) {
  const chart = find(HTMLElement, "#program-chart");
  const size = watchedSize(chart);
  const drawing = new Drawing(chart);
  const overlay = createOverlay(find(HTMLElement, ".plot-program"));
  /** @type {ProgramPlace[]} */
  let places = [];
  const points = () => model.view(store.get().infeed).program;

  /** Finds the places of the points, which can be pointed at from then on. */
  function place() {
    const { infeed, roofs, prec } = store.get();
    const shown = shownRoofs(model, model.view(infeed), { roofs, prec, x: model.x_axes[0].id });
    const box = { ...size.get(), margin: PROGRAM_MARGIN };
    const geometry = programGeometry(model, points(), shown, box);
    places = geometry.places;
    showEmptiness(places, points());
    markSelection();
    return geometry;
  }

  function draw() {
    const geometry = place();
    drawing.draw(programFigure(geometry, paint), geometry.scale);
    dropFirstFigure("program");
  }

  /** Draws in the size that it has by now. */
  function drawAnew() {
    size.forget();
    draw();
  }

  /** @param {ProgramPoint | null | undefined} point */
  const placeOf = (point) =>
    places.find(
      (place) => place.point.label === point?.label && place.point.scope === point?.scope,
    ) ?? null;

  function markSelection() {
    const { step } = store.get();
    overlay.select(placeOf(points().find((point) => point.label === step)));
    markPins();
  }

  /** The numbers of pinned points. */
  function markPins() {
    overlay.pins(
      pinned().flatMap(({ number, point }) => {
        const place = placeOf(point);
        return place ? [{ place, number }] : [];
      }),
    );
  }

  trackPointer(chart, {
    places: () => places,
    onHover: (place, event) => onHover(place?.point ?? null, event),
    onClick: (place) => onClick(place.point),
  });

  return {
    place,
    draw,
    drawAnew,
    markSelection,
    markPins,
    /** @param {ProgramPoint | null} point */
    light: (point) => overlay.hover(placeOf(point)),
  };
}

/** @typedef {ReturnType<typeof createProgramChart>} ProgramChart */

/** @param {ProgramPlace[]} places @param {ProgramPoint[]} points */
function showEmptiness(places, points) {
  const empty = part("program-empty");
  empty.hidden = places.length > 0;
  empty.textContent = noProgramText(points);
}
