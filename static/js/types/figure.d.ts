// Figures as the server builds them: plain data in the words of Plotly, colours as tokens.

/** A trace of a figure; `meta` says what it draws, and for which width it is where not for both. */
export interface ChartTrace {
  uid?: string;
  name: string;
  meta: { role: string; width?: "wide" | "narrow" };
  mode: "lines" | "markers" | "text" | "markers+text" | "lines+markers";
  x: (number | null)[];
  y: (number | null)[];
  customdata?: (number | string | null)[];
  text?: string[];
  marker?: Record<string, unknown>;
  [key: string]: unknown;
}

/** A layout without width and height. */
export interface ChartLayout {
  margin: { l: number; r: number; t: number; b: number };
  xaxis: { range: [number, number]; [key: string]: unknown };
  yaxis: { range: [number, number]; [key: string]: unknown };
  shapes: Record<string, unknown>[];
  font?: { size: number; color: string; family?: string };
  dragmode: "zoom" | "pan" | false;
  [key: string]: unknown;
}

export interface ChartFigure {
  id: string;
  data: ChartTrace[];
  layouts: Record<"wide" | "narrow", ChartLayout>;
  marks: "op" | "program" | "block" | "run" | null;
  /** Ops outside of the axes. */
  beyond: Partial<Record<"left" | "right" | "above" | "below", number[]>>;
  /** What names in the chart do not say; `token` and `dash` are empty for a remark. */
  legend: { text: string; token: string; dash: string }[];
  /** What the chart leaves out. */
  note?: string;
  alt: string;
}
