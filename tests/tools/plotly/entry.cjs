// What our charts use of plotly.js: lines, marks and bars on cartesian axes, shapes, annotations, a legend, pictures.
// Written after lib/core.js of plotly.js 4.1.1, which registers more.

const registry = require("plotly.js/src/registry");

const methods = {
  ...require("plotly.js/src/plot_api/plot_api"),
  toImage: require("plotly.js/src/plot_api/to_image"),
};

exports.version = require("plotly.js/src/version").version;
for (const [name, fn] of Object.entries(methods)) {
  if (!name.startsWith("_")) exports[name] = fn;
  registry.register({ moduleType: "apiMethod", name, fn });
}

registry.register([
  require("plotly.js/src/traces/scatter"),
  require("plotly.js/src/traces/bar"),
  require("plotly.js/src/components/annotations"),
  require("plotly.js/src/components/shapes"),
  require("plotly.js/src/components/colorscale"),
  require("plotly.js/src/components/legend"),
  require("plotly.js/src/components/fx"),
  require("plotly.js/src/components/modebar"),
  require("plotly.js/src/locale-en"),
  require("plotly.js/src/locale-en-us"),
]);
