// What plotly.js takes of culori, with the forms of colour that browsers compute, and names; the whole has thirty more.

import { modeHsl, modeHwb, modeLrgb, modeRgb, useMode } from "culori/fn";

export { converter, formatHex, formatRgb, wcagContrast, wcagLuminance } from "culori/fn";

for (const mode of [modeRgb, modeLrgb, modeHsl, modeHwb]) useMode(mode);
