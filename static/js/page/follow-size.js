// What follows the size of the window: charts, and what scrolls under the filter bar.

import { part } from "../ui/dom.js";

/** Charts follow their boxes; one drawing per frame is enough. */
export function watchSize(redraw) {
  let known = "";
  let frame = 0;
  const chart = document.getElementById("op-chart");
  const small = document.getElementById("program-chart");
  const size = () =>
    `${chart.clientWidth}x${chart.clientHeight} ${small.clientWidth}x${small.clientHeight}`;
  known = size();
  const observer = new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      if (size() === known) return;
      known = size();
      redraw();
    });
  });
  observer.observe(chart);
  observer.observe(small);
}

/** The bar may take two lines: what scrolls under it must know its height, and it gets an edge while stuck. */
export function watchFilterBar() {
  const bar = part("filters");
  const root = document.documentElement;
  new ResizeObserver(() => root.style.setProperty("--filters", `${bar.offsetHeight}px`)).observe(
    bar,
  );
  const offset = getComputedStyle(root).getPropertyValue("--topbar").trim();
  new IntersectionObserver(
    ([entry]) => bar.classList.toggle("stuck", entry.intersectionRatio < 1),
    { threshold: [1], rootMargin: `-${parseInt(offset, 10) + 1}px 0px 0px 0px` },
  ).observe(bar);
}
