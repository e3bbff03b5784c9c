// The bars and the list beside the program chart, which the server writes: each lights and selects a point.

import { around, findAll, part } from "../ui/dom.js";

/** @import { ProgramPoint } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */
/** @import { Store } from "../state/store.js" */

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 * @param {(point: ProgramPoint | null) => void} options.onLight
 * @param {(point: ProgramPoint) => void} options.onClick
 */
export function createProgramList({ model, store, onLight, onClick }) {
  const list = part("steps");
  const boxes = [part("step-times"), list];
  const points = () => model.view(store.get().infeed).program;
  /** @param {Event} event */
  const pointAt = (event) => {
    const item = around(event, "[data-point]");
    return item ? points()[Number(item.getAttribute("data-point"))] : null;
  };
  for (const box of boxes) {
    box.addEventListener("pointerover", (event) => onLight(pointAt(event)));
    box.addEventListener("pointerleave", () => onLight(null));
    box.addEventListener("click", (event) => {
      const point = pointAt(event);
      if (point) onClick(point);
    });
  }
  /** @param {string} name of the class of the items that show a point @param {ProgramPoint | null | undefined} point */
  function mark(name, point) {
    const at = point ? points().indexOf(point) : -1;
    for (const box of boxes)
      for (const item of findAll(Element, "[data-point]", box))
        item.classList.toggle(name, Number(item.getAttribute("data-point")) === at);
    return at;
  }
  return {
    render() {
      const { step } = store.get();
      mark(
        "selected",
        points().find(({ label }) => label === step),
      );
    },
    /** @param {ProgramPoint | null} point @param {boolean} [intoView] */
    light(point, intoView = false) {
      const at = mark("lit", point);
      if (intoView) showRow(list, list.querySelector(`tr[data-point="${at}"]`));
    },
  };
}

/** @param {HTMLElement} list @param {Element | null} row */
function showRow(list, row) {
  if (!(row instanceof HTMLElement)) return;
  const { scrollTop, clientHeight } = list;
  const { offsetTop: top, offsetHeight: height } = row;
  if (top - 2 * height < scrollTop || top + height > scrollTop + clientHeight)
    list.scrollTop = top - clientHeight / 2;
}
