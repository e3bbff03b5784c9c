// In place of plotly.js' own buttons over a chart: the page has its own.

module.exports = {
  moduleType: "component",
  name: "modebar",
  layoutAttributes: {},
  supplyLayoutDefaults(layoutIn, layoutOut) {
    layoutOut.modebar = { orientation: "h" }; // plotly.js reads it to place the layer of the buttons
  },
  manage() {},
};
