"""The interval sweep, held against a brute-force one on generated sets of intervals."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from roofline.importers.shared.sweep import Sweep, Windows, time_inside, union_length

INTERVALS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 12), st.integers(0, 2)), min_size=0, max_size=12
)
START = 1_700_000_000_000_000_000  # nanoseconds since 1970, as some traces count


def sweep_of(spans: list[tuple[int, int, int]]) -> Sweep:
    columns = np.array(spans, np.int64).reshape(-1, 3)
    begin = columns[:, 0] + START
    return Sweep(begin, begin + columns[:, 1], columns[:, 2])


def brute_force(spans: list[tuple[int, int, int]], instants: range) -> list[float]:
    """Each instant goes to the best class that is active, in equal parts."""
    owned = [0.0] * len(spans)
    for now in instants:
        active = [k for k, (begin, length, _) in enumerate(spans) if begin <= now < begin + length]
        best = min((spans[k][2] for k in active), default=None)
        owners = [k for k in active if spans[k][2] == best]
        for k in owners:
            owned[k] += 1 / len(owners)
    return owned


@given(INTERVALS)
def test_every_instant_has_the_owners_that_brute_force_finds(
    spans: list[tuple[int, int, int]],
) -> None:
    assert np.allclose(sweep_of(spans).exclusive(), brute_force(spans, range(60)), atol=1e-9)


@given(INTERVALS)
def test_owned_time_and_gaps_add_up_to_the_hull(spans: list[tuple[int, int, int]]) -> None:
    sweep = sweep_of(spans)
    begin, end = sweep.gaps()
    first, last = sweep.hull
    assert np.isclose(sweep.exclusive().sum() + (end - begin).sum(), last - first, atol=1e-9)
    assert (end > begin).all()


@given(INTERVALS, st.lists(st.integers(0, 50), min_size=2, max_size=6, unique=True))
def test_windows_divide_what_intervals_own(
    spans: list[tuple[int, int, int]], edges: list[int]
) -> None:
    edges = sorted(edges)
    windows = Windows(
        begin=np.array(edges[:-1], np.int64) + START, end=np.array(edges[1:], np.int64) + START
    )
    interval, window, owned = sweep_of(spans).exclusive_in(windows)
    found = np.zeros((len(spans), len(windows)))
    np.add.at(found, (interval, window), owned)
    for k, (first, last) in enumerate(itertools.pairwise(edges)):
        assert np.allclose(found[:, k], brute_force(spans, range(first, last)), atol=1e-9)


@given(INTERVALS, st.integers(0, 30), st.integers(1, 30))
def test_gaps_are_clipped_to_windows(
    spans: list[tuple[int, int, int]], first: int, length: int
) -> None:
    windows = Windows(begin=np.array([first + START]), end=np.array([first + length + START]))
    sweep = sweep_of(spans)
    low, high = (bound - START for bound in sweep.hull)
    empty = [
        now
        for now in range(max(low, first), min(high, first + length))
        if not any(begin <= now < begin + lasted for begin, lasted, _ in spans)
    ]
    assert time_inside(*sweep.gaps(), windows).sum() == len(empty)


def test_union_of_intervals_counts_no_instant_twice() -> None:
    begin, end = np.array([0, 5, 20]), np.array([10, 12, 21])
    assert union_length(begin, end) == 13
