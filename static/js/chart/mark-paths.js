// Outlines of marks around a point, by half their size. Pure.

/** @type {Record<string, (x: number, y: number, r: number) => string>} */
const PATHS = {
  square: (x, y, r) => `M${x - 0.88 * r} ${y - 0.88 * r}h${1.76 * r}v${1.76 * r}h${-1.76 * r}z`,
  diamond: (x, y, r) =>
    `M${x} ${y - 1.18 * r}L${x + 1.18 * r} ${y} ${x} ${y + 1.18 * r} ${x - 1.18 * r} ${y}z`,
  "triangle-up": (x, y, r) =>
    `M${x} ${y - 1.12 * r}L${x + 1.12 * r} ${y + 0.9 * r}H${x - 1.12 * r}z`,
};

/** @param {string} symbol @param {number} x @param {number} y @param {number} r */
export const markPath = (symbol, x, y, r) =>
  PATHS[symbol]?.(x, y, r) ??
  `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;

const HALF_ANGLE = 0.45; // radians

/**
 * The head of an arrow, its tip at the second point.
 * @param {[x: number, y: number]} from
 * @param {[x: number, y: number]} to
 * @param {number} size
 */
export function arrowHead([x0, y0], [x1, y1], size) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  const corner = (/** @type {number} */ turn) =>
    `${x1 - size * Math.cos(angle + turn)} ${y1 - size * Math.sin(angle + turn)}`;
  return `M${x1} ${y1}L${corner(-HALF_ANGLE)}L${corner(HALF_ANGLE)}z`;
}
