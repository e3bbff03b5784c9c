// The clocks of every op, which the server writes where a program has so few that groups would repeat the table.

import { around, part } from "../ui/dom.js";

/** @import { Model, Row } from "../types/model.js" */
/** @import { Store } from "../state/store.js" */
/** @import { ViewState } from "../types/view-state.js" */

/** @param {{ model: Model, store: Store, onSelect: (row: Row) => void }} options */
export function createClocksCard({ model, store, onSelect }) {
  const list = part("op-clocks");
  list.addEventListener("click", (event) => {
    const op = around(event, "[data-op]")?.getAttribute("data-op");
    const row = op && model.view(store.get().infeed).byOp.get(Number(op));
    if (row) onSelect(row);
  });
  return {
    /** Shows it in place of the groups, unless the link asks for these. @param {ViewState} state */
    render({ by }) {
      part("clocks-card").hidden = by !== null || !list.hasChildNodes();
    },
  };
}
