"""Tests of captures: exact chances, intervals, and how often they err when nothing changed."""

from itertools import combinations

import numpy as np
import pytest

from roofline.compare.statistics import LEVEL, capture_median, mann_whitney


def test_three_against_three_reaches_one_in_twenty() -> None:
    found = mann_whitney([100.0, 101.0, 102.0], [110.0, 111.0, 112.0])
    assert found.p == pytest.approx(1 / 20)
    assert found.ratio == pytest.approx(111 / 101)
    assert found.low == pytest.approx(110 / 102)
    assert found.high == pytest.approx(112 / 100)


def test_two_against_two_have_no_interval() -> None:
    found = mann_whitney([100.0, 101.0], [110.0, 111.0])
    assert found.p == pytest.approx(1 / 6)
    assert found.low is None
    assert found.high is None


@pytest.mark.parametrize(("old", "new"), [(3, 4), (5, 5), (4, 6)])
def test_the_chance_is_that_of_all_orders(old: int, new: int) -> None:
    """Counted over every split of distinct times."""
    times = [1.1**k for k in range(old + new)]
    chosen = [0, *range(old + 1, old + new)]  # of the new ones, one is the fastest

    def wins(rows: tuple[int, ...] | list[int]) -> int:
        others = [k for k in range(old + new) if k not in rows]
        return sum(times[x] > times[y] for x in rows for y in others)

    splits = list(combinations(range(old + new), new))
    expected = sum(wins(rows) >= wins(chosen) for rows in splits) / len(splits)
    found = mann_whitney(
        [times[k] for k in range(old + new) if k not in chosen], [times[k] for k in chosen]
    )
    assert found.p == pytest.approx(min(expected, 1.0))


def test_equal_captures_are_no_evidence() -> None:
    found = mann_whitney([100.0] * 4, [100.0] * 4)
    assert found.p > 0.5
    assert (found.low, found.high) == (1.0, 1.0)


@pytest.mark.parametrize("count", [3, 5])
def test_false_alarms_are_as_rare_as_promised(count: int) -> None:
    """Splits of captures of one program, with the heavy noise of a busy machine."""
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(2000):
        times = 100 * np.exp(0.3 * rng.standard_t(2, 2 * count))
        found = mann_whitney(times[:count].tolist(), times[count:].tolist())
        alarms += found.low is not None and found.low > 1
    assert alarms / 2000 <= LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / 2000)


def test_a_first_step_far_off_does_not_count() -> None:
    assert capture_median((500.0, 100.0, 101.0, 102.0), 0.0) == 101.0
    assert capture_median((104.0, 100.0, 101.0, 102.0), 0.0) == 101.5
    assert capture_median((), 55.0) == 55.0
