"""The budget divides time without rest, and transfers are held against their link."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions, RooflineAnalysis
from roofline.analysis.subjects.budget import Budget, budget_of
from roofline.analysis.subjects.choose import choose
from roofline.devices.resolve import resolve
from roofline.model.memory import MemoryLevel
from roofline.model.timeline import (
    Timeline,
)
from tests.builders import profile_from_table
from tests.moving import Moved, analysis_with_ici, one_core, transfers_of

OPS = """
op    | category | self_us | times | flop | hbm_bytes
near  | fusion   | 100     | 10    | 1    | 5000000
blind | custom   | 50      | 1     | –    | –
"""


def timeline(work_us: tuple[float, float], idle_us: float, ici_us: float = 0.0) -> Timeline:
    """One core: the work of the two ops, exposed ICI, and idle."""
    return one_core((*work_us, ici_us, idle_us), calls=(10.0, 1.0))


def analysis_of(line: Timeline) -> RooflineAnalysis:
    return analysis_with_ici(profile_from_table(OPS, timeline=line))


TIMES = st.floats(1e-3, 1e6)


def known(analysis: RooflineAnalysis) -> Budget:
    budget = budget_of(analysis, choose(analysis))
    assert budget is not None
    return budget


@pytest.mark.covers(103)
@given(TIMES, TIMES, TIMES, TIMES)
def test_parts_add_up_to_the_total(near: float, blind: float, idle: float, ici: float) -> None:
    budget = known(analysis_of(timeline((near, blind), idle, ici)))
    total = sum(budget.parts.values())
    assert total == pytest.approx(budget.total_us, rel=1e-9, abs=1e-9)
    assert 0 <= budget.floor_us <= budget.total_us * (1 + 1e-12)


def test_work_is_divided_at_its_roof() -> None:
    analysis = analysis_of(timeline((100, 50), 10, 5))
    parts = known(analysis).parts
    share = float(analysis.ops.measures.roofline_efficiency_ratio[0])
    assert 0 < share < 1
    assert parts["at_roof.hbm"] == pytest.approx(100 * share)
    assert parts["below_roof.hbm"] == pytest.approx(100 * (1 - share))
    assert (parts["unknown"], parts["exposed.ici"], parts["idle"]) == (50, 5, 10)


@pytest.mark.parametrize(
    ("wait_us", "gbs", "is_lower_bound"),
    [
        (20.0, 50.0, False),  # longer than 10 us, what the peak needs: the end was observed
        (0.001, 12.5, True),  # the transfer ended unobserved: the interval is an upper bound
    ],
)
def test_rate_is_of_the_wait_where_the_end_was_observed(
    wait_us: float, gbs: float, is_lower_bound: bool
) -> None:
    copy = Moved(0, 1, "all-reduce", MemoryLevel.ICI, 1e6, 80, wait_us, wait_us)
    line = replace(timeline((100, 50), 10), transfers=transfers_of([copy], 2))
    (row,) = analysis_of(line).transfers.rows
    assert row.achieved_gbs == pytest.approx(gbs)
    assert row.is_lower_bound is is_lower_bound
    assert row.saving_us == pytest.approx(max(0, wait_us - 10))


def test_comparison_mode_has_no_budget() -> None:
    profile = profile_from_table(OPS, timeline=timeline((100, 50), 10))
    analysis = analyse(profile, resolve(profile.device), AnalysisOptions(xprof_compat=True))
    assert budget_of(analysis, choose(analysis)) is None


def test_unknown_cost_counts_into_the_floor() -> None:
    """It is not known that it can go; idle time and exposed communication can."""
    analysis = analysis_of(timeline((100, 50), 10, 5))
    parts = known(analysis).parts
    assert known(analysis).floor_us == pytest.approx(parts["at_roof.hbm"] + 50)


def test_work_far_below_its_roof_stays_below_the_roof() -> None:
    """At 3 % of the memory's peak it is neither idle nor unknown."""
    analysis = analysis_of(timeline((2000, 0), 0))
    parts = known(analysis).parts
    at_roof = 100 * float(analysis.ops.measures.roofline_efficiency_ratio[0])
    assert at_roof / 2000 < 0.05
    assert parts == pytest.approx({"at_roof.hbm": at_roof, "below_roof.hbm": 2000 - at_roof})
