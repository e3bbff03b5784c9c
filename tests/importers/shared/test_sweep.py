"""The compiled sweep, held against a brute-force one on generated sets of intervals."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.importers.shared.sweep import Swept, Windows, sweep, time_inside, union_length
from roofline.model.profile import distinct, distinct_rows

# begin, length, slot
Span = tuple[int, int, int]
CLASSES = [0, 0, 1, 1, 2]  # of the slots
SPANS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 12), st.integers(0, len(CLASSES) - 1)), max_size=14
)
EDGES = st.lists(st.integers(0, 50), min_size=2, max_size=6)
START = 1_700_000_000_000_000_000  # nanoseconds since 1970, as some traces count


def swept(spans: Sequence[Span], windows: Windows | None = None) -> Swept:
    columns = np.array(spans, np.int64).reshape(-1, 3)
    begin = columns[:, 0] + START
    classes = np.array(CLASSES, np.int8)
    return sweep(begin, begin + columns[:, 1], columns[:, 2].astype(np.int32), classes,
                 windows=windows)  # fmt: skip


def windows_of(edges: Sequence[int]) -> Windows:
    ordered = np.array(sorted(edges), np.int64) + START
    return Windows(begin=ordered[:-1], end=ordered[1:])


def is_active(span: Span, now: int) -> bool:
    return span[0] <= now < span[0] + span[1]


def brute_force(spans: Sequence[Span], instants: range) -> list[float]:
    """Each instant goes to the best class that is active, in equal parts; sums by slot."""
    owned = [0.0] * len(CLASSES)
    for now in instants:
        active = [slot for begin, length, slot in spans if is_active((begin, length, slot), now)]
        best = min((CLASSES[slot] for slot in active), default=None)
        owners = [slot for slot in active if CLASSES[slot] == best]
        for slot in owners:
            owned[slot] += 1 / len(owners)
    return owned


@given(SPANS)
def test_every_instant_has_the_owners_that_brute_force_finds(spans: list[Span]) -> None:
    assert np.allclose(swept(spans).time, brute_force(spans, range(60)), atol=1e-9)


@given(SPANS)
def test_events_are_counted_and_their_lengths_added(spans: list[Span]) -> None:
    found = swept(spans)
    for slot in range(len(CLASSES)):
        mine = [length for _, length, its in spans if its == slot]
        assert (found.events[slot], found.lasted[slot]) == (len(mine), sum(mine))
    assert found.started.tolist() == found.events.tolist()


@given(SPANS)
def test_owned_time_and_gaps_add_up_to_the_hull(spans: list[Span]) -> None:
    found = swept(spans)
    gaps = found.gap_end - found.gap_begin
    assert np.isclose(found.time.sum() + gaps.sum(), found.last - found.first, atol=1e-9)
    assert (gaps > 0).all()
    assert (found.gap_begin[1:] > found.gap_end[:-1]).all()
    columns = np.array(spans, np.int64).reshape(-1, 3)
    assert (columns[found.order[found.gap_at], 0] + START == found.gap_end).all()


@given(SPANS, EDGES)
def test_windows_divide_what_intervals_own(spans: list[Span], edges: list[int]) -> None:
    """Also windows without length."""
    windows = windows_of(edges)
    found = swept(spans, windows)
    assert np.allclose(found.time, swept(spans).time, atol=1e-9)
    time, events = np.zeros((2, len(windows), len(CLASSES)))
    np.add.at(time, (found.window, found.slot_in_window), found.time_in_window)
    np.add.at(events, (found.window, found.slot_in_window), found.events_in_window)
    for k, (first, last) in enumerate(itertools.pairwise(sorted(edges))):
        assert np.allclose(time[k], brute_force(spans, range(first, last)), atol=1e-9)
        for slot in range(len(CLASSES)):
            inside = [span for span in spans if span[2] == slot and meets(span, first, last)]
            assert events[k, slot] == len(inside)
    pairs = list(zip(found.window.tolist(), found.slot_in_window.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)


def meets(span: Span, first: int, last: int) -> bool:
    """An event without length is in the window that holds its begin."""
    begin, end = span[0], span[0] + max(span[1], 1)
    return max(begin, first) < min(end, last)


@given(SPANS, st.integers(0, 30), st.integers(1, 30))
def test_gaps_are_clipped_to_windows(spans: list[Span], first: int, length: int) -> None:
    windows = windows_of([first, first + length])
    found = swept(spans)
    low, high = found.first - START, found.last - START
    empty = [
        now
        for now in range(max(low, first), min(high, first + length))
        if not any(is_active(span, now) for span in spans)
    ]
    assert time_inside(found.gap_begin, found.gap_end, windows).sum() == len(empty)


def test_many_intervals_at_once_share_every_instant() -> None:
    """More than the first heap holds, and all of them in two windows."""
    n = 1000
    begin = np.arange(n)
    found = sweep(
        begin,
        np.full(n, 10 * n),
        (begin % 3).astype(np.int32),
        np.zeros(3, np.int8),
        windows=Windows(begin=np.array([0, 5 * n]), end=np.array([5 * n, 20 * n])),
    )
    assert found.time.sum() == pytest.approx(10 * n, rel=1e-12)
    in_second = found.time_in_window[found.window == 1]
    assert in_second.sum() == pytest.approx(5 * n, rel=1e-12)
    assert found.events_in_window[found.window == 1].sum() == n


def test_only_events_that_start_something_count_as_started() -> None:
    found = sweep(
        np.array([0, 1]),
        np.array([1, 2]),
        np.zeros(2, np.int32),
        np.zeros(1, np.int8),
        starts=np.array([True, False]),
    )
    assert (found.events.tolist(), found.started.tolist()) == ([2], [1])


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=10))
def test_union_of_intervals_counts_no_instant_twice(spans: list[tuple[int, int]]) -> None:
    columns = np.array(spans, np.uint64).reshape(-1, 2)
    covered = {now for begin, length in spans for now in range(begin, begin + length)}
    assert union_length(columns[:, 0], columns[:, 1]) == len(covered)


KEYS = st.one_of(st.integers(-3, 5), st.integers(-(2**62), 2**62))


@given(st.lists(KEYS, max_size=20))
def test_distinct_keys_are_those_of_a_sort(keys: list[int]) -> None:
    found, place = distinct(np.array(keys, np.int64))
    assert found.tolist() == sorted(set(keys))
    assert found[place].tolist() == keys


@given(st.lists(st.tuples(KEYS, st.integers(0, 2), KEYS), max_size=20))
def test_distinct_rows_are_those_of_a_sort(rows: list[tuple[int, int, int]]) -> None:
    found, place = distinct_rows(np.array(rows, np.int64).reshape(-1, 3).T)
    assert [tuple(row) for row in found.tolist()] == sorted(set(rows))
    assert [tuple(row) for row in found[place].tolist()] == rows
