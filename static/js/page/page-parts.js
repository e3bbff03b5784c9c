// The parts of the page that are there before the charts: made once, rendered by the table in page-view.js.

import { withQuery } from "../state/chosen-hardware.js";
import { parseValue, withFilter, withoutFilters } from "../state/query.js";
import { createAdvice } from "./advice.js";
import { createByModule } from "./by-module.js";
import { createClocksCard } from "./clocks-card.js";
import { createColumnMenu } from "./column-menu.js";
import { Drawer } from "./drawer.js";
import { opsText } from "./downloads.js";
import { createEmptyStates } from "./empty-states.js";
import { createFilterBar } from "./filter-bar.js";
import { createFolds } from "./folds.js";
import { createOpTable } from "./op-table.js";
import { createPicked } from "./picked.js";
import { createOtherDevicesTable } from "./other-devices-table.js";
import { PeaksMenu } from "./peaks-menu.js";
import { Pins } from "./pins.js";
import { createProgramList } from "./program-list.js";
import { createProgramTable, keyOfPoint } from "./program-table.js";

/** @import { Filter } from "../types/page-data.js" */
/** @import { Landing } from "./landings.js" */
/** @import { Model } from "../types/model.js" */
/** @import { KeptNote } from "../types/pins.js" */
/** @import { ChosenHardware } from "../state/chosen-hardware.js" */
/** @import { Store } from "../state/store.js" */
/** @import { NoteKeeper } from "./pins.js" */
/** @import { Light } from "./light.js" */
/** @import { ShownPin } from "../state/pins.js" */
/** @import { Selection } from "./selection.js" */

/**
 * @typedef {object} PartsOptions
 * @property {Model} model
 * @property {Store} store
 * @property {ChosenHardware} hardware
 * @property {string} partsUrl
 * @property {(url: string) => Promise<any>} read
 * @property {string} opsUrl of the details of ops
 * @property {string} opsQuery what to append to each of these addresses
 * @property {Light} light
 * @property {Selection} selection
 * @property {(landings: readonly Landing[] | null) => void} onLand a finding is pointed at
 * @property {readonly KeptNote[]} notes kept with the profile
 * @property {NoteKeeper | null} keeper of notes
 * @property {() => void} onPins marks of pins change
 */

/** @param {PartsOptions} options */
export function createParts(options) {
  const { model, store, hardware, opsUrl, opsQuery, selection } = options;
  const peaksMenu = new PeaksMenu({ model, store, hardware });
  const { closeOp: onClose, move: onMove } = selection;
  /** @param {number} op */
  const detailsUrl = (op) => withQuery(`${opsUrl}/${op}${opsQuery}`, store.get().listing);
  const { opTable, programTable, programList } = createLists(options);
  return {
    opTable,
    programTable,
    programList,
    peaksMenu,
    byModule: createByModule({ model, store }),
    filterBar: createFilterBar({ model, store }),
    advice: createAdvice({ model, store, onLand: options.onLand }),
    clocksCard: createClocksCard({ model, store, onSelect: selection.toggle }),
    pins: new Pins({
      ...options,
      onSelect: selection.showPin,
      onChange(pins) {
        opTable.grid.pin(pinMarks(pins, ({ row }) => row && String(row.op)));
        programTable.pin(pinMarks(pins, ({ point }) => point && keyOfPoint(point)));
        options.onPins();
      },
    }),
    columnMenu: createColumnMenu({ model, store }),
    picked: createPicked({
      model,
      store,
      textOf: (rows, format) => opsText(model, store.get(), rows, format),
    }),
    drawer: new Drawer({ model, detailsUrl, onClose, onMove, onLand: options.onLand }),
    otherDevices: createOtherDevicesTable({
      model,
      store,
      partsUrl: options.partsUrl,
      read: options.read,
      onAdd: (anchor) => peaksMenu.compare(anchor),
    }),
    emptyStates: createEmptyStates({
      model,
      table: opTable.grid.empty,
      onClear: () => store.set(withoutFilters(store.get())),
    }),
    folds: createFolds((fold) => store.set({ tab: parseValue("tab", fold ?? "") })),
    /** Follows a link of the verdict or of a diagnostic. @param {Filter} filter */
    follow: (filter) => store.set(withFilter(store.get(), filter)),
  };
}

/** @typedef {ReturnType<typeof createParts>} Parts */

/**
 * The words on pins in the rows of a table.
 * @param {readonly ShownPin[]} pins
 * @param {(pin: ShownPin) => string | null} keyOf a row; null: it is in another table
 */
const pinMarks = (pins, keyOf) =>
  new Map(
    pins.flatMap((pin) => {
      const key = keyOf(pin);
      return key === null ? [] : [[key, { number: pin.number, note: pin.note }]];
    }),
  );

/**
 * The lists of ops and of program points: each row can be lit and selected.
 * @param {PartsOptions} options
 */
function createLists({ model, store, light, selection }) {
  const { help: onHelp } = light;
  const onSelect = selection.togglePoint;
  return {
    opTable: createOpTable({
      model,
      store,
      onSelect: selection.click,
      onLight: (row) => light.row(row, null),
      onHelp,
    }),
    programTable: createProgramTable({
      model,
      store,
      onSelect,
      onLight: (point) => light.point(point, null),
      onHelp,
    }),
    programList: createProgramList({
      model,
      store,
      onLight: (point) => light.point(point, null),
      onClick: onSelect,
    }),
  };
}
