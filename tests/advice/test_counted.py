"""Rules that read counters: busy units, waste by its factor, and latency by its reason."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions
from roofline.devices.resolve import resolve
from roofline.exports.answering import answered
from roofline.model.ceilings import Ceiling, UseFactor
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from tests.advice.wording import forms_of
from tests.builders import analysis_on, profile_from_table, reported

UNIT = ComputeUnit.MATRIX_INT8
GPU = reported(
    kind=DeviceKind.GPU,
    name="A GPU",
    gflops=None,
    unit_gflops={UNIT: 1000.0, ComputeUnit.VECTOR_FP32: 500.0},
    gibs={MemoryLevel.HBM: 100.0},
)


def advised(
    busy: Mapping[Ceiling, float],
    *,
    use: Mapping[UseFactor, float] | None = None,
    tensor: float = 0.0,
    why: tuple[str, str] = ("", ""),
    profiler: str = "nsight_compute",
) -> list[dict[str, Any]]:
    """Findings of one kernel of 100 µs with these busy shares; `tensor` is its useful share."""
    table = f"op|category|self_us|flop|hbm_bytes\nkernel|other|100|{tensor * 1e8:.0f}|1"
    profile = profile_from_table(table, device=GPU)
    time_ps = profile.ops.time_ps.astype(np.float64)
    ops = replace(
        profile.ops,
        unit_flop={UNIT: profile.ops.flop},
        busy_ps={one: share * time_ps for one, share in busy.items()},
        use_ps={one: share * time_ps for one, share in (use or {}).items()},
        slow_why=(why[0],),
        slow_words=(why[1],),
    )
    profile = replace(profile, ops=ops, format_id=profiler)
    analysis = analysis_on(profile, resolve(GPU))
    findings: list[dict[str, Any]] = answered(analysis).advice["findings"]
    return findings


@pytest.mark.parametrize(
    ("factor", "ceiling"),
    [
        (UseFactor.SECTORS, Ceiling.L1),
        (UseFactor.BANK_CONFLICTS, Ceiling.L1),
        (UseFactor.LANES, Ceiling.FMA),
    ],
)
def test_waste_is_named_by_its_factor(factor: UseFactor, ceiling: Ceiling) -> None:
    (one,) = advised({ceiling: 0.9, Ceiling.TEX: 0.3}, use={factor: 0.5})
    assert (one["rule"], forms_of(one)) == ("W2", {factor.value})
    assert forms_of(one, "try") == {factor.value} and one["title"].endswith(" kernel")
    assert one["predicted"]["saving_us"] == pytest.approx(50)


@pytest.mark.parametrize("factor", [UseFactor.FEW_BLOCKS, UseFactor.LAST_WAVE, UseFactor.EQUAL_SMS])
def test_processors_are_filled_until_the_nearest_unit_is_full(factor: UseFactor) -> None:
    """A launch that filled 10 % of its wave, with L1 busy 61 % of the time, was told −78 %."""
    (one,) = advised({Ceiling.L1: 0.61}, use={factor: 0.1})
    assert (one["rule"], forms_of(one)) == ("W2", {factor.value})
    assert " 10" in one["why"] and one["predicted"]["saving_us"] == pytest.approx(39)
    assert advised({Ceiling.DRAM: 0.9}, use={factor: 0.1}) == []


def test_latency_ends_where_the_busiest_unit_is_full_also_one_without_a_name() -> None:
    """L1 at 51.79 % beside an SM unit at 51.80: the plan ended below what the work needs."""
    busy = {Ceiling.L1: 0.5179, Ceiling.SM_OTHER: 0.518}
    (one,) = advised(busy, why=("few_blocks", "52 blocks where 96 fit"), tensor=0.0)
    assert one["predicted"]["saving_us"] == pytest.approx(48.2)


def test_waste_ends_where_the_next_unit_is_as_near() -> None:
    (one,) = advised({Ceiling.L1: 0.8, Ceiling.TEX: 0.6}, use={UseFactor.SECTORS: 0.2})
    assert one["predicted"]["saving_us"] == pytest.approx(25)


@pytest.mark.parametrize(
    ("busy", "use"), [({Ceiling.L1: 0.9}, {UseFactor.SECTORS: 0.85}), ({Ceiling.L1: 0.9}, {})]
)
def test_a_busy_unit_without_known_waste_gets_no_advice(
    busy: Mapping[Ceiling, float], use: Mapping[UseFactor, float]
) -> None:
    assert advised(busy, use=use) == []


def test_a_factor_of_another_unit_says_nothing() -> None:
    assert advised({Ceiling.DRAM: 0.9}, use={UseFactor.LANES: 0.3}) == []


@pytest.mark.parametrize(
    "ceiling", [Ceiling.ISSUE, Ceiling.ALU, Ceiling.XU, Ceiling.LSU, Ceiling.CBU]
)
def test_a_busy_pipe_wants_fewer_of_its_instructions(ceiling: Ceiling) -> None:
    (one,) = advised({ceiling: 0.8, Ceiling.L2: 0.5})
    assert (one["rule"], forms_of(one)) == ("P1", {""})
    assert ceiling.value in forms_of(one, "try")
    # Until the next unit is full.
    assert one["predicted"]["saving_us"] == pytest.approx(50)


def test_a_pipe_beside_the_tensor_cores_keeps_them_hungry() -> None:
    (one,) = advised({Ceiling.ALU: 0.66, Ceiling.TENSOR: 0.54}, tensor=0.54)
    assert (one["rule"], forms_of(one)) == ("P1", {"tensor"})
    assert one["predicted"]["saving_us"] == pytest.approx(100 * (1 - 0.54 / 0.85), rel=1e-6)


@pytest.mark.covers(95)
@pytest.mark.parametrize(
    "why",
    [
        *("few_blocks", "launch", "tail", "imbalance", "low_occupancy", "barrier"),
        *("dependency:long_scoreboard", "dependency:short_scoreboard", "dependency:wait"),
    ],
)
def test_latency_is_advised_on_by_its_reason(why: str) -> None:
    (one,) = advised({Ceiling.FP64: 0.47}, why=(why, "64 blocks for 80 SMs"))
    assert one["rule"] == "L2" and why in forms_of(one)
    assert why in forms_of(one, "try") and forms_of(one, "why") == {"counted"}
    assert "64 blocks for 80 SMs." in one["why"]
    # A unit that is busy for 47 % of the time can be full after 47 % of it at the earliest.
    assert one["predicted"]["saving_us"] == pytest.approx(53)


def test_a_reason_that_was_not_measured_asks_for_its_profiler_alone() -> None:
    """A chip may be full and wait: that it is not was said without a reason."""
    (one,) = advised({Ceiling.FP64: 0.47})
    assert one["title"].startswith("Find what ") and one["title"].endswith(" waits for")
    assert "ncu --set full" in one["snippet"] and "rocprof" not in one["snippet"]
    (one,) = advised({Ceiling.VALU: 0.47}, profiler="rocprof_compute")
    assert "rocprof-compute" in one["snippet"] and "ncu" not in one["snippet"]


def test_waste_of_a_unit_that_is_not_near_stands_where_no_reason_was_measured() -> None:
    (one,) = advised({Ceiling.L1: 0.4}, use={UseFactor.SECTORS: 0.6})
    assert one["rule"] == "W2"
    assert one["predicted"]["saving_us"] == pytest.approx(60)
    (one,) = advised({Ceiling.L1: 0.4}, use={UseFactor.SECTORS: 0.6}, why=("tail", "a tail"))
    assert one["rule"] == "L2"


def test_a_unit_that_is_full_of_useful_work_is_at_its_roof() -> None:
    assert advised({Ceiling.TENSOR: 0.97}, tensor=0.96) == []


def test_a_factor_that_explains_little_does_not_hide_the_waste() -> None:
    """A last wave that is 95 % full was taken for all waste of a unit with 33 % of useful work."""
    found = advised({Ceiling.TENSOR: 0.9}, use={UseFactor.LAST_WAVE: 0.95}, tensor=0.3)[0]
    assert (found["rule"], forms_of(found)) == ("W2", {""})
    assert " 33" in found["why"]


def test_several_slots_are_busy_and_no_unit_is_its_own_limit() -> None:
    found = advised({Ceiling.ISSUE: 0.88, Ceiling.L1: 0.5}, tensor=0.1)[0]
    assert found["rule"] == "P1" and "Issue slots are" in found["why"] and " 88" in found["why"]
    assert "next limit is issue" not in found["why"]


def test_calls_as_short_as_an_empty_one_are_merged_not_filled() -> None:
    """More blocks make none of them shorter; two calls as one save half. One alone saves nothing.

    The report of four kernels of 1.5 µs promised 6.07 of their 6.14 µs by more blocks.
    """
    head = "op|category|self_us|flop|hbm_bytes\n"
    for count, saved_us in ((4, [3.0]), (1, [])):
        rows = "\n".join(f"kernel{at}|other|1.5|0|0" for at in range(count))
        profile = profile_from_table(head + rows, device=GPU)
        busy = 0.01 * profile.ops.time_ps.astype(np.float64)
        ops = replace(
            profile.ops,
            busy_ps={Ceiling.FMA: busy},
            slow_why=("few_blocks",) * count,
            slow_words=("1 block for 24 SMs",) * count,
        )
        profile = replace(profile, ops=ops, format_id="nsight_compute")
        analysis = analyse(profile, resolve(GPU), AnalysisOptions())
        findings = answered(analysis).advice["findings"]
        assert [one["predicted"]["saving_us"] for one in findings] == pytest.approx(saved_us)
        assert [one["rule"] for one in findings] == ["L1"] * len(saved_us)
