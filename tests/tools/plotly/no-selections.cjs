// In place of selecting with plotly.js, which brings a library for polygons: the page selects by itself.

module.exports = {
  moduleType: "component",
  name: "selections",
  layoutAttributes: {},
  supplyLayoutDefaults() {},
  supplyDrawNewSelectionDefaults() {},
  draw() {},
  drawOne() {},
  reselect() {},
  prepSelect() {},
  clearOutline() {},
  clearSelectionsCache() {},
  selectOnClick() {},
};
