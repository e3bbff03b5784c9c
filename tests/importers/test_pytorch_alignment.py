"""Lists of names aligned: what insertions, deletions and repeated layers leave of a match."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from roofline.importers.pytorch.alignment import UNALIGNED, aligned, most_in_common

I64 = NDArray[np.int64]
LAYER = list(range(15))

few_names = st.lists(st.integers(0, 4), max_size=24).map(lambda one: np.array(one, np.int64))


def longest(a: I64, b: I64) -> int:
    """Length of the longest common subsequence, by the table that every textbook has."""
    table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i in range(len(a)):
        for j in range(len(b)):
            same = table[i, j] + 1 if a[i] == b[j] else 0
            table[i + 1, j + 1] = max(same, table[i, j + 1], table[i + 1, j])
    return int(table[-1, -1])


@given(few_names, few_names)
def test_as_many_as_possible_are_aligned_and_names_agree(a: I64, b: I64) -> None:
    found = aligned(a, b)
    done = found != UNALIGNED
    assert (a[done] == b[found[done]]).all()
    assert len(np.unique(found[done])) == done.sum()
    assert longest(a, b) <= done.sum() <= most_in_common(a, b)


@given(few_names)
def test_a_list_is_aligned_with_itself(a: I64) -> None:
    assert aligned(a, a).tolist() == list(range(len(a)))


@given(
    st.integers(1, 40),
    st.lists(st.integers(0, 10**6), max_size=12),
    st.lists(st.integers(0, 10**6), max_size=12),
)
def test_insertions_and_deletions_in_repeated_layers(
    layers: int, dropped: list[int], added: list[int]
) -> None:
    """A warm-up in the capture and new kernels in the replay leave all others where they were."""
    capture = np.array([100, 101, *(LAYER * layers), 102], np.int64)
    gone = {place % len(capture) for place in dropped}
    replay = [name for k, name in enumerate(capture.tolist()) if k not in gone]
    kept = len(replay)
    for k, place in enumerate(added):
        replay.insert(place % (len(replay) + 1), 1_000 + k)
    found = aligned(np.array(replay, np.int64), capture)
    assert (found != UNALIGNED).sum() == kept
    assert [found[k] for k, name in enumerate(replay) if name >= 1_000] == [UNALIGNED] * len(added)


@pytest.mark.parametrize("swapped", [1, 7])
def test_streams_that_ran_side_by_side(swapped: int) -> None:
    """A kernel that ends up behind others is still the one of its name."""
    capture = np.array([*LAYER, 50, *LAYER], np.int64)
    replay = np.roll(capture[10:25], swapped)
    whole = np.concatenate([capture[:10], replay, capture[25:]])
    assert (aligned(whole, capture) != UNALIGNED).sum() >= len(capture) - 2 * swapped
    one = np.array([0, 1, 50, 2, 3], np.int64)
    assert aligned(one, np.array([0, 1, 2, 3, 50], np.int64)).tolist() == [0, 1, 4, 2, 3]


@pytest.mark.parametrize(("share", "least"), [(0.001, 1.0), (0.1, 0.99), (0.5, 0.8)])
def test_long_lists_with_many_differences_stay_aligned(share: float, least: float) -> None:
    """100,000 kernels: the search ends early in places, and loses little."""
    rng = np.random.default_rng(7)
    capture = np.tile(np.array(LAYER, np.int64), 6_667)[:100_000]
    kept = rng.random(len(capture)) >= share
    replay = capture[kept]
    found = aligned(replay, capture)
    assert (found != UNALIGNED).sum() >= least * len(replay)


def test_nothing_in_common() -> None:
    a, b = np.arange(3_000), np.arange(3_000) + 10_000
    assert (aligned(a, b) == UNALIGNED).all()
    assert most_in_common(a, b) == 0
