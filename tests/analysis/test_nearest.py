"""The nearest ceiling of an op is the unit that it used most, by counters or by its work."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.nearest_records import NearestOps, OpClass
from roofline.analysis.records import RooflineAnalysis
from roofline.devices.resolve import resolve
from roofline.model.ceilings import Ceiling
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from tests.builders import analysis_on, profile_from_table, reported

GPU = reported(
    kind=DeviceKind.GPU,
    name="A GPU",
    gflops=None,
    unit_gflops={ComputeUnit.VECTOR_FP32: 1000.0},
    gibs={MemoryLevel.HBM: 100.0},
)
OP = 0


def counted(
    busy: Mapping[Ceiling, float], *, flop: float = 0, us: float = 100, why: str = ""
) -> RooflineAnalysis:
    """One op of `us` µs with `flop` fp32 FLOPs and these busy shares."""
    table = f"op|self_us|flop|hbm_bytes\nkernel|{us}|{flop:.0f}|1"
    profile = profile_from_table(table, device=GPU)
    time_ps = profile.ops.time_ps.astype(np.float64)
    ops = replace(
        profile.ops,
        unit_flop={ComputeUnit.VECTOR_FP32: profile.ops.flop},
        busy_ps={one: share * time_ps for one, share in busy.items()},
        slow_why=(why,),
        slow_words=(f"because of {why}",) if why else ("",),
    )
    return analysis_on(replace(profile, ops=ops), resolve(GPU))


def nearest(busy: Mapping[Ceiling, float], *, flop: float = 0, us: float = 100) -> NearestOps:
    return counted(busy, flop=flop, us=us).nearest


def test_busy_unit_is_named_whatever_the_work_says() -> None:
    found = nearest({Ceiling.L1: 0.98, Ceiling.ISSUE: 0.17})
    assert found.kind_of(OP) is OpClass.BOUND
    assert found.ceiling_of(OP) == "l1"
    assert found.ratios()[OP] == pytest.approx(0.98)
    assert found.busy_of(OP) == pytest.approx({"l1": 0.98, "issue": 0.17})


@pytest.mark.parametrize(("share", "kind"), [(0.6, OpClass.BOUND), (0.599, OpClass.LATENCY)])
def test_bound_begins_where_a_unit_is_busy_for_60_percent(share: float, kind: OpClass) -> None:
    assert nearest({Ceiling.FMA: share}).kind_of(OP) is kind


@pytest.mark.parametrize(("share", "kind"), [(0.21, OpClass.BOUND), (0.19, OpClass.LATENCY)])
def test_work_alone_is_a_lower_bound_so_its_threshold_is_20_percent(
    share: float, kind: OpClass
) -> None:
    found = nearest({}, flop=share * 1000e9 * 100e-6)
    assert found.kind_of(OP) is kind
    assert found.ceiling_of(OP) == "vector_fp32"
    assert found.useful_ratios()[OP] == pytest.approx(share, rel=1e-6)


def test_work_and_counter_of_a_pipe_are_one_ceiling_of_which_the_larger_counts() -> None:
    found = nearest({Ceiling.FMA: 0.7}, flop=0.3 * 1000e9 * 100e-6)
    assert found.ceiling_of(OP) == "fma"
    assert (found.ratios()[OP], found.useful_ratios()[OP]) == pytest.approx((0.7, 0.3), rel=1e-6)


def test_of_equally_near_ceilings_the_one_a_reader_changes_first_is_named() -> None:
    found = nearest({Ceiling.LSU: 0.95, Ceiling.L1: 0.94, Ceiling.ISSUE: 0.90})
    assert (found.ceiling_of(OP), found.also_of(OP)) == ("l1", ("lsu",))
    assert found.ratios()[OP] == pytest.approx(0.94)


def test_no_unit_is_named_where_none_does_anything() -> None:
    found = nearest({Ceiling.ISSUE: 0.013})
    assert (found.kind_of(OP), found.ceiling_of(OP)) == (OpClass.LATENCY, "")
    assert found.ratios()[OP] == pytest.approx(0.013)


def test_reason_of_latency_is_the_profilers_else_a_short_call_else_not_measured() -> None:
    assert counted({Ceiling.FMA: 0.3}, why="tail").nearest.why[OP] == "tail"
    assert nearest({Ceiling.FMA: 0.3}, us=4).why[OP] == "launch"
    assert nearest({Ceiling.FMA: 0.3}, us=40).why[OP] == "not_measured"
    assert counted({Ceiling.FMA: 0.9}, why="tail").nearest.why[OP] == ""  # it is bound


def test_work_beyond_what_its_unit_was_busy_for_is_noted() -> None:
    def codes(useful: float) -> set[str]:
        found = counted({Ceiling.FMA: 0.5}, flop=useful * 1000e9 * 100e-6)
        return {note.code for note in found.diagnostics}

    assert "counters-disagree" in codes(0.54)
    assert "counters-disagree" not in codes(0.52)


SHARES = st.dictionaries(st.sampled_from(Ceiling), st.floats(0.0, 1.0), max_size=8)


@given(busy=SHARES, useful=st.floats(0.0, 0.99))
def test_named_share_is_never_more_than_2_points_below_any_known_one(
    busy: dict[Ceiling, float], useful: float
) -> None:
    found = nearest(busy, flop=useful * 1000e9 * 100e-6)
    known = found.shares()[:, OP]
    largest = float(np.nanmax(known)) if np.isfinite(known).any() else 0.0
    if found.ceiling_of(OP):
        assert found.ratios()[OP] >= largest - 0.02 - 1e-12
    if max(busy.values(), default=0.0) >= 0.60:
        assert found.kind_of(OP) is OpClass.BOUND
    if found.kind_of(OP) is OpClass.LATENCY and busy:
        assert largest < 0.60
