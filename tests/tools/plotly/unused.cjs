// In place of what plotly.js brings for axes of dates, for the editing of shapes and for menus: no chart here has them.

const none = () => () => "";

module.exports = Object.assign(() => {}, {
  timeFormat: none,
  utcFormat: none,
  timeFormatLocale: () => ({ utcFormat: none }),
});
