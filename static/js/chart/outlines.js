// Outlines of marks around 0, 0, the same shapes that Plotly draws in pictures. Pure.

const SLOPE = 2 / Math.sqrt(3);
/**
 * Corners at radius 1.
 * @type {Record<string, [number, number][] | undefined>}
 */
const CORNERS = {
  square: [
    [1, 1],
    [-1, 1],
    [-1, -1],
    [1, -1],
  ],
  diamond: [
    [1.3, 0],
    [0, 1.3],
    [-1.3, 0],
    [0, -1.3],
  ],
  "triangle-up": [
    [-SLOPE, 0.5],
    [SLOPE, 0.5],
    [0, -1],
  ],
  "triangle-down": [
    [-SLOPE, -0.5],
    [SLOPE, -0.5],
    [0, 1],
  ],
  "triangle-left": [
    [0.5, -SLOPE],
    [0.5, SLOPE],
    [-1, 0],
  ],
  "triangle-right": [
    [-0.5, -SLOPE],
    [-0.5, SLOPE],
    [1, 0],
  ],
  star: starCorners(),
};

/** @returns {[number, number][]} */
function starCorners() {
  return Array.from({ length: 10 }, (_, i) => {
    const reach = i % 2 === 0 ? 1.4 : 1.4 * 0.382;
    const angle = (Math.PI * i) / 5;
    return [reach * Math.sin(angle), -reach * Math.cos(angle)];
  });
}

/** Two digits after the point: a screen shows no more. @param {number} pixels */
export const rounded = (pixels) => Math.round(pixels * 100) / 100;

/**
 * The outline of a mark, as an SVG path.
 * @param {string} symbol
 * @param {number} radius in pixels
 */
export function outline(symbol, radius) {
  const corners = CORNERS[symbol];
  const r = rounded(radius);
  if (!corners) return `M${r},0A${r},${r} 0 1 1 0,${-r}A${r},${r} 0 0 1 ${r},0Z`;
  return `M${corners.map(([x, y]) => `${rounded(x * radius)},${rounded(y * radius)}`).join("L")}Z`;
}
