// Ops without FLOPs, which a roofline has no place for: how near each side comes to its memory's peak.

import { count, percent } from "../text/format.js";
import { find, part, svg } from "../ui/dom.js";
import { arrowHead, markPath } from "./mark-paths.js";
import { radiusOf } from "./arrow-places.js";
import { trackPointer } from "./pointer.js";
import { stripRange, stripRows } from "./strip-places.js";

/** @import { ChangeRow, Comparison } from "../types/comparison.js" */
/** @import { DrawnPlace, Shown } from "./compare-chart.js" */
/** @import { StripRow } from "./strip-places.js" */

const SIDES = { l: 24, r: 24, t: 10, b: 24 };
const TICKS = [0.0001, 0.001, 0.01, 0.03, 0.1, 0.3, 1];
const LARGEST = 0.62; // of the chart's radius: the strip is low
const LEAST_LENGTH = 7; // pixels of a line that has room for a head

/**
 * @param {object} options
 * @param {Comparison} options.found
 * @param {(row: ChangeRow | null, event: PointerEvent) => void} options.onHover
 * @param {(row: ChangeRow) => void} options.onClick
 */
export function createCompareStrip({ found, onHover, onClick }) {
  const root = find(SVGSVGElement, "[data-strip]");
  /** @type {DrawnPlace[]} */
  let places = [];
  /** @type {Map<string, SVGGElement>} */
  let groups = new Map();
  trackPointer(root, {
    places: () => places,
    onHover: (place, event) => onHover(place?.row ?? null, event),
    onClick: ({ row }) => onClick(row),
  });

  return {
    /** @param {Shown} shown */
    draw({ rows, hot, isWanted }) {
      const all = stripRows(rows, found.page.roofs, hot);
      const width = root.clientWidth;
      const height = root.clientHeight;
      const [low, high] = stripRange(all);
      const toX = (/** @type {number} */ x) =>
        SIDES.l + ((Math.max(low, x) - low) * (width - SIDES.l - SIDES.r)) / (high - low);
      const toY = (/** @type {number} */ lane) => SIDES.t + lane * (height - SIDES.t - SIDES.b);
      const largest = Math.max(
        0,
        ...all.map(({ row }) => Math.max(row.a?.timeUs ?? 0, row.b?.timeUs ?? 0)),
      );
      places = [];
      groups = new Map();
      const nodes = all.map((one) => node(one, hot.has(one.row.key), isWanted(one.row)));
      root.setAttribute("viewBox", `0 0 ${width} ${height}`);
      root.replaceChildren(...ticks(low, high, toX, height), ...nodes);
      const words = `${count(all.length)} ${all.length === 1 ? "op" : "ops"} by achieved bandwidth`;
      root.setAttribute("aria-label", `${words}, as a share of the memory’s peak`);
      part("strip-note").textContent = all.length > 0 ? words : "No such op has a known bandwidth";

      /** @param {StripRow} one @param {boolean} isHot @param {boolean} wanted */
      function node({ row, a, b, lane }, isHot, wanted) {
        const style = found.page.styles[row.category];
        const symbol = style?.symbol ?? "circle";
        const group = svg("g", { class: `move${isHot ? "" : " quiet"}${wanted ? "" : " out"}` });
        group.style.color = `var(${style?.token ?? "--c12"})`;
        const y = toY(lane);
        if (a !== null && b !== null && isHot) group.append(...line(toX(a), toX(b), y));
        if (a !== null && (isHot || b === null)) add(group, symbol, "before", toX(a), y, row, "a");
        if (b !== null) add(group, symbol, "after", toX(b), y, row, "b");
        if (!wanted) places = places.filter((place) => place.row !== row);
        groups.set(row.key, group);
        return group;
      }

      /** @param {SVGGElement} group @param {string} symbol @param {string} name @param {number} x @param {number} y @param {ChangeRow} row @param {"a" | "b"} side */
      function add(group, symbol, name, x, y, row, side) {
        const radius = LARGEST * radiusOf(row[side]?.timeUs ?? 0, largest);
        group.append(svg("path", { class: `spot ${name}`, d: markPath(symbol, x, y, radius) }));
        places.push({ row, px: x, py: y, radius });
      }
    },
    /** @param {string | null} key */
    light(key) {
      for (const [each, group] of groups) group.classList.toggle("lit", each === key);
      root.classList.toggle("lighting", key !== null && groups.has(key));
    },
  };
}

/** @param {number} from @param {number} to @param {number} y */
function line(from, to, y) {
  const path = svg("path", { class: "leg close", d: `M${from} ${y}H${to}` });
  if (Math.abs(to - from) < LEAST_LENGTH) return [path];
  return [path, svg("path", { class: "head", d: arrowHead([from, y], [to, y], 6) })];
}

/** @param {number} low @param {number} high @param {(x: number) => number} toX @param {number} height */
function ticks(low, high, toX, height) {
  return TICKS.filter((share) => Math.log10(share) > low && Math.log10(share) < high).flatMap(
    (share) => {
      const x = toX(Math.log10(share));
      const y2 = height - SIDES.b + 4;
      return [
        svg("line", { class: share === 1 ? "peak" : "gl", x1: x, x2: x, y1: 4, y2 }),
        svg(
          "text",
          { class: "tick", x, y: height - 6, "text-anchor": "middle" },
          percent(share, 0),
        ),
      ];
    },
  );
}
