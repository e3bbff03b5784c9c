"""Scenes as SVG: places, escaping, and figures of their own."""

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.figures.marks import CORNERS
from roofline.figures.packing import pack
from roofline.figures.roofs import FlatLabel, Roof, Roofs, flat_places, roof_lines, slanted_labels
from roofline.figures.scale import (
    Margin,
    Scale,
    heaviest,
    log_ticks,
    spread,
    with_headroom,
    without_strays,
)
from roofline.figures.scene import Area, Layer, Line, Mark, Shape, Text
from roofline.figures.svg import SvgWriter, dash_array

SVG = "{http://www.w3.org/2000/svg}"
MARGIN = Margin(left=80, right=20, top=10, bottom=40)
SCALE = Scale(x=(0, 4), y=(0, 5), width=500, height=300, margin=MARGIN)
HBM = Roof(id="hbm", label="HBM", peak=1000, token="--roof-hbm", dash="solid", sustained=0.8)
L2 = Roof(id="l2", label="L2", peak=1500, token="--roof-l2", dash="dash")
TENSOR = Roof(id="t", label="Tensor", peak=100_000, token="--roof-compute", dash="solid")


def drawn(*shapes: Shape) -> ElementTree.Element:
    text = SvgWriter(SCALE).document([Layer(shapes=shapes)], title="A <figure>")
    return ElementTree.fromstring(text)


def test_a_figure_of_its_own_is_in_the_pixels_of_its_scale() -> None:
    root = drawn(Line(points=((0, 0), (4, 5)), token="--ink", width=2, dash="dot"))
    assert (root.get("width"), root.get("viewBox")) == ("500", "0 0 500 300")
    assert root.findtext(f"{SVG}title") == "A <figure>"
    plot = root.find(f"{SVG}svg")
    assert plot is not None
    assert [plot.get(name) for name in ("x", "y", "width", "height")] == ["80", "10", "400", "250"]
    (line,) = root.iter(f"{SVG}line")
    assert [line.get(name) for name in ("x1", "y1", "x2", "y2")] == ["0%", "100%", "100%", "0%"]
    assert line.get("stroke-dasharray") == "3,3"


def test_text_of_strangers_stays_text() -> None:
    name = '</text><script>alert("1")</script>&'
    root = drawn(Text(text=name, at=(1, 1), angle=-30, plate="--surface", width=50))
    assert [text.text for text in root.iter(f"{SVG}text")] == [name]
    assert not list(root.iter(f"{SVG}script"))


def test_colours_are_those_of_the_page_or_of_the_caller() -> None:
    shape = Area(x0=0, x1=2, token="--region")
    layer = Layer(shapes=(shape,))
    assert 'fill="var(--region)"' in SvgWriter(SCALE).layers([layer])
    alone = SvgWriter(SCALE, {"--region": "#fff"}.__getitem__).layers([layer])
    assert 'fill="#fff"' in alone
    assert 'width="50%"' in alone


@pytest.mark.parametrize("symbol", [*CORNERS, "star-open", "circle", "unheard-of"])
def test_every_mark_lies_at_its_place(symbol: str) -> None:
    root = drawn(Mark(at=(1, 4), radius=5, symbol=symbol, token="--c1"))
    (shape,) = (one for one in root.iter() if one.get("color"))
    at = next(one for one in root.iter() if one.get("cx") == "25%" or one.get("x") == "25%")
    assert at.get("cy", at.get("y")) == "20%"
    assert shape.get("fill") == "currentColor"


def test_dashes_grow_with_wide_lines() -> None:
    assert dash_array("dash", 2) == "9,9"
    assert dash_array("dash", 4) == "12,12"
    assert dash_array("1,4", 2) == "1,4"
    assert dash_array("solid", 2) == ""


def test_ticks_are_thinned_out_and_refined() -> None:
    assert log_ticks((0, 3), 400, 52) == [1, 10, 100, 1000]
    assert log_ticks((0, 6), 150, 52) == [1, 1000, 1e6]
    assert log_ticks((0, 1), 400, 52) == pytest.approx([1, 2, 5, 10])


@given(st.lists(st.floats(-9, 9), min_size=1), st.floats(0.1, 9))
def test_a_range_holds_its_values_and_keeps_its_length(values: list[float], least: float) -> None:
    low, high = spread(values, (0.1, 0.2), least)
    assert low < min(values) <= max(values) < high
    assert high - low >= least - 1e-9


def test_headroom_is_a_share_of_the_axis() -> None:
    low, high = with_headroom((0, 4), 4, 0.2)
    assert (high - 4) / (high - low) == pytest.approx(0.2)
    assert with_headroom((0, 9), 4, 0.2) == (0, 9)


def test_strays_far_below_are_left_out() -> None:
    heights, weights = [4.0, -3.0, 3.5, -2.5], [0.6, 0.002, 0.395, 0.003]
    assert sorted(without_strays(heights, weights)) == [0, 2]
    assert sorted(without_strays(heights, [0.6, 0.02, 0.35, 0.03])) == [0, 1, 2, 3]
    assert without_strays([], []) == []


def test_the_heaviest_make_nearly_all() -> None:
    assert heaviest([1, 96, 0.5, 3], 0.98) == [1, 3]
    assert heaviest([]) == []


def test_roofs_meet_and_labels_keep_apart() -> None:
    shown = Roofs(memory=(HBM, L2), compute=(TENSOR,))
    hbm, l2, tensor = roof_lines(shown, SCALE.x)
    assert hbm.points[1] == pytest.approx((2, 5))
    assert tensor.points[0] == pytest.approx((5 - math.log10(1500), 5))
    sustained = hbm.sustained()
    assert sustained is not None
    assert sustained[1] == pytest.approx((2, 5 + math.log10(0.8)))
    assert l2.sustained() is None
    # The two lines are closer than a text is high: one label lies above, the other below.
    labels = slanted_labels([hbm, l2], SCALE, lambda _: 60)
    assert [(label.roof.id, label.below) for label in labels] == [("l2", False), ("hbm", True)]
    assert slanted_labels([hbm], SCALE, lambda _: 2000) == []


def test_labels_of_flat_lines_move_left_or_are_left_out() -> None:
    labels = [FlatLabel(roof=TENSOR, y=y, width=100, left=180) for y in (50, 55, 200, 57)]
    placed = flat_places(labels, 400)
    assert [(one.y, one.right) for one in placed] == [(50, 400), (55, 290), (200, 400)]


@given(st.lists(st.tuples(st.floats(0, 300), st.floats(2, 8)), max_size=25))
def test_packed_discs_do_not_hide_each_other(discs: list[tuple[float, float]]) -> None:
    offsets, crowded = pack(discs, 400)
    assert crowded == 0
    for i, (x, r) in enumerate(discs):
        for j, (other, size) in enumerate(discs[:i]):
            distance = (x - other) ** 2 + (offsets[i] - offsets[j]) ** 2
            assert distance >= 0.9 * (r + size) ** 2 - 1e-6


def test_discs_without_room_are_counted() -> None:
    offsets, crowded = pack([(0, 5)] * 4, 6)
    assert crowded == 3
    assert max(map(abs, offsets)) <= 1
