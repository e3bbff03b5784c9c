"""Blocks of time: order, staircases that keep all sums, rectangles without holes, a picture."""

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.figures.gain import (
    LEAST_SHARE,
    Block,
    Part,
    Texture,
    bars,
    in_order,
    merged,
    rectangles,
)
from roofline.figures.gain_pair import HEIGHT, WIDTH, picture

RATIO = st.floats(0, 1)


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    """A block of any part, with times over many orders of magnitude."""
    part = draw(st.sampled_from(Part))
    time_us = math.exp(draw(st.floats(-6, 12)))
    is_judged = part in (Part.WORK, Part.WAIT)
    needed_us = time_us * draw(RATIO) if is_judged else 0.0
    gap_us = time_us - needed_us
    return Block(
        part=part,
        key=part.value,
        token=draw(st.sampled_from(["--roof-hbm", "--roof-compute"])),
        time_us=time_us,
        needed_us=needed_us,
        wasted_us=gap_us * draw(RATIO) if part is Part.WORK else 0.0,
        gain_us=gap_us if is_judged else 0.0,
        ops=(draw(st.integers(0, 9)),),
        name=draw(st.sampled_from(["a", "b", "<b>"])),
    )


LISTS = st.lists(blocks(), min_size=1, max_size=40)


def sums(found: list[Block]) -> list[float]:
    """Time, need, waste and gain of each part."""
    return [
        math.fsum(getattr(one, name) for one in found if one.part is part)
        for part in Part
        for name in ("time_us", "needed_us", "wasted_us", "gain_us")
    ]


@given(LISTS)
@settings(max_examples=40)
def test_a_staircase_keeps_all_sums_and_every_operation(found: list[Block]) -> None:
    total_us = math.fsum(one.time_us for one in found)
    stairs = merged(in_order(found), LEAST_SHARE * total_us)
    assert sums(stairs) == pytest.approx(sums(found), rel=1e-9, abs=1e-9 * total_us)
    assert sorted(op for one in stairs for op in one.ops) == sorted(
        op for one in found for op in one.ops
    )
    waits = sum(one.part is Part.WAIT for one in found)
    assert len(stairs) - waits <= 1 / LEAST_SHARE + len(Part)


@given(LISTS)
@settings(max_examples=40)
def test_gains_fall_from_left_to_right_and_what_is_not_known_comes_last(found: list[Block]) -> None:
    ordered = in_order(found)
    judged = [one.gain_us for one in ordered if one.part in (Part.WORK, Part.WAIT)]
    assert judged == sorted(judged, reverse=True)
    last = [one.part for one in ordered if one.part in (Part.UNKNOWN, Part.IMPOSSIBLE)]
    assert [one.part for one in ordered][len(ordered) - len(last) :] == last
    assert last == sorted(last, key=[Part.UNKNOWN, Part.IMPOSSIBLE].index)
    times = [one.time_us for one in in_order(found, by_time=True)]
    assert times == sorted(times, reverse=True)


@given(LISTS)
@settings(max_examples=40)
def test_rectangles_cover_the_time_without_holes(found: list[Block]) -> None:
    drawn = list(rectangles(found))
    left_us = 0.0
    for number, block in enumerate(found):
        own = [one for one in drawn if one.block == number]
        assert {one.width_us for one in own} == {block.time_us}
        assert [one.left_us for one in own] == pytest.approx([left_us] * len(own))
        filled = [one for one in own if one.texture is not Texture.STAY]
        assert math.fsum(one.height for one in filled) == pytest.approx(1)
        left_us += block.time_us
    areas = math.fsum(one.height * one.width_us for one in drawn if one.texture is Texture.NEED)
    needed = math.fsum(one.needed_us for one in found if one.part is Part.WORK)
    assert areas == pytest.approx(needed, abs=1e-9 * left_us)


@given(LISTS)
@settings(max_examples=40)
def test_bars_are_the_rectangles_upright_and_lying(found: list[Block]) -> None:
    drawn = list(rectangles(found))
    wide, narrow = bars(drawn, 1e3, "wide"), bars(drawn, 1e3, "narrow")
    assert sum(len(trace["x"]) for trace in wide) == len(drawn)
    for upright, lying in zip(wide, narrow, strict=True):
        assert (upright["x"], upright["y"]) == (lying["y"], lying["x"])
        assert (upright["base"], upright["width"]) == (lying["base"], lying["width"])


@given(LISTS)
@settings(max_examples=40)
def test_the_picture_is_small_inert_and_inside_of_its_frame(found: list[Block]) -> None:
    text = picture(in_order(found))
    assert len(text) < 12_000
    assert "<b>" not in text
    root = ElementTree.fromstring(text)
    for path in root.iter("{http://www.w3.org/2000/svg}path"):
        for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path.get("d") or ""):
            assert -0.1 <= float(x) <= WIDTH + 0.6
            assert -0.1 <= float(y) <= HEIGHT + 0.6


def test_nothing_has_no_picture() -> None:
    assert picture([]) == ""
