"""Figures as files lie where Plotly draws them: marks, roofs and names, within a pixel."""

import json
from collections.abc import Sequence
from math import hypot
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Page

import roofline
from roofline.figures.figure import Figure, of_width, painted
from roofline.figures.ink import ink_of
from roofline.figures.svg import svg_of
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.charts.op_figure import op_figure
from roofline.presentation.charts.program_figure import program_figure
from roofline.presentation.figure_files import FileLook
from roofline.presentation.page_rows import JOINED
from roofline.presentation.palette import LIGHT
from tests.presentation.charts.test_figures import page_of_files

LIBRARY = next((Path(__file__).parents[2] / "static/vendor/plotly").glob("plotly-*.min.js"))
WIDTH, HEIGHT = 720, 420
NEAR = 1.0  # pixels
FIGURES = ("ops", "joined levels", "shares", "program", "paper")
PLACES = """([id, selectors]) => {
  const box = document.getElementById(id);
  const { left, top } = box.getBoundingClientRect();
  const middle = (one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    return [x + width / 2 - left, y + height / 2 - top];
  };
  const along = (path) => {
    const length = path.getTotalLength(), turn = path.getScreenCTM();
    return Array.from({ length: 400 }, (_, i) => {
      const { x, y } = path.getPointAtLength((length * i) / 399).matrixTransform(turn);
      return [x - left, y - top];
    });
  };
  const all = (selector) => [...box.querySelectorAll(selector)].filter(
    (one) => getComputedStyle(one).opacity !== "0" && one.getBoundingClientRect().width > 0);
  const { marks, texts, lines } = selectors;
  return JSON.stringify({
    marks: all(marks).map(middle),
    texts: all(texts).flatMap((one) => {
      const parts = [...one.querySelectorAll("tspan.line")];
      return (parts.length ? parts : [one]).map((part) => [part.textContent, ...middle(part)]);
    }),
    lines: all(lines).map(along),
  });
}"""
DRAW = """([{ data, layout }, svg]) => {
  document.getElementById("file").innerHTML = svg;
  Plotly.purge("plot");
  return Plotly.newPlot("plot", data, layout);
}"""
PLOTLY = {
    "marks": ".points path.point",
    "texts": ".textpoint text, .xtick text, .ytick text, .xtitle",
    "lines": ".lines path",
}
OURS = {
    "marks": "g:not(.shape):not(.legend) > path[d$='Z']",
    "texts": "g:not(.legend) > text",
    "lines": "g:not(.shape):not(.grid) > path:not([d$='Z'])",
}


def figure(name: str) -> Figure:
    page = page_of_files([Path(roofline.example("v6e"))])
    match name:
        case "joined levels":
            return op_figure(page, ChartChoice(x=JOINED))
        case "shares":
            return op_figure(page, ChartChoice(y="share"))
        case "program":
            return program_figure(page)
        case "paper":
            return op_figure(page, FileLook(style="paper", width_mm=178).choice(ChartChoice()))
    return op_figure(page)


def in_plot(places: NDArray[np.float64], area: Sequence[float], by: float = 0) -> NDArray[np.bool_]:
    """Which places lie in the plot or `by` pixels beside it: lines go on past it for panning."""
    left, top, width, height = area
    low, high = np.array([left, top]) - by, np.array([left + width, top + height]) + by
    inside: NDArray[np.bool_] = np.logical_and.reduce((places > low) & (places < high), axis=1)
    return inside


def farthest(lines: Sequence[Any], others: Sequence[Any], area: Sequence[float]) -> float:
    """Pixels from the worst place of the lines in the plot to the nearest piece of the others."""
    places = np.concatenate(lines)
    places = places[in_plot(places, area)][::9]
    assert len(places) > 0
    starts = np.concatenate([line[:-1] for line in others])
    along = np.concatenate([line[1:] for line in others]) - starts
    near = in_plot(starts, area, by=50)
    starts, along = starts[near], along[near]
    length = (along**2).sum(axis=1)
    worst = 0.0
    for at in places:
        part = ((at - starts) * along).sum(axis=1) / np.where(length > 0, length, 1)
        nearest = starts + along * part.clip(0, 1)[:, None]
        worst = max(worst, float(np.hypot(*(nearest - at).T).min()))
    return worst


def test_a_file_is_drawn_as_plotly_draws_the_figure(page: Page) -> None:
    page.set_content(
        "<style>#plot .main-svg{position:absolute;top:0;left:0}"
        f"#plot,#file{{position:absolute;left:0;width:{WIDTH}px;height:{HEIGHT}px}}"
        f"#file{{top:{HEIGHT}px}}</style><div id=plot></div><div id=file></div>"
    )
    page.add_script_tag(path=LIBRARY)
    for name in FIGURES:
        is_drawn_alike(page, figure(name))


def is_drawn_alike(page: Page, drawing: Figure) -> None:
    part = painted(of_width(drawing, "wide"), LIGHT.__getitem__)
    ink = ink_of(part, WIDTH, HEIGHT)
    svg = svg_of(ink, "", "", width=str(WIDTH), height=str(HEIGHT)).decode()
    family = "Helvetica, Arial, 'Liberation Sans', sans-serif"
    size: dict[str, Any] = {"width": WIDTH, "height": HEIGHT}
    part["layout"] |= size | {"font": part["layout"]["font"] | {"family": family}}
    page.evaluate(DRAW, [part, svg])
    plotly = json.loads(page.evaluate(PLACES, ["plot", PLOTLY]))
    ours = json.loads(page.evaluate(PLACES, ["file", OURS]))
    assert len(plotly["marks"]) == len(ours["marks"]) > 0
    for a, b in zip(plotly["marks"], ours["marks"], strict=True):
        assert hypot(a[0] - b[0], a[1] - b[1]) < NEAR
    texts = [sorted(one["texts"]) for one in (plotly, ours)]
    assert [text for text, *_ in texts[0]] == [text for text, *_ in texts[1]]
    for (text, *a), (_, *b) in zip(*texts, strict=True):
        assert hypot(a[0] - b[0], a[1] - b[1]) < NEAR, text
    for one, other in ((plotly, ours), (ours, plotly)):
        assert farthest(one["lines"], other["lines"], ink.plot) < NEAR
