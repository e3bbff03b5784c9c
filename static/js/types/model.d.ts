// The model that all parts of the page read, made from the page data: views and their rows.

import type { Other } from "./other-devices.js";
import type {
  Axis,
  Column,
  Cost,
  Level as PageLevel,
  MemoryRoof,
  Page,
  PageView,
  Timing,
  ValueOf,
} from "./page-data.js";

/** One op in one view. */
export interface Row {
  /** Index into `ops`: its name in links. */
  op: number;
  /** Index into the view's columns. */
  position: number;
  name: string;
  lowerName: string;
  /** The name as tables and charts show it. */
  short: string;
  /** Parts that the short name leaves out and that are worth a word: element type, shape. */
  chips: readonly string[];
  /** Index into `categories`. */
  category: number;
  /** Index into `bounds`. */
  bound: number;
  cost: Cost;
  /** The part of the budget that owns its time. */
  part: string | null;
  /** How its rates were obtained. */
  timing: Timing;
  /** Of the view's time. */
  share: number;
  /** Share of the busy time made by longer ops. */
  covered: number;
}

export type Infeed = "in" | "out";

export interface View extends PageView {
  /** By self time. */
  rows: Row[];
  byOp: Map<number, Row>;
  /** A column's values; null where missing. */
  reader: <Id extends string>(id: Id) => (row: Row) => ValueOf<Id>;
}

/** A finding of the card "What would help": its operations, or the part of the time it is about. */
export interface Finding {
  title: string;
  ops: ReadonlySet<number>;
  part: string | null;
}

/** A memory level that has columns. */
export interface Level extends PageLevel {
  /** Null: no peak is known. */
  roof: MemoryRoof | null;
}

export interface Model extends Page {
  /** From now on the model is of this page data: those of the server under other peaks. */
  use(next: Page, others?: Other[]): void;
  /** Built on first use: most visits only ever see one. */
  view(infeed: Infeed): View;
  /** The x axis of this id, else the first. */
  axis(id: string): Axis;
  /** A column of the op table. */
  column(id: string): Column | null;
  /** The short word for one of the device's cores: "core" for a TensorCore. */
  coreWord: string;
  /** Devices it is compared with. */
  others: Other[];
  /** What the list of findings names, by id: the page wrote them. */
  findings: ReadonlyMap<string, Finding>;
  /** Outermost first. */
  levels: Level[];
}
