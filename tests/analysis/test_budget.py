"""The budget divides time without rest, and transfers are held against their link."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions, RooflineAnalysis
from roofline.analysis.subjects.budget import Budget, budget_of
from roofline.analysis.subjects.choose import choose
from roofline.devices.resolve import resolve
from roofline.model.device import MemoryPeak, PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64
from roofline.model.timeline import (
    WHOLE_CAPTURE,
    CoreTimes,
    Timeline,
    TransferOccurrences,
    Transfers,
    WorkTimes,
    no_transfers,
)
from tests.builders import profile_from_table

PS_PER_US = 1_000_000.0
OPS = """
op    | category | self_us | times | flop | hbm_bytes
near  | fusion   | 100     | 10    | 1    | 5000000
blind | custom   | 50      | 1     | –    | –
"""


def column(*us: float) -> F64:
    return np.array(us) * PS_PER_US


def timeline(work_us: tuple[float, float], idle_us: float, ici_us: float = 0.0) -> Timeline:
    """One core: the work of the two ops, exposed ICI, and idle."""
    total = sum(work_us) + idle_us + ici_us
    return Timeline(
        cores=("core 0",),
        steps=0,
        times=CoreTimes(
            core=np.array([0]),
            scope=np.array([WHOLE_CAPTURE]),
            total_ps=column(total),
            infeed_outfeed_ps=column(0),
            host_ps=column(0),
            exposed_ps={MemoryLevel.ICI: column(ici_us)},
            launch_gaps_ps=column(0),
            idle_ps=column(idle_us),
            host_wait_ps=column(0),
            start_idle_ps=column(0),
        ),
        work=WorkTimes(
            core=np.array([0, 0]),
            scope=np.array([WHOLE_CAPTURE, WHOLE_CAPTURE]),
            op=np.array([0, 1]),
            time_ps=column(*work_us),
            calls=np.array([10.0, 1.0]),
            is_work=np.array([True, True]),
        ),
        transfers=no_transfers(),
    )


def analysis_of(line: Timeline) -> RooflineAnalysis:
    profile = profile_from_table(OPS, timeline=line)
    device = resolve(profile.device)
    ici = MemoryPeak(level=MemoryLevel.ICI, gbs=100.0, origin=PeakOrigin.CATALOGUE, source="a test")
    device = replace(device, links=(ici,))
    return analyse(profile, device, AnalysisOptions())


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


def copies(wire_bytes: float, interval_us: float, wait_us: float) -> Transfers:
    return Transfers(
        op=np.array([0]),
        done=np.array([1]),
        kind=("all-reduce",),
        link=(MemoryLevel.ICI,),
        group_size=np.array([2]),
        unpaired=np.array([False]),
        occurrences=TransferOccurrences(
            transfer=np.array([0]),
            core=np.array([0]),
            count=np.ones(1),
            wire_bytes=np.array([wire_bytes]),
            payload_bytes=np.array([wire_bytes]),
            interval_ps=column(interval_us),
            wait_ps=column(wait_us),
            exposed_ps=column(wait_us),
        ),
    )


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
    line = replace(timeline((100, 50), 10), transfers=copies(1e6, 80, wait_us))
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
