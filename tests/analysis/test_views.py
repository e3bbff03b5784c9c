"""Listed ops: order, shares, the first 1000, and the state without infeed and outfeed."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.records import MAX_OPS, RooflineAnalysis, View
from roofline.model.categories import is_infeed_outfeed
from tests.builders import analysed, reported

WITH_INFEED = """
op      | category      | self_us | flop | hbm_bytes
matmul  | fusion        | 500     | 5e8  | 1e6
feed    | infeed        | 200     | 0    | 1e6
drain   | outfeed done  | 100     | 0    | 1e6
"""


def names(analysis: RooflineAnalysis, view: View) -> list[str]:
    return [analysis.ops.name[op] for op in view.op.tolist()]


def test_ops_are_listed_by_self_time_then_name_with_idle_among_them() -> None:
    table = "op|self_us|flop|hbm_bytes\nb|5|1|1\nA|5|1|1\na|5|1|1\nlong|9|1|1\né|5|1|1"
    analysis = analysed(table, idle_us=7)
    view = analysis.with_infeed
    assert names(analysis, view) == ["long", "IDLE", "A", "a", "b", "é"]
    assert view.rank.tolist() == [1, 2, 3, 4, 5, 6]


def test_compat_mode_lists_no_idle() -> None:
    analysis = analysed(WITH_INFEED, idle_us=900, xprof_compat=True)
    assert names(analysis, analysis.with_infeed) == ["matmul", "feed", "drain"]
    assert analysis.with_infeed.rank.tolist() == [1, 2, 3]


def test_no_idle_row_where_nothing_idled() -> None:
    analysis = analysed(WITH_INFEED)
    assert "IDLE" not in names(analysis, analysis.with_infeed)


def test_without_infeed_both_directions_and_their_time_are_gone() -> None:
    analysis = analysed(WITH_INFEED, idle_us=200)
    view = analysis.without_infeed
    assert names(analysis, view) == ["matmul", "IDLE"]
    assert (analysis.with_infeed.total_time_us, view.total_time_us) == (1000, 700)
    assert view.self_share_ratio.tolist() == [5 / 7, 2 / 7]


def test_cumulative_share_runs_over_the_listed_ops() -> None:
    view = analysed(WITH_INFEED, idle_us=200).with_infeed
    assert view.self_share_ratio.tolist() == pytest.approx([0.5, 0.2, 0.2, 0.1])
    assert view.cumulative_share_ratio.tolist() == pytest.approx([0.5, 0.7, 0.9, 1.0])


def test_saving_share_is_of_the_time_of_all_cores() -> None:
    analysis = analysed(WITH_INFEED, device=reported(cores=2))
    assert analysis.with_infeed.saving_share_ratio[0] == pytest.approx(
        analysis.ops.saving_per_core_us[0] * 2 / 800
    )


def test_program_shorter_than_its_infeed_ends_at_zero_and_says_so() -> None:
    analysis = analysed(WITH_INFEED, time_us=250)
    view = analysis.without_infeed
    assert view.total_time_us == 0
    assert np.isnan(view.self_share_ratio).all()
    found = [d for d in analysis.diagnostics if d.code == "infeed-exceeds-program"]
    assert "longer than the program" in found[0].message


def test_compat_mode_wraps_below_zero() -> None:
    view = analysed(WITH_INFEED, time_us=250, xprof_compat=True).without_infeed
    assert view.total_time_us == pytest.approx((2**64 - 50 * 10**6) / 1e6)


# ----------------------------------------------------------------------------------- the first 1000


def many(count: int, infeed: int = 0) -> str:
    """`count` ops, then `infeed` longer infeed ops."""
    ops = [f"op{k:05}|fusion|{1 + count - k}|1|1" for k in range(count)]
    fed = [f"feed{k:05}|infeed|{10 + count}|0|1" for k in range(infeed)]
    return "\n".join(["op|category|self_us|flop|hbm_bytes", *ops, *fed])


def test_thousand_longest_ops_and_idle_are_kept_and_the_rest_is_counted() -> None:
    analysis = analysed(many(1300), idle_us=1)
    view = analysis.with_infeed
    assert len(view.op) == MAX_OPS + 1
    assert names(analysis, view)[-1] == "IDLE"
    assert view.beyond_ops == 300
    assert float(view.self_share_ratio.sum()) + view.beyond_share_ratio == pytest.approx(1)


def test_thousand_ops_leave_nothing_beyond() -> None:
    view = analysed(many(1000)).with_infeed
    assert (len(view.op), view.beyond_ops, view.beyond_share_ratio) == (1000, 0, 0)


def test_cut_comes_after_infeed_was_dropped() -> None:
    analysis = analysed(many(1100, infeed=50), idle_us=1)
    assert len(analysis.without_infeed.op) == MAX_OPS + 1
    assert analysis.without_infeed.beyond_ops == 100
    assert analysis.with_infeed.beyond_ops == 150


def test_compat_mode_cuts_first_and_drops_afterwards() -> None:
    analysis = analysed(many(1100, infeed=50), idle_us=10**6, xprof_compat=True)
    assert len(analysis.with_infeed.op) == MAX_OPS - 1  # without IDLE
    assert len(analysis.without_infeed.op) == MAX_OPS - 51


# -------------------------------------------------------------------------------------- properties

CATEGORY = st.sampled_from(["fusion", "infeed", "outfeed", "while", "copy"])
OPS = st.lists(st.tuples(CATEGORY, st.integers(0, 10**6)), max_size=8)


def as_table(ops: Sequence[tuple[str, int]]) -> str:
    lines = [f"op{k}|{category}|{us}|1|1" for k, (category, us) in enumerate(ops)]
    return "\n".join(["op|category|self_us|flop|hbm_bytes", *lines])


@given(ops=OPS, idle=st.integers(0, 10**6))
def test_shares_with_idle_sum_to_one_in_both_states(
    ops: Sequence[tuple[str, int]], idle: int
) -> None:
    analysis = analysed(as_table(ops), idle_us=idle)
    for view in (analysis.with_infeed, analysis.without_infeed):
        if view.total_time_us:
            assert float(view.self_share_ratio.sum()) == pytest.approx(1)
        else:
            assert np.isnan(view.self_share_ratio).all()


@given(ops=OPS, idle=st.integers(0, 10**6))
@pytest.mark.parametrize("compat", [False, True])
def test_second_state_only_removes_infeed_and_outfeed(
    compat: bool, ops: Sequence[tuple[str, int]], idle: int
) -> None:
    analysis = analysed(as_table(ops), idle_us=idle, xprof_compat=compat)
    kept, all_ops = analysis.without_infeed.op.tolist(), analysis.with_infeed.op.tolist()
    gone = [op for op in all_ops if op not in kept]
    assert [op for op in all_ops if op in kept] == kept
    assert all(is_infeed_outfeed(analysis.ops.category[op]) for op in gone)
    assert not any(is_infeed_outfeed(analysis.ops.category[op]) for op in kept)


@given(ops=OPS)
def test_rows_are_ordered_and_ranked(ops: Sequence[tuple[str, int]]) -> None:
    analysis = analysed(as_table(ops), idle_us=3)
    view = analysis.with_infeed
    times = analysis.ops.measures.self_time_us[view.op].tolist()
    assert times == sorted(times, reverse=True)
    assert view.rank.tolist() == list(range(1, len(times) + 1))
    assert not any(math.isnan(share) for share in view.cumulative_share_ratio)
