// Charts follow the size of the window, and the page keeps clear of the filter bar.

import { find, findAll, part } from "../ui/dom.js";

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

/**
 * The bar may take two lines: what scrolls under it must know its height, and it gets an edge
 * while stuck.
 */
export function watchFilterBar() {
  const bar = part("filters");
  const root = document.documentElement;
  // Only these keep clear of the bar. The property is not inherited: tokens.css.
  const followers = [root, ...findAll(HTMLElement, ".grid-wrap")];
  const measure = () => {
    const height = `${bar.offsetHeight}px`;
    for (const one of followers) one.style.setProperty("--filters", height);
  };
  new ResizeObserver(measure).observe(bar);
  const offset = parseInt(getComputedStyle(root).getPropertyValue("--topbar"), 10);
  new IntersectionObserver(
    ([entry]) => bar.classList.toggle("stuck", entry.intersectionRatio < 1),
    { threshold: [1], rootMargin: `-${offset + 1}px 0px 0px 0px` },
  ).observe(bar);
}
