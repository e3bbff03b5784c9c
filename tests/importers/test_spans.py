"""Nesting, sums and steps of spans, held against plain Python written the slow way.

Events come in pieces; nothing may depend on where a piece ends.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from numpy.typing import NDArray

from roofline.importers.xspace import spans
from roofline.importers.xspace.nested_sums import Walk
from roofline.importers.xspace.spans import PairNumbers, StepFollower

U64 = 2**64
T = TypeVar("T")
NESTED_ONLY, SKIPPED = -1, -2


def u64(values: Iterable[int]) -> NDArray[np.uint64]:
    return np.array(list(values), np.uint64)


def i64(values: Iterable[int]) -> NDArray[np.int64]:
    return np.array(list(values), np.int64)


# ------------------------------------------------------------------------------------- the slow way


def slow_parents(events: Sequence[tuple[int, int]], apart: set[int] | tuple[()] = ()) -> list[int]:
    """Nearest preceding event that includes each event and is still open; -1 without."""
    found: list[int] = []
    stack: list[int] = []
    for k, (begin, end) in enumerate(events):
        if k in apart:
            found.append(-1)
            continue
        while stack and not (events[stack[-1]][0] <= begin and end <= events[stack[-1]][1]):
            stack.pop()
        found.append(stack[-1] if stack else -1)
        stack.append(k)
    return found


def slow_sums(
    events: Sequence[tuple[int, int]], rows: Sequence[int], *, clamp: bool
) -> dict[int, tuple[int, int, int]]:
    """{row: (time, self time, occurrences)}, each event less its direct children."""
    parents = slow_parents(events)
    inside = [0] * len(events)
    for (begin, end), parent in zip(events, parents, strict=True):
        if parent >= 0:
            inside[parent] += end - begin
    sums: dict[int, tuple[int, int, int]] = {}
    for (begin, end), row, children in zip(events, rows, inside, strict=True):
        own = end - begin - children
        own = max(0, own) if clamp else own % U64
        time, self_time, times = sums.get(row, (0, 0, 0))
        sums[row] = (time + end - begin, (self_time + own) % U64, times + 1)
    sums.pop(NESTED_ONLY, None)
    return sums


def slow_follow(
    steps: Sequence[tuple[int, int]], events: Sequence[tuple[int, int]], *, containing: bool = False
) -> list[int]:
    """The current step as long as it fits, else the first later one that does not end before."""
    found, current = [], -1
    for begin, end in events:

        def fits(step: int, begin: int = begin, end: int = end) -> bool:
            low, high = steps[step]
            return low <= begin and end <= high if containing else low <= end and begin <= high

        if current >= 0 and fits(current):
            found.append(current)
            continue
        later = [k for k in range(current + 1, len(steps)) if steps[k][1] >= begin]
        reached = later and steps[later[0]][0] <= end
        current = later[0] if reached else current
        found.append(current if reached and fits(current) else -1)
    return found


def cut(values: Sequence[T], ends: Sequence[int]) -> list[Sequence[T]]:
    """`values` in pieces that end at `ends`."""
    edges = [0, *sorted(min(end, len(values)) for end in ends), len(values)]
    return [values[a:b] for a, b in pairwise(edges)]


def walk_of(
    events: Sequence[tuple[int, int]],
    rows: Sequence[int] | range,
    *,
    clamp: bool = True,
    ends: Sequence[int] | tuple[()] = (),
    metas: Sequence[int] | None = None,
    times: Sequence[int] | None = None,
    only_rows: bool = False,
) -> Walk:
    """A finished walk over events that come in pieces; rows grow with what was seen."""
    metas, times = metas or [1] * len(events), times or [1] * len(events)
    walk = Walk(clamp=clamp, only_rows=only_rows)
    seen = 0
    for part in cut(list(zip(events, rows, metas, times, strict=True)), ends):
        seen = max([seen, *(row + 1 for _, row, _, _ in part)])
        walk.grow_rows(seen)
        walk.go_on(
            begin_ps=u64(span[0] for span, _, _, _ in part),
            end_ps=u64(span[1] for span, _, _, _ in part),
            meta=np.array([meta for _, _, meta, _ in part], np.int32),
            row=i64(row for _, row, _, _ in part),
            occurrences=i64(count for _, _, _, count in part),
            normalised_ps=u64((span[1] - span[0]) // 2 for span, _, _, _ in part),
            dma_stall_ps=u64(1 for _ in part),
        )
    walk.end_line()
    return walk


def sums_of(walk: Walk) -> dict[int, tuple[int, int, int]]:
    sums = walk.sums()
    columns = (sums.time_ps, sums.self_time_ps, sums.occurrences)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {row: found for row, found in enumerate(rows) if found[2]}


def self_times(events: Sequence[tuple[int, int]], *, clamp: bool = True) -> list[int]:
    """Self time per event, each in a row of its own."""
    return [
        sums_of(walk_of(events, range(len(events)), clamp=clamp))[k][1] for k in range(len(events))
    ]


# ------------------------------------------------------------------------------------------ nesting


@pytest.mark.parametrize(
    ("events", "own"),
    [
        ([(0, 10), (2, 5), (6, 8)], [5, 3, 2]),
        ([(0, 10), (2, 8), (3, 5)], [4, 4, 2]),
        ([(0, 10), (0, 10)], [0, 10]),
        ([(0, 10), (5, 10), (10, 12)], [5, 5, 2]),
        ([(0, 10), (0, 4), (4, 10)], [0, 4, 6]),
        ([(0, 10), (5, 15), (12, 14)], [10, 8, 2]),
        ([(0, 10), (10, 10)], [10, 0]),
        ([(5, 5), (5, 5)], [0, 0]),
        ([(0, 10), (20, 30), (1, 2)], [10, 10, 1]),
    ],
    ids=[
        "children",
        "grandchildren are not children",
        "equal spans nest in order",
        "ends are inclusive",
        "a full parent has no self time",
        "partial overlap is a sibling",
        "zero length at the end",
        "zero length alone",
        "a later event closes for good",
    ],
)
def test_self_time_is_without_direct_children(
    events: Sequence[tuple[int, int]], own: Sequence[int]
) -> None:
    assert self_times(events) == own


def test_children_longer_than_their_parent_clamp_and_are_counted_or_wrap() -> None:
    # Two children that overlap in part: 6 + 6 of 10.
    events = [(0, 10), (0, 6), (4, 10)]
    clamped, wrapped = (walk_of(events, [0, 1, 2], clamp=clamp) for clamp in (True, False))
    assert (sums_of(clamped)[0], clamped.clamped) == ((10, 0, 1), 1)
    assert (sums_of(wrapped)[0], wrapped.clamped) == ((10, U64 - 2, 1), 0)


def test_event_without_row_nests_but_is_not_summed() -> None:
    walk = walk_of([(0, 10), (2, 8), (3, 4)], [0, NESTED_ONLY, 1])
    assert sums_of(walk) == {0: (10, 4, 1), 1: (1, 1, 1)}


@pytest.mark.parametrize(("only_rows", "own"), [(True, 10), (False, 4)])
def test_skipped_event_nests_only_where_all_events_do(only_rows: bool, own: int) -> None:
    walk = walk_of([(0, 10), (2, 8)], [0, SKIPPED], only_rows=only_rows)
    assert sums_of(walk) == {0: (10, own, 1)}


def test_event_occurs_at_least_once() -> None:
    walk = walk_of([(0, 1), (1, 2), (2, 3)], [0, 1, 2], times=[0, -3, 5])
    assert [found[2] for found in sums_of(walk).values()] == [1, 1, 5]


def test_row_is_named_by_the_event_that_closes_first() -> None:
    # Row 0 opens with metadata 7 but the inner event, metadata 8, closes before it.
    walk = walk_of([(0, 10), (2, 3), (20, 30)], [0, 0, 1], metas=[7, 8, 9])
    sums = walk.sums()
    assert sums.first_meta.tolist() == [8, 9]
    assert sums.first_rank.tolist() == [0, 2]


def test_row_without_events_has_no_metadata() -> None:
    walk = walk_of([(0, 1)], [1])
    assert walk.sums().first_meta.tolist() == [-1, 1]


def test_lines_nest_apart() -> None:
    walk = walk_of([(0, 10)], [0])
    walk.go_on(
        begin_ps=u64([2]),
        end_ps=u64([4]),
        meta=np.zeros(1, np.int32),
        row=i64([0]),
        occurrences=i64([1]),
        normalised_ps=u64([0]),
        dma_stall_ps=u64([0]),
    )
    walk.end_line()
    assert sums_of(walk) == {0: (12, 12, 2)}


def test_first_metadata_of_the_plane_survives_growth() -> None:
    walk = walk_of([(0, 1), (1, 2), (2, 3)], [0, 1, 2], metas=[0, 1, 2], ends=[2])
    assert walk.sums().first_meta.tolist() == [0, 1, 2]


# ------------------------------------------------------------------------------- parents of hosts


@pytest.mark.parametrize(
    ("events", "apart", "parents"),
    [
        ([(0, 10), (2, 5), (3, 4), (6, 8)], [], [-1, 0, 1, 0]),
        ([(0, 10), (2, 5), (3, 4)], [1], [-1, -1, 0]),
        ([(0, 5), (3, 8), (4, 5)], [], [-1, -1, 1]),
        ([], [], []),
    ],
    ids=["nested", "asynchronous events take no part", "partial overlap", "no events"],
)
def test_parent_is_the_nearest_open_event_that_includes(
    events: Sequence[tuple[int, int]], apart: Sequence[int], parents: Sequence[int]
) -> None:
    flags = np.zeros(len(events), np.bool_)
    flags[apart] = True
    begin, end = u64(span[0] for span in events), u64(span[1] for span in events)
    assert spans.parents(begin, end, flags).tolist() == parents


# -------------------------------------------------------------------------------------------- steps


def follow(
    steps: Sequence[tuple[int, int]],
    events: Sequence[tuple[int, int]],
    *,
    containing: bool = False,
    ends: Sequence[int] | tuple[()] = (),
) -> list[int]:
    follower = StepFollower(
        u64(step[0] for step in steps), u64(step[1] for step in steps), containing=containing
    )
    pieces = [
        follower.find(u64(span[0] for span in part), u64(span[1] for span in part))
        for part in cut(events, ends)
    ]
    return [step for piece in pieces for step in piece.tolist()]


STEPS = [(0, 10), (10, 20), (30, 40)]


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([(1, 2), (12, 13), (31, 32)], [0, 1, 2]),
        ([(5, 9), (10, 12)], [0, 0]),
        ([(5, 9), (11, 12), (10, 12)], [0, 1, 1]),
        ([(8, 15)], [0]),
        ([(22, 25), (31, 32)], [-1, 2]),
        ([(31, 32), (1, 2)], [2, -1]),
        ([(41, 50)], [-1]),
        ([(20, 20), (25, 30), (30, 30)], [1, 2, 2]),
    ],
    ids=[
        "each its own",
        "an op at the edge belongs to the earlier step",
        "a left step is not entered again",
        "the first of several",
        "between steps",
        "never back",
        "after all",
        "ends are inclusive",
    ],
)
def test_step_of_an_event_is_the_one_it_overlaps(
    events: Sequence[tuple[int, int]], found: Sequence[int]
) -> None:
    assert follow(STEPS, events) == found


def test_containing_step_includes_the_whole_event() -> None:
    assert follow(STEPS, [(1, 10), (8, 12), (30, 41)], containing=True) == [0, -1, -1]


@pytest.mark.parametrize("containing", [True, False])
def test_without_steps_no_event_has_one(containing: bool) -> None:
    assert follow([], [(1, 2)], containing=containing) == [-1]


# ------------------------------------------------------------------------------------------- pairs


def test_pairs_are_numbered_by_first_occurrence() -> None:
    pairs = PairNumbers()
    assert pairs.number(i64([5, 5, 2, 5]), i64([1, 2, 1, 1])).tolist() == [0, 1, 2, 0]
    assert pairs.number(i64([2, 9]), i64([1, 0])).tolist() == [2, 3]
    assert pairs.firsts().tolist() == [5, 5, 2, 9]


def test_pairs_with_a_missing_half_are_told_apart() -> None:
    assert PairNumbers().number(i64([-1, 3, -1]), i64([4, -1, -1])).tolist() == [-2, -1, -2]


def test_pair_numbers_survive_growth() -> None:
    pairs = PairNumbers()
    first, second = i64(k % 97 for k in range(20_000)), i64(k // 97 for k in range(20_000))
    numbers = np.concatenate(
        [pairs.number(first[a : a + 333], second[a : a + 333]) for a in range(0, 20_000, 333)]
    )
    assert numbers.tolist() == list(range(20_000))
    assert pairs.number(first, second).tolist() == list(range(20_000))
    assert pairs.firsts().tolist() == first.tolist()


@given(st.lists(st.tuples(st.integers(-1, 2**62), st.integers(-1, 3)), max_size=40), st.data())
def test_pair_numbers_do_not_depend_on_pieces(
    keys: Sequence[tuple[int, int]], data: DataObject
) -> None:
    ends = data.draw(st.lists(st.integers(0, len(keys)), max_size=4))
    pairs = PairNumbers()
    found = [
        number
        for part in cut(keys, ends)
        for number in pairs.number(i64(a for a, _ in part), i64(b for _, b in part)).tolist()
    ]
    known: dict[tuple[int, int], int] = {}
    for a, b in keys:
        if a >= 0 and b >= 0:
            known.setdefault((a, b), len(known))
    assert found == [-2 if a < 0 else -1 if b < 0 else known[a, b] for a, b in keys]
    assert pairs.firsts().tolist() == [a for a, _ in known]


# ------------------------------------------------------------------------------------------- groups


def test_group_spreads_to_descendants_that_have_none() -> None:
    # 0 → 1, 2; 1 → 3; 2 → 4 → 5; 4 is taken, so 5 is not reached.
    first_child, children = i64([0, 2, 3, 4, 4, 5, 5]), i64([1, 2, 3, 4, 5])
    groups = i64([-1, -1, -1, -1, 9, -1])
    spans.spread_group(first_child, children, 0, 7, groups)
    assert groups.tolist() == [7, 7, 7, 7, 9, -1]


# --------------------------------------------------------------------------------------- properties

SPAN = st.tuples(st.integers(0, 30), st.integers(0, 12)).map(lambda s: (s[0], s[0] + s[1]))
EVENTS = st.lists(SPAN, max_size=25)
ENDS = st.lists(st.integers(0, 25), max_size=6)


@given(events=EVENTS, ends=ENDS, clamp=st.booleans(), in_order=st.booleans(), data=st.data())
def test_sums_equal_the_slow_ones_however_the_events_are_cut(
    events: Sequence[tuple[int, int]],
    ends: Sequence[int],
    clamp: bool,
    in_order: bool,
    data: DataObject,
) -> None:
    if in_order:
        events = sorted(events, key=lambda span: (span[0], -span[1]))
    count = len(events)
    rows = data.draw(st.lists(st.integers(NESTED_ONLY, 3), min_size=count, max_size=count))
    found = sums_of(walk_of(events, rows, clamp=clamp, ends=ends))
    assert found == slow_sums(events, rows, clamp=clamp)


@given(events=EVENTS, ends=ENDS)
def test_cutting_changes_no_column(events: Sequence[tuple[int, int]], ends: Sequence[int]) -> None:
    rows, metas = [k % 3 for k in range(len(events))], [k % 5 + 1 for k in range(len(events))]
    whole = walk_of(events, rows, metas=metas).sums()
    pieces = walk_of(events, rows, metas=metas, ends=ends).sums()
    for name in whole.__dataclass_fields__:
        assert getattr(whole, name).tolist() == getattr(pieces, name).tolist(), name


@given(events=EVENTS)
def test_properly_nested_self_times_add_up_to_the_outermost_times(
    events: Sequence[tuple[int, int]],
) -> None:
    nested = sorted(
        {(b - b % 8, b - b % 8 + 8) for b, _ in events}
        | {(b, min(e, b - b % 8 + 8)) for b, e in events},
        key=lambda span: (span[0], -span[1]),
    )
    parents = slow_parents(nested)
    walk = walk_of(nested, [0] * len(nested))
    outer = sum(e - b for (b, e), parent in zip(nested, parents, strict=True) if parent < 0)
    if not walk.clamped and nested:
        assert sums_of(walk)[0][1] == outer


@given(events=EVENTS, apart=st.sets(st.integers(0, 24)))
def test_parents_equal_the_slow_ones(events: Sequence[tuple[int, int]], apart: set[int]) -> None:
    flags = np.array([k in apart for k in range(len(events))], np.bool_)
    begin, end = u64(span[0] for span in events), u64(span[1] for span in events)
    assert spans.parents(begin, end, flags).tolist() == slow_parents(events, apart)


@given(steps=st.lists(SPAN, max_size=6), events=EVENTS, ends=ENDS, containing=st.booleans())
def test_steps_equal_the_slow_ones_however_the_events_are_cut(
    steps: Sequence[tuple[int, int]],
    events: Sequence[tuple[int, int]],
    ends: Sequence[int],
    containing: bool,
) -> None:
    steps, events = sorted(steps), sorted(events)
    found = follow(steps, events, containing=containing, ends=ends)
    assert found == slow_follow(steps, events, containing=containing)
