// What plotly.js takes of culori, with the forms of colour that browsers compute, and names; the whole has thirty more.

import { converter as converterOf, modeHsl, modeHwb, modeLrgb, modeRgb, useMode } from "culori/fn";

export { formatHex, formatRgb, wcagContrast, wcagLuminance } from "culori/fn";

for (const mode of [modeRgb, modeLrgb, modeHsl, modeHwb]) useMode(mode);

/** Each text is read once: plotly.js asks for the colour of every mark several times. */
export function converter(mode) {
  const convert = converterOf(mode);
  const known = new Map();
  return (colour) => {
    if (typeof colour !== "string") return convert(colour);
    if (!known.has(colour)) known.set(colour, convert(colour));
    return known.get(colour);
  };
}
