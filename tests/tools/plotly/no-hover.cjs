// In place of plotly.js' own words beside the pointer: the page has its own, and no figure of ours asks for these.

module.exports = { hover() {}, loneHover() {} };
