"""What idle stretches tell: the launches that ended them, and an idle start."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.importers.shared.events import Stretches, enders, in_rows
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
    assert idle.start(busy=850) == 96


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
    assert stretches(*spans).start(busy) == 0


def test_stretches_are_added_up_in_whole_and_clipped_to_windows() -> None:
    windows = Windows(begin=column(0, 20), end=column(20, 40))
    assert in_rows((column(5, 18), column(10, 30)), windows).tolist() == [17, 7, 10]
