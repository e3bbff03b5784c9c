// Lights the op or point under the pointer wherever it is shown; the card describes it. Pure.

/** @import { ProgramPoint } from "../types/page-data.js" */
/** @import { Row, View } from "../types/model.js" */
/** @import { Pointed } from "../chart/card.js" */
/** @import { HoverCard } from "./hover-card.js" */

/**
 * The parts that can light something; the charts are there once their library is.
 * @typedef {object} Lit
 * @property {{ lightOp: (row: Row | null) => void, program: { light: (point: ProgramPoint | null) => void } } | null} charts
 * @property {object} parts
 * @property {{ grid: { light: (key: string | null) => void } }} parts.opTable
 * @property {{ light: (point: ProgramPoint | null) => void }} parts.programTable
 * @property {{ light: (point: ProgramPoint | null, intoView: boolean) => void }} parts.programList
 */

/**
 * @param {object} options
 * @param {HoverCard} options.card
 * @param {() => View} options.view
 * @param {() => Lit} options.lit
 */
export function createLight({ card, view, lit }) {
  /**
   * @param {Row | null} row
   * @param {PointerEvent | null} event of a chart: the card follows the pointer
   */
  function row(row, event) {
    const { parts, charts } = lit();
    parts.opTable.grid.light(row ? String(row.op) : null);
    charts?.lightOp(row);
    if (row && event) card.showOp(view(), row, event);
    else card.hide();
  }

  /** @param {ProgramPoint | null} point @param {PointerEvent | null} event */
  function point(point, event) {
    const { parts, charts } = lit();
    parts.programTable.light(point);
    parts.programList.light(point, event !== null);
    charts?.program.light(point);
    if (point && event) card.showProgram(point, event);
    else card.hide();
  }

  return {
    row,
    point,
    /**
     * A place on the roofline of operations.
     * @param {Pointed | null} pointed
     * @param {PointerEvent} event
     */
    place(pointed, event) {
      const op = pointed?.role === "marks" ? (view().byOp.get(Number(pointed.row)) ?? null) : null;
      row(op, event);
      if (pointed?.role === "ridges") card.showRidge(pointed, event);
      else if (pointed?.role === "program") card.showProgram(view().program[0], event);
    },
    /** A block of the time. @param {{ name: string, lines: string[] } | null} block @param {PointerEvent | null} event */
    block: (block, event) => (block && event ? card.showBlock(block, event) : card.hide()),
    /**
     * Shows the help of a column, or hides it.
     * @param {{ label: string, sub: string, help: string } | null} column
     * @param {Element} anchor
     */
    help: (column, anchor) => (column ? card.showHelp(column, anchor) : card.hide()),
  };
}

/** @typedef {ReturnType<typeof createLight>} Light */
