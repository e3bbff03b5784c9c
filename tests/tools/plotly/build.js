// Builds static/vendor/plotly/: `npm ci && npm run build` in this folder. The same versions give the same bytes.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { parse } from "acorn";
import { build } from "esbuild";

const HERE = import.meta.dirname;
const TARGET = path.join(HERE, "../../../static/vendor/plotly");
const D3_SOURCE = path.join(HERE, "node_modules/@plotly/d3/src");

/** Modules of d3 that the files of plotly.js in this bundle call; each brings what it needs itself. */
const D3_PARTS = [
  "start",
  "arrays/extent",
  "behavior/drag",
  "core/rebind",
  "event/dispatch",
  "event/event",
  "event/mouse",
  "format/round",
  "interpolate/ease",
  "scale/linear",
  "selection/selection",
  "transition/transition",
  "end",
];

/** Texts of plotly.js for its reference, which is made of its attributes. */
const FOR_THE_REFERENCE = new Set(["description", "hrName", "otherOpts", "requiredOpts"]);

/** Files that stand in for others. */
const STAND_INS = [
  [/components\/modebar\/index\.js$/, "no-modebar.cjs"],
  [/components\/selections\/(?:index|select)\.js$/, "no-selections.cjs"],
  [/components\/shapes\/display_outlines\.js$|plots\/command\.js$/, "unused.cjs"],
];

/** A file of d3 with all that it imports in front, each once, as d3's own build joins them. */
function joined(file, seen = new Set()) {
  if (seen.has(file)) return "";
  seen.add(file);
  const lines = readFileSync(file, "utf8").split("\n");
  return lines
    .map((line) => {
      const found = /^import "([^"]+)";/.exec(line);
      return found ? joined(path.join(path.dirname(file), `${found[1]}.js`), seen) : `${line}\n`;
    })
    .join("");
}

/** d3 with only `D3_PARTS`. */
function smallD3() {
  const seen = new Set();
  return D3_PARTS.map((name) => joined(path.join(D3_SOURCE, `${name}.js`), seen)).join("");
}

/** Places of texts for the reference in a syntax tree, as pairs of start and end. */
function* textsIn(node) {
  if (Array.isArray(node)) {
    for (const one of node) yield* textsIn(one);
  } else if (typeof node?.type === "string") {
    const isText =
      node.type === "Property" && !node.computed && FOR_THE_REFERENCE.has(node.key.name);
    if (isText) yield [node.start, node.end];
    else for (const one of Object.values(node)) yield* textsIn(one);
  }
}

function withoutTexts(text) {
  const places = [...textsIn(parse(text, { ecmaVersion: "latest" }))];
  for (const [start, end] of places.toReversed()) {
    const comma = /^\s*,/.exec(text.slice(end))?.[0].length ?? 0;
    text = text.slice(0, start) + text.slice(end + comma);
  }
  return text;
}

/** What plotly.js does twice for each mark: it styles them all right after it has placed them. */
const TWICE = [
  ["Drawing.singlePointStyle(d, sel, trace, styleFns, gd);", ""],
  ["path:not([d])", "path:not([d], .point)"],
];

/** The file that places marks, without their style. */
function placingOnly(text) {
  return TWICE.reduce((done, [from, to]) => {
    const parts = done.split(from);
    if (parts.length !== 2) throw new Error(`plotly.js has another form now: ${from}`);
    return parts.join(to);
  }, text);
}

const smaller = {
  name: "smaller",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^d3-time-format$/ }, () => ({ path: path.join(HERE, "unused.cjs") }));
    onResolve({ filter: /^culori$/ }, () => ({ path: path.join(HERE, "colours.js") }));
    onLoad({ filter: /@plotly\/d3\/d3\.js$/ }, () => ({ contents: smallD3() }));
    onLoad({ filter: /plotly\.js\/build\/plotcss\.js$|\.css$/ }, () => ({ contents: "" }));
    onLoad({ filter: /plotly\.js\/src\/.*\.js$/ }, ({ path: file }) => {
      const standIn = STAND_INS.find(([where]) => where.test(file));
      if (standIn) return { contents: readFileSync(path.join(HERE, standIn[1]), "utf8") };
      const text = readFileSync(file, "utf8");
      const isPlacing = file.endsWith("/traces/scatter/plot.js");
      return { contents: withoutTexts(isPlacing ? placingOnly(text) : text) };
    });
  },
};

/** Folders of the packages whose files are in a bundle. @param {import("esbuild").Metafile} metafile */
function packagesIn({ outputs }) {
  const [{ inputs }] = Object.values(outputs);
  const scripts = Object.keys(inputs).filter((file) => !file.endsWith(".css")); // these are left out
  const found = scripts.flatMap(
    (file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [],
  );
  return [...new Set(found)].sort();
}

/** The licence of a package, under its name. */
function licenceOf(folder) {
  const { name, version, license } = described(folder);
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text = file ? readFileSync(path.join(folder, file), "utf8").trim() : `Licence: ${license}`;
  return `${name} ${version}\n\n${text}\n`;
}

const described = (folder) => JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));

function packed(content) {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  return brotliCompressSync(content, { params });
}

const { version } = createRequire(import.meta.url)("plotly.js/package.json");
const outfile = path.join(TARGET, `plotly-roofline-${version}.min.js`);
const { metafile } = await build({
  absWorkingDir: HERE,
  entryPoints: ["entry.cjs"],
  outfile,
  banner: {
    // The first line has the browser compile all of it beside the page's script, before it runs.
    js: `//# allFunctionsCalledOnLoad\n/*! The part of plotly.js ${version} that Roofline uses. Licences: LICENSE beside this file. */`,
  },
  format: "iife",
  globalName: "Plotly",
  bundle: true,
  minify: true,
  metafile: true,
  legalComments: "none",
  target: "es2022",
  define: { global: "window" },
  plugins: [smaller],
});
const folders = packagesIn(metafile).map((folder) => path.join(HERE, folder));
const parts = folders.map(described).map(({ name, version }) => [name, version]);
const content = readFileSync(outfile);
writeFileSync(`${outfile}.br`, packed(content));
writeFileSync(path.join(TARGET, "LICENSE"), folders.map(licenceOf).join(`\n${"-".repeat(72)}\n\n`));
writeFileSync(
  path.join(TARGET, "parts.json"),
  `${JSON.stringify(Object.fromEntries(parts), null, 2)}\n`,
);
