// The roofline of a comparison: an arrow from A to B for each pair that makes most of the change.

import { find, part, svg } from "../ui/dom.js";
import { arrowScale, legs, placeOf, radiusOf, roofAt } from "./arrow-places.js";
import { freeLabels } from "./free-labels.js";
import { arrowHead, markPath } from "./mark-paths.js";
import { trackPointer } from "./pointer.js";
import { frame, roofNode } from "./roof-frame.js";

/** @import { ChangeRow, Comparison } from "../types/comparison.js" */
/** @import { Place, Scale } from "./axes.js" */
/** @import { Box } from "./free-labels.js" */
/** @import { Point } from "./roof-label-places.js" */

const MARGIN = { l: 84, r: 14, t: 10, b: 42 };
const SMALL_MARGIN = { l: 82, r: 8, t: 8, b: 40 };
const NARROW = 480; // pixels
const LEAST_HEAD = 5; // pixels of a leg that has room for a head
const LABELS = 5;
const CHARACTER = 6.8; // pixels
const ROOF_BOXES = 36;
const ROOF_LABEL = 22; // pixels that a label takes beside its roof
const BESIDE_LEG = 3; // pixels
const LEG_STEP = 8; // pixels
const RING = 4; // pixels between a new op's mark and its ring
const CLIP = "compare-clip";

/**
 * @typedef {{ row: ChangeRow, px: number, py: number, radius: number }} DrawnPlace
 * @typedef {object} Shown what is drawn
 * @property {readonly ChangeRow[]} rows pairs, groups and ops of one run
 * @property {ReadonlySet<string>} hot keys of those with an arrow
 * @property {(row: ChangeRow) => boolean} isWanted by the filters
 */

/**
 * @param {object} options
 * @param {Comparison} options.found
 * @param {(row: ChangeRow | null, event: PointerEvent) => void} options.onHover
 * @param {(row: ChangeRow) => void} options.onClick
 * @param {(row: ChangeRow) => string} options.labelOf
 */
export function createCompareChart({ found, onHover, onClick, labelOf }) {
  const root = find(SVGSVGElement, "[data-chart]");
  const roofs = found.page.roofs;
  const isSame = roofs.a.gflops === roofs.b.gflops && roofs.a.gbs === roofs.b.gbs;
  /** @type {DrawnPlace[]} */
  let places = [];
  /** @type {Map<string, SVGGElement>} */
  let groups = new Map();
  /** Where legs of arrows run. @type {Point[]} */
  let legPoints = [];

  trackPointer(root, {
    places: () => places,
    onHover: (p, e) => onHover(p?.row ?? null, e),
    onClick: ({ row }) => onClick(row),
  });

  return {
    /** @param {Shown} shown */
    draw({ rows, hot, isWanted }) {
      const width = root.clientWidth;
      const margin = width < NARROW ? SMALL_MARGIN : MARGIN;
      const box = { width, height: root.clientHeight, margin };
      const placed = rows.filter((row) => placeOf(row.a) || placeOf(row.b));
      const seen = placed.filter((row) => hot.has(row.key));
      const scale = arrowScale(seen.length > 0 ? seen : placed, roofs, box);
      const largest = Math.max(
        ...placed.map((row) => Math.max(row.a?.timeUs ?? 0, row.b?.timeUs ?? 0)),
        0,
      );
      places = [];
      legPoints = [];
      groups = new Map();
      const nodes = [...placed]
        .sort((x, y) => Number(hot.has(x.key)) - Number(hot.has(y.key)))
        .map((row) => rowNode(row, hot.has(row.key), isWanted(row), scale, largest));
      const points = obstacles(hot);
      const drawnRoofs = roofNodes(scale, points);
      const isLabel = (/** @type {SVGElement} */ node) => node.tagName === "text";
      root.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
      root.replaceChildren(
        frame(scale, CLIP),
        ...drawnRoofs.filter((node) => !isLabel(node)),
        svg("g", { "clip-path": `url(#${CLIP})` }, ...nodes),
        ...drawnRoofs.filter(isLabel),
        ...labelNodes(seen.filter(isWanted), scale, points),
      );
      root.setAttribute(
        "aria-label",
        `Roofline with ${seen.length} arrows from A to B; the table below holds the same values`,
      );
      part("new-key").hidden = !placed.some(({ kind }) => kind === "b");
      const isEmpty = placed.length === 0;
      part("chart-empty").hidden = !isEmpty;
      if (isEmpty)
        part("chart-empty").textContent = "No operation has FLOPs, bytes and time on a side.";
    },
    /** @param {string | null} key */
    light(key) {
      for (const [each, group] of groups) group.classList.toggle("lit", each === key);
      root.classList.toggle("lighting", key !== null && groups.has(key));
    },
  };

  /** @param {ChangeRow} row @param {boolean} isHot @param {boolean} isWanted @param {Scale} scale @param {number} largest */
  function rowNode(row, isHot, isWanted, scale, largest) {
    const style = found.page.styles[row.category];
    const symbol = row.kind === "group" ? "diamond" : (style?.symbol ?? "circle");
    const group = svg("g", {
      class: `move${isHot ? "" : " quiet"}${isWanted ? "" : " out"} of-${row.kind}`,
    });
    group.style.color = `var(${style?.token ?? "--c12"})`;
    const start = placeOf(row.a);
    const end = placeOf(row.b);
    if (start && end && isHot) group.append(...arrowNodes(start, end, scale));
    if (start && (isHot || !end))
      group.append(markNode(symbol, start, row.a?.timeUs ?? 0, "before", scale, largest));
    if (end) group.append(markNode(symbol, end, row.b?.timeUs ?? 0, "after", scale, largest));
    if (row.kind === "b" && end) group.append(ringNode(end, row.b?.timeUs ?? 0, scale, largest));
    if (isWanted)
      for (const [place, side] of /** @type {const} */ ([
        [start, row.a],
        [end, row.b],
      ]))
        if (place && side && (isHot || place === (end ?? start)))
          places.push({
            row,
            px: scale.toX(place.x),
            py: scale.toY(place.y),
            radius: radiusOf(side.timeUs, largest),
          });
    groups.set(row.key, group);
    return group;
  }

  /** @param {Place} start @param {Place} end @param {Scale} scale */
  function arrowNodes(start, end, scale) {
    const { along, peaks } = legs(start, end, roofs);
    const at = (/** @type {Place} */ { x, y }) =>
      /** @type {[number, number]} */ ([scale.toX(x), scale.toY(y)]);
    const [s, m, p, e] = [start, along, peaks, end].map(at);
    const line = (
      /** @type {string} */ name,
      /** @type {[number, number]} */ u,
      /** @type {[number, number]} */ v,
    ) => {
      const length = Math.hypot(u[0] - v[0], u[1] - v[1]);
      if (length < 0.7) return [];
      for (let at = 0; at <= length; at += LEG_STEP) {
        const [x, y] = [0, 1].map((i) => u[i] + ((v[i] - u[i]) * at) / length);
        legPoints.push({ px: x, py: y, radius: BESIDE_LEG });
      }
      return [svg("path", { class: name, d: `M${u[0]} ${u[1]}L${v[0]} ${v[1]}` })];
    };
    const hasHead = Math.hypot(e[0] - p[0], e[1] - p[1]) > LEAST_HEAD;
    const back = hasHead ? p : m;
    const isLong = Math.hypot(e[0] - back[0], e[1] - back[1]) > LEAST_HEAD;
    return [
      ...line("leg along", s, m),
      ...line("leg peaks", m, p),
      ...line("leg close", p, e),
      ...(isLong ? [svg("path", { class: "head", d: arrowHead(back, e, 7) })] : []),
    ];
  }

  /** Marks and arrows, which words keep clear of. @param {ReadonlySet<string>} hot @returns {Point[]} */
  function obstacles(hot) {
    const marks = places.filter(({ row }) => hot.has(row.key));
    const ringed = marks.map(({ row, px, py, radius }) => ({
      px,
      py,
      radius: radius + (row.kind === "b" ? RING : 0),
    }));
    return [...ringed, ...legPoints];
  }

  /** @param {Scale} scale @param {readonly Point[]} points */
  function roofNodes(scale, points) {
    part("peaks-key").hidden = isSame;
    const drawn = isSame
      ? [roofNode(roofs.b, "", scale, "", CLIP, { points })]
      : [
          roofNode(roofs.a, " dashed", scale, "A · ", CLIP, { other: roofs.b, points }),
          roofNode(roofs.b, "", scale, "B · ", CLIP, { other: roofs.a, points }),
        ];
    return drawn.flat();
  }

  /** Where the roofs and their labels run: words over them cannot be read. @param {Scale} scale */
  function roofBoxes(scale) {
    const { xRange, margin, plotWidth } = scale;
    const below = isSame ? 4 : ROOF_LABEL;
    return [roofs.a, roofs.b].flatMap((one) =>
      Array.from({ length: ROOF_BOXES }, (_, i) => {
        const ys = [i, i + 1].map((at) => {
          const x = xRange[0] + ((xRange[1] - xRange[0]) * at) / ROOF_BOXES;
          return scale.toY(roofAt(one, x) ?? Infinity);
        });
        const left = margin.l + (plotWidth * i) / ROOF_BOXES;
        const [top, bottom] = [Math.min(...ys) - ROOF_LABEL, Math.max(...ys) + below];
        return /** @type {Box} */ ([left, top, left + plotWidth / ROOF_BOXES, bottom]);
      }),
    );
  }

  /** Names and changes of the largest, beside B, where there is room. @param {ChangeRow[]} rows @param {Scale} scale @param {readonly Point[]} points */
  function labelNodes(rows, scale, points) {
    const { margin, plotWidth, plotHeight } = scale;
    const ordered = [...rows].sort((x, y) => Math.abs(y.changeUs) - Math.abs(x.changeUs));
    const wanted = ordered.slice(0, 3 * LABELS).flatMap((row) => {
      const place = places.findLast((one) => one.row === row);
      return place ? [{ ...place, text: labelOf(row) }] : [];
    });
    const taken = points.map(
      ({ px, py, radius: r }) => /** @type {Box} */ ([px - r, py - r, px + r, py + r]),
    );
    return freeLabels(wanted, {
      most: LABELS,
      character: CHARACTER,
      inside: [margin.l, margin.t, margin.l + plotWidth, margin.t + plotHeight],
      taken: [...taken, ...roofBoxes(scale)],
    }).map(({ text, x, y, anchor }) =>
      svg("text", { class: "lab name", x, y, "text-anchor": anchor }, text),
    );
  }
}

/** @param {string} symbol @param {Place} place @param {number} timeUs @param {string} name @param {Scale} scale @param {number} largest */
const markNode = (symbol, place, timeUs, name, scale, largest) =>
  svg("path", {
    class: `spot ${name}`,
    d: markPath(symbol, scale.toX(place.x), scale.toY(place.y), radiusOf(timeUs, largest)),
  });

/** @param {Place} place @param {number} timeUs @param {Scale} scale @param {number} largest */
const ringNode = (place, timeUs, scale, largest) =>
  svg("circle", {
    class: "new-ring",
    cx: scale.toX(place.x),
    cy: scale.toY(place.y),
    r: radiusOf(timeUs, largest) + RING,
  });
