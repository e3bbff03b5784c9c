// Paths of marks around the origin, by half the mark's size. Pure.

/** @param {number} r half the marker's size */
const circle = (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;

/** @type {Record<string, (r: number) => string>} */
const SHAPES = {
  square: (r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  diamond: (r) => `M0 ${-1.3 * r}L${1.3 * r} 0 0 ${1.3 * r} ${-1.3 * r} 0z`,
  "triangle-up": (r) => `M0 ${-r}L${1.15 * r} ${r}H${-1.15 * r}z`,
  left: (r) => `M${-r} 0L${r} ${-r}V${r}z`,
  right: (r) => `M${r} 0L${-r} ${-r}V${r}z`,
};

/** The path of a symbol. @param {string} symbol @param {number} radius */
export const shapePath = (symbol, radius) => (SHAPES[symbol] ?? circle)(Number(radius.toFixed(2)));
