"""What idle stretches tell: the launches that ended them, and an idle start."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.importers.shared.events import Stretches, enders, in_rows
from roofline.importers.shared.stream_timeline import WORK, timeline_on
from roofline.importers.shared.sweep import Windows, sweep

EVENTS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 6)), min_size=1, max_size=12)


def column(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


def stretches(*spans: tuple[int, int], first: int = 0) -> Stretches:
    begin, end = zip(*spans, strict=True)
    return Stretches(column(*begin), column(*end), first)


@given(EVENTS)
def test_the_events_that_end_gaps_are_those_that_brute_force_finds(
    events: list[tuple[int, int]],
) -> None:
    begin = column(*(one[0] for one in events))
    end = begin + column(*(one[1] for one in events))
    found = sweep(begin, end, np.zeros(len(events), np.int32), np.zeros(1, np.int8))
    stretch, event = enders(found.gap_at, found.order, begin)
    for k, stop in enumerate(found.gap_end.tolist()):
        ended = [j for j, one in enumerate(events) if one[0] == stop]
        assert sorted(event[stretch == k].tolist()) == ended


def test_a_start_that_is_mostly_idle_ends_with_its_last_idle_stretch() -> None:
    """Idle for 96 of the first 100, then busy."""
    idle = stretches((1, 50), (53, 100), (900, 950))
    assert idle.start(busy=850) == (96, 100)


@pytest.mark.parametrize(
    ("spans", "busy"),
    [
        (((1, 5), (11, 15), (21, 25)), 988),  # idle for less than half of the time
        (((1, 50), (900, 950)), 10),  # what ran before was a tenth of all work
    ],
)
def test_a_start_with_much_work_is_not_idle(
    spans: tuple[tuple[int, int], ...], busy: float
) -> None:
    assert stretches(*spans).start(busy) == (0, 0)


def test_stretches_are_added_up_in_whole_and_clipped_to_windows() -> None:
    windows = Windows(begin=column(0, 20), end=column(20, 40))
    assert in_rows((column(5, 18), column(10, 30)), windows).tolist() == [17, 7, 10]


def test_what_an_idle_start_waited_for_is_not_taken_from_later_waits() -> None:
    """A start of 2 ms, launched late, and 1 ms, launched before; behind it 1 ms, launched late."""
    begin = column(0, 2_010_000, 3_020_000, 5_020_000)
    timeline = timeline_on(
        np.zeros(4, np.int64),
        begin=begin,
        end=begin + column(10_000, 10_000, 1_000_000, 1_000_000),
        kind=np.full(4, WORK),
        op=np.zeros(4, np.int64),
        rows=np.zeros(1, np.int64),
        transfer=np.full(4, -1),
        moved=(),
        links=(),
        launch=column(0, 2_000_000, 1_000, 5_000_000),
    )
    assert (timeline.times.start_idle_ps / 1e9).tolist() == [3.0]
    assert (timeline.times.host_wait_ps / 1e9).tolist() == [1.0]
