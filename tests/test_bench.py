"""What `make bench` calls lost ground, and that each recorded row is one that it measures."""

import json

import pytest

from bench.run import CASES, RECORDED, lost_ground


@pytest.mark.parametrize(
    ("ratios", "is_lost"),
    [
        ((9.0, 9.4, 9.6), True),
        ((9.6, 9.6, 9.7), False),  # 4 % below
        ((8.0, 9.0, 10.1), False),  # a round reached it: the others may be noise
        ((11.0, 12.0, 13.0), False),
    ],
)
def test_a_row_lost_ground(ratios: tuple[float, ...], is_lost: bool) -> None:
    assert lost_ground(ratios, 10.0) is is_lost


def test_a_row_that_was_never_recorded_lost_nothing() -> None:
    assert not lost_ground((0.5,), 0)


def test_recorded_rows_are_those_of_the_cases() -> None:
    rows = {f"{name}, {kind}" for name, case in CASES.items() for kind in case.aims}
    recorded = json.loads(RECORDED.read_text("utf-8"))
    assert recorded.keys() == rows
    assert all(row["least"] <= row["ratio"] <= row["most"] for row in recorded.values())
