// Charts follow the size of the window, and are drawn when their fold opens.

import { find } from "../ui/dom.js";

/** Charts follow their boxes; one drawing per frame is enough. @param {() => void} redraw */
export function watchSize(redraw) {
  const charts = ["#op-chart", "#program-chart"].map((id) => find(HTMLElement, id));
  const size = () => String(charts.map((chart) => [chart.clientWidth, chart.clientHeight]));
  let known = size();
  let frame = 0;
  const observer = new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      if (size() === known) return;
      known = size();
      redraw();
    });
  });
  for (const chart of charts) observer.observe(chart);
}
