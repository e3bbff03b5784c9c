"""The time of two programs in one figure: the strips of both, and what joins them."""

from itertools import pairwise
from typing import Any

import pytest

from roofline.figures.figure import Width
from roofline.figures.gain_pair import Axis, Pair, blocks_of, gain_pair_figure, pair_pictures

PAIRS = [
    Pair("<b>Norm</b>", "−4 µs", blocks_of("--c1", 10, 5, 10), blocks_of("--c1", 6, 3, 4), ("x",)),
    Pair("Old", "−3 µs", blocks_of("--c1", 3, 1, 3), (), ()),
    Pair(
        "host", "+2 µs", blocks_of("--c2", 5, 0, 0, "idle"), blocks_of("--c2", 7, 0, 0, "idle"), ()
    ),
]
AXIS = Axis("µs", 1.0, 18.0)


def traces(width: Width, role: str) -> list[dict[str, Any]]:
    figure = gain_pair_figure(PAIRS, ("A", "B"), AXIS, "")
    metas = [(one, one["meta"]) for one in figure["data"]]
    return [one for one, meta in metas if (meta["width"], meta["role"]) == (width, role)]


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_all_of_both_times_is_drawn_and_what_one_side_has_stands_last(width: Width) -> None:
    along = "x" if width == "wide" else "y"
    a, b = traces(width, "marks")
    assert (sum(a["width"]), sum(b["width"])) == (18, 13)
    for side in (a, b):
        for (start, next_start), length in zip(pairwise(side[along]), side["width"], strict=False):
            assert start + length == next_start
    assert [card.partition("<br>")[0] for card in a["hovertext"]] == [
        "&lt;b&gt;Norm&lt;/b&gt;",
        "host",
        "Old",
    ]
    assert len(b["hovertext"]) == 2
    (joins,) = traces(width, "joins")
    assert joins[along] == [0, 10, 6, 0, 0, None, 10, 15, 13, 6, 10, None]
    (labels,) = traces(width, "labels")
    assert labels["text"][0] == "&lt;b&gt;Norm&lt;/b&gt; −4 µs"


def test_work_of_unknown_cost_is_no_part_of_the_height() -> None:
    work, unknown = PAIRS[0].b
    assert (work.time_us, work.gain_us, unknown.time_us) == (4, 1, 2)
    assert sum(one.time_us for one in blocks_of("", 6, 0, 9)) == 6


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_a_long_name_of_a_device_has_two_lines_in_the_margin(width: Width) -> None:
    figure = gain_pair_figure(PAIRS, ("TPU v6e (Trillium)", "<b>"), AXIS, "")
    texts = figure["layouts"][width]["yaxis" if width == "wide" else "xaxis"]["ticktext"]
    assert [one.strip("\u2068\u2069") for one in texts] == ["TPU v6e<br>(Trillium)", "&lt;b&gt;"]


def test_pictures_have_one_scale() -> None:
    a, b = pair_pictures(PAIRS, AXIS)
    assert a.startswith("<svg") and b.startswith("<svg")
    assert "M0.0 18.0h73.3v18.0" in a  # 10 of 18 us of 132 px
    assert "h29.3v" in b  # 4 of the same 18 us
