// The part of plotly.js that the charts use; https://plotly.com/javascript/reference has the rest.

import type { ChartLayout, ChartTrace } from "./figure.js";

export interface PlotEvent {
  /** The nearest marks, the nearest first. */
  points: { data: ChartTrace; customdata?: number | string; x: number; y: number }[];
  event: PointerEvent;
}

/** An element that Plotly has drawn into; `layout` is what it shows by now. */
export interface PlotElement extends HTMLElement {
  layout: ChartLayout;
  on(
    event: "plotly_hover" | "plotly_unhover" | "plotly_click",
    listener: (event: PlotEvent) => void,
  ): void;
  on(event: "plotly_relayout", listener: (change: Record<string, unknown>) => void): void;
  on(
    event: "plotly_relayouting" | "plotly_doubleclick" | "plotly_afterplot",
    listener: () => void,
  ): void;
}

export interface PictureOptions {
  format: "png" | "svg";
  width: number;
  height: number;
  scale?: number;
}

export interface Plotly {
  react(
    element: HTMLElement,
    data: object[],
    layout: object,
    config: Readonly<Record<string, boolean>>,
  ): Promise<PlotElement>;
  relayout(element: HTMLElement, change: object): Promise<PlotElement>;
  toImage(
    figure: { data: object[]; layout: object; config?: object },
    options: PictureOptions,
  ): Promise<string>;
}

declare global {
  interface Window {
    /** There once its script has been read. */
    Plotly?: Plotly;
  }
}
