"""Lasting changes of a series of times: their first run, and no false alarm."""

import numpy as np
import pytest

from roofline.compare.series import time_changes

SEED = 30


def _quiet(runs: int, random: np.random.Generator, noise: float = 0.01) -> list[float]:
    return [float(time) for time in 1000 * np.exp(random.normal(0, noise, runs))]


def test_five_slower_runs_after_ten_quiet_ones_begin_at_the_eleventh() -> None:
    random = np.random.default_rng(SEED)
    for _ in range(4):
        times = [*_quiet(10, random), *(1.05 * time for time in _quiet(5, random))]
        assert [(one.start, one.first, one.end) for one in time_changes(times)] == [(0, 10, 15)]
    assert time_changes(times) == time_changes(times), "answers repeat"


def test_a_change_that_was_taken_back_is_two() -> None:
    random = np.random.default_rng(SEED)
    times = _quiet(30, random, 0.005)
    times[12:18] = [0.9 * time for time in times[12:18]]
    first, second = time_changes(times)
    assert (first.first, first.end, second.start, second.first) == (12, 18, 12, 18)
    assert first.after_us == second.before_us == pytest.approx(900, rel=0.01)
    assert [[*side] for side in second.sides] == [[13, 14, 15, 16, 17], [18, 19, 20, 21, 22]]


@pytest.mark.parametrize(
    "times",
    [[], [5.0], [100.0] * 30, [0.0] * 9, [100.0] * 6 + [100.3] * 6, [100.0] * 10 + [150.0] * 2],
)
def test_few_equal_and_hardly_changed_runs_have_no_change(times: list[float]) -> None:
    assert time_changes(times) == ()


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.long)])
def test_quiet_series_raise_no_alarm(count: int) -> None:
    random = np.random.default_rng(SEED)
    assert [k for k in range(count) if time_changes(_quiet(30, random, 0.02))] == []
