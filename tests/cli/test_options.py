"""Ranges of time on the command line."""

import argparse
import math

import pytest

from roofline.cli.options import read_range

MS = 1e9


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("10ms..20ms", (10 * MS, 20 * MS)),
        ("0.5s..", (500 * MS, math.inf)),
        ("..800us", (0, 0.8 * MS)),
        ("1500ns..2µs", (0.0015 * MS, 0.002 * MS)),
    ],
)
def test_a_range_has_two_ends_or_one(text: str, bounds: tuple[float, float]) -> None:
    assert read_range(text) == pytest.approx(bounds)


@pytest.mark.parametrize("text", ["10ms", "..", "10..20", "20ms..10ms", "5ms..5ms", "-1ms..2ms"])
def test_what_is_not_a_range_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        read_range(text)
