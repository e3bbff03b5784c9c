"""Scales, roofs, places of texts, and tokens of figures."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.figures.figure import inert, painted
from roofline.figures.labels import POSITIONS, Board, Spot, box_of
from roofline.figures.roofs import Roof, Roofs, roof_lines
from roofline.figures.scale import heaviest, log_ticks, spread, with_headroom, without_strays

X = (0.0, 4.0)
HBM = Roof(id="hbm", label="HBM", peak=1000, token="--roof-hbm", dash="solid", sustained=0.8)
L2 = Roof(id="l2", label="L2", peak=1500, token="--roof-l2", dash="dash")
TENSOR = Roof(id="t", label="Tensor", peak=100_000, token="--roof-compute", dash="solid")
NO_MARKS: list[tuple[float, float, float]] = []


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


@pytest.mark.covers(178, 225)
def test_roofs_meet_at_their_ridges() -> None:
    shown = Roofs(memory=(HBM, L2), compute=(TENSOR,))
    hbm, l2, tensor = roof_lines(shown, X)
    (left, low), (right, high) = hbm.points
    assert (high - low) / (right - left) == pytest.approx(1), "the logarithms rise alike"
    assert (right, high) == pytest.approx((2, 5))
    assert tensor.points[0] == pytest.approx((5 - math.log10(1500), 5))
    sustained = hbm.sustained()
    assert sustained is not None
    assert sustained[1] == pytest.approx((2, 5 + math.log10(0.8)))
    assert l2.sustained() is None


def spots(x: float, y: float, radius: float = 5.0) -> list[Spot]:
    return [Spot(x=x, y=y, position=position, radius=radius) for position in POSITIONS]


def test_texts_do_not_overlap_and_stay_inside() -> None:
    board = Board(width=200, height=100, marks=NO_MARKS, lines=[])
    placed = [board.put(spots(100, 50), "matmul", 11, 1) for _ in range(12)]
    found = [spot for spot in placed if spot is not None]
    assert 2 <= len(found) < 12
    boxes = [box_of(spot, "matmul", 11) for spot in found]
    for number, (left, top, right, bottom) in enumerate(boxes):
        assert 0 <= left < right <= 200
        assert 0 <= top < bottom <= 100
        assert all(
            right <= other[0] or left >= other[2] or bottom <= other[1] or top >= other[3]
            for other in boxes[:number]
        )


def test_a_text_stands_beside_its_mark_and_covers_no_large_one() -> None:
    marks = [(50.0, 50.0, 10.0), (80.0, 50.0, 12.0)]
    board = Board(width=200, height=100, marks=marks, lines=[])
    spot = board.put(spots(50, 50, 10), "dot", 11, 1)
    assert spot is not None
    assert spot.position == "middle left"


def test_a_text_keeps_clear_of_a_line_where_it_can() -> None:
    board = Board(width=200, height=100, marks=NO_MARKS, lines=[(50, 50, 200, 50)])
    spot = board.put(spots(100, 50), "dot", 11, 6)
    assert spot is not None
    assert "middle" not in spot.position


def test_tokens_become_colours_and_names_that_look_like_one_stay() -> None:
    trace = {"name": "--c1", "text": ["--c2"], "marker": {"color": ["--c3", "red"], "size": 3}}
    assert painted(trace, str.upper) == {
        "name": "--c1",
        "text": ["--c2"],
        "marker": {"color": ["--C3", "red"], "size": 3},
    }


def test_markup_in_names_is_inert() -> None:
    assert inert('<a href="x">&') == '&lt;a href="x"&gt;&amp;'
