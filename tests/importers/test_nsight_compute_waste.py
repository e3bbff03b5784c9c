"""What of a busy unit's time was of use, and why no unit was busy, by Nsight Compute's counters."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from roofline.importers.nsight_compute.busy import slow_cause, use_factors
from roofline.importers.nsight_compute.launches import Launch, ResultKind
from roofline.model.ceilings import Ceiling, UseFactor
from roofline.model.compute import ComputeUnit
from roofline.model.profile import OpTable
from tests.profiles import imported
from tests.tools import make_ncu_samples as ncu
from tests.tools.make_ncu_samples import Kernel

REAL = Path(__file__).resolve().parents[3] / "shared" / "samples" / "nsight_compute"


def ops_of(tmp_path: Path, *kernels: Kernel) -> OpTable:
    path = tmp_path / "report.ncu-rep"
    path.write_bytes(ncu.report(kernels))
    return imported(path).ops


# -------------------------------------------------------------------------------------- use factors


@pytest.mark.skipif(not REAL.is_dir(), reason="needs the shared folder")
def test_waste_of_a_real_kernel() -> None:
    """fp64 busy 47.5 %, useful 18.9 %: lanes 0.66 × multiply-adds 0.68 × the rest."""
    ops = imported(REAL / "a100_2020.3_fp64_divergent.ncu-rep").ops
    use = {factor: found[0] / ops.time_ps[0] for factor, found in ops.use_ps.items()}
    assert use[UseFactor.LANES] == pytest.approx(0.66, abs=0.005)
    assert use[UseFactor.MULTIPLY_ADDS] == pytest.approx(0.68, abs=0.005)
    assert use[UseFactor.REPLAYS] == pytest.approx(0.96, abs=0.005)
    assert use[UseFactor.LAST_WAVE] == pytest.approx(2.3704 / 3, abs=1e-4)
    assert UseFactor.EQUAL_SMS not in use


def test_use_factors() -> None:
    numbers = {
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio": 24.0,
        "memory_l2_theoretical_sectors_global_ideal": 26.0,
        "memory_l2_theoretical_sectors_global": 100.0,
        "memory_l1_wavefronts_shared_ideal": 0.0,
        "memory_l1_wavefronts_shared": 0.0,
        "smsp__inst_executed.sum": 90.0,
        "smsp__inst_issued.sum": 100.0,
        "launch__waves_per_multiprocessor": 12.5,
        "sm__cycles_active.avg": 70.0,
        "sm__cycles_elapsed.avg": 100.0,
    }
    busy = {Ceiling.FMA: 0.2, Ceiling.FP64: 0.6}
    fused = {ComputeUnit.VECTOR_FP32: 0.5, ComputeUnit.VECTOR_FP64: 0.8}
    assert use_factors(numbers, busy, fused) == pytest.approx(
        {
            UseFactor.LANES: 0.75,
            UseFactor.MULTIPLY_ADDS: 0.8,
            UseFactor.SECTORS: 0.26,
            UseFactor.REPLAYS: 0.9,
            UseFactor.LAST_WAVE: 12.5 / 13,
            UseFactor.EQUAL_SMS: 0.7,
        }
    )
    few = use_factors(numbers | {"launch__waves_per_multiprocessor": 0.5}, {}, fused)
    assert few[UseFactor.FEW_BLOCKS] == 0.5 and UseFactor.LAST_WAVE not in few
    assert not {UseFactor.EQUAL_SMS, UseFactor.MULTIPLY_ADDS} & few.keys()
    assert use_factors({}, busy, {}) == {}


def test_share_of_multiply_adds(tmp_path: Path) -> None:
    """Three of four are multiply-adds: 7 operations where 8 are possible."""
    busy = {"sm__pipe_fma_cycles_active": 50.0}
    kernel = Kernel(name="k", time_ns=1000, instructions={"ffma": 3, "fadd": 1}, busy=busy)
    ops = ops_of(tmp_path, kernel)
    assert ops.use_ps[UseFactor.MULTIPLY_ADDS][0] / ops.time_ps[0] == pytest.approx(7 / 8)


# ------------------------------------------------------------------------------------- why latency

STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
SMS = {"device__attribute_multiprocessor_count": 80.0}
HALF = {"sm__cycles_active.avg": 50.0, "sm__cycles_elapsed.avg": 100.0}
FEW_WARPS = {"sm__warps_active.avg.pct_of_peak_sustained_active": 39.2}
LIMITS = {"launch__occupancy_limit_registers": 2.0, "launch__occupancy_limit_warps": 8.0}
WAITS = {STALL.format("long_scoreboard"): 9.0, STALL.format("barrier"): 3.0}


def waves(count: float) -> dict[str, float]:
    return {"launch__waves_per_multiprocessor": count}


@pytest.mark.parametrize(
    ("numbers", "why", "words"),
    [
        ({"launch__grid_size": 64.0} | SMS, "few_blocks", "64 blocks for 80 SMs"),
        ({"launch__grid_size": 1.0} | SMS, "few_blocks", "1 block for 80 SMs"),
        (
            {"launch__grid_size": 100.0} | SMS | waves(0.3125),
            "few_blocks",
            "100 blocks where 320 fit at once",
        ),
        (waves(2.3) | HALF | FEW_WARPS, "tail", "the last of 2.3 waves runs alone"),
        (waves(12.0) | HALF | FEW_WARPS, "imbalance", "some SMs work longer than others"),
        (
            waves(3.0) | HALF | FEW_WARPS | LIMITS,
            "low_occupancy",
            "only 39 % of the warps are resident; registers limit them",
        ),
        (
            FEW_WARPS | LIMITS | {"launch__occupancy_limit_warps": 1.0},
            "low_occupancy",
            "only 39 % of the warps are resident",
        ),
        (FEW_WARPS, "low_occupancy", "only 39 % of the warps are resident"),
        (WAITS, "dependency:long_scoreboard", "warps wait for global or local memory"),
        (WAITS | {STALL.format("membar"): 11.0}, "barrier", "warps wait at memory barriers"),
        (
            WAITS | {STALL.format("barrier"): 9.5},
            "barrier",
            "warps wait for each other at barriers",
        ),
        ({STALL.format("selected"): 9.0}, "", ""),
        (waves(2.0), "", ""),
        ({}, "", ""),
    ],
)
def test_the_first_cause_that_holds(numbers: Mapping[str, float], why: str, words: str) -> None:
    one = Launch(kind=ResultKind.KERNEL, name="k", number=0, numbers=numbers)
    assert slow_cause(one, 50_000.0) == (why, words)


def test_a_short_call_and_a_small_grid() -> None:
    one = Launch(kind=ResultKind.KERNEL, name="k", number=0, grid=(8, 8, 1), numbers=SMS | WAITS)
    assert slow_cause(one, 3_210.0).words == "64 blocks for 80 SMs"
    big = Launch(kind=ResultKind.KERNEL, name="k", number=0, grid=(80, 8, 1), numbers=SMS | WAITS)
    assert slow_cause(big, 3_210.0) == (
        "launch",
        "a call of 3.2 µs is over before the device is full",
    )
    assert slow_cause(big, None).why == "dependency:long_scoreboard"


def test_a_kernel_is_slow_as_its_longest_launch_that_says_why(tmp_path: Path) -> None:
    few = {"launch__grid_size": 2.0}
    ops = ops_of(
        tmp_path,
        Kernel(name="k", time_ns=20_000, extra=few),
        Kernel(name="k", time_ns=30_000, extra=WAITS),
    )
    assert ops.slow_why == ("dependency:long_scoreboard",)
    ops = ops_of(
        tmp_path, Kernel(name="k", time_ns=20_000, extra=few), Kernel(name="k", time_ns=30_000)
    )
    assert ops.slow_words == ("2 blocks for 108 SMs",)
    assert ops_of(tmp_path, Kernel(name="k", time_ns=30_000)).slow_why == ("",)
