// The part of plotly.js that the charts use; https://plotly.com/javascript/reference has the rest.

export interface Font {
  family: string;
  size: number;
  color: string;
}

export interface Line {
  color?: string | string[];
  width?: number | number[];
  dash?: string;
}

export interface Marker {
  symbol: string | string[];
  size: number | number[];
  color: string | string[];
  opacity?: number | number[];
  line?: Line;
}

/** A null breaks the line. */
export interface Trace {
  name: string;
  meta?: string;
  x: (number | null)[];
  y: (number | null)[];
  mode: "lines" | "markers";
  hoverinfo: "skip";
  showlegend?: boolean;
  line?: Line;
  marker?: Marker;
}

export interface Annotation {
  x: number;
  y: number;
  text: string;
  showarrow: boolean;
  font: Font;
  xref?: "paper";
  yref?: "paper";
  align?: "left" | "right";
  xanchor?: "left" | "right" | "center";
  yanchor?: "top" | "bottom" | "middle";
  xshift?: number;
  yshift?: number;
  textangle?: number;
  bgcolor?: string;
  borderpad?: number;
}

export interface Shape {
  type: "line" | "rect";
  x0: number;
  x1: number;
  y0: number;
  y1: number;
  xref?: "x" | "paper";
  yref?: "y" | "paper";
  fillcolor?: string;
  line: Line;
  layer?: "below";
}

export interface LogAxis {
  type: "log";
  range: number[];
  tickmode: "array";
  tickvals: number[];
  ticktext: string[];
  gridcolor: string;
  ticklabeloverflow: "allow";
  gridwidth: number;
  zeroline: boolean;
  showline: boolean;
  showgrid?: boolean;
  showticklabels?: boolean;
  ticks: "";
  tickfont: Font;
  fixedrange?: boolean;
  title?: { text: string; standoff: number; font: Font };
}

export interface Margin {
  l: number;
  r: number;
  t: number;
  b: number;
}

export interface Layout {
  margin: Margin;
  showlegend: boolean;
  hovermode: false;
  dragmode: "zoom" | "pan" | false;
  width: number;
  height: number;
  paper_bgcolor: string;
  plot_bgcolor: string;
  font: Font;
  shapes: Shape[];
  annotations: Annotation[];
  uirevision: string;
  xaxis: LogAxis;
  yaxis: LogAxis;
  legend?: { x: number; y: number; font: Font };
}

export interface Figure {
  data: Trace[];
  layout: Layout;
}

/** The change by a drag: the axes' ranges under the names of the layout's attributes. */
export type Relayout = Partial<
  Record<"xaxis.range[0]" | "xaxis.range[1]" | "yaxis.range[0]" | "yaxis.range[1]", number>
>;

/** An element that Plotly has drawn into. */
export interface PlotElement extends HTMLElement {
  on(event: "plotly_relayout", listener: (change: Relayout) => void): void;
  on(event: "plotly_relayouting" | "plotly_doubleclick", listener: () => void): void;
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
    data: Trace[],
    layout: Layout,
    config: Readonly<Record<string, boolean>>,
  ): Promise<PlotElement>;
  relayout(element: HTMLElement, change: Partial<Layout>): Promise<PlotElement>;
  toImage(figure: Figure & { config?: object }, options: PictureOptions): Promise<string>;
}

declare global {
  interface Window {
    /** There once its script has been read. */
    Plotly?: Plotly;
  }
}
