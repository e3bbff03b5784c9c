"""Busy shares by AMD's counters: what they divide by, what is left out, why a kernel is slow."""

import json
from pathlib import Path

import numpy as np
import pytest

from roofline.importers.intake.archives import UnpackLimits
from roofline.importers.registry import import_profile
from roofline.importers.shared.amd_counters import (
    AmdSize,
    amd_size,
    busy_shares,
    cache_sizes,
    traffic_bytes,
    use_shares,
    why_slow,
)
from roofline.importers.source import SourceFile, silent
from roofline.model.ceilings import Ceiling, UseFactor
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64
from roofline.model.profile import Profile
from roofline.pipeline import analyse_files, open_sources
from tests.profiles import imported
from tests.tools.make_rocprofiler_sdk import results

SHARED = Path(__file__).resolve().parents[3] / "shared" / "samples" / "rocprof_compute"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
BMM = SHARED / "bmm64_MI300X_rocm7.1.zip"

MI300X = amd_size("gfx942", units=304, clock_ghz=2.1, dies=8, unit_waves=32)
US = 10**6  # ps
# 100 us at 2.1 GHz are 210,000 cycles of each die.
CYCLES = 210_000
COUNTED = {"GRBM_GUI_ACTIVE": 8.0 * CYCLES}


def busy(counters: dict[str, float], size: AmdSize = MI300X) -> dict[Ceiling, float]:
    return busy_shares({**COUNTED, **counters}, size, 100 * US)


def test_shares_are_of_the_cycles_of_all_units() -> None:
    half = CYCLES * 304 / 2
    assert busy({"SQ_ACTIVE_INST_VALU": half}) == {Ceiling.VALU: pytest.approx(0.5)}
    assert busy({"SQ_VALU_MFMA_BUSY_CYCLES": 4 * half}) == {Ceiling.TENSOR: pytest.approx(0.5)}
    assert busy({"SQ_ACTIVE_INST_SCA": half}) == {Ceiling.SALU: pytest.approx(0.5)}
    assert busy({"SQ_ACTIVE_INST_MISC": half}) == {Ceiling.BRANCH: pytest.approx(0.5)}
    assert busy({"SQ_LDS_IDX_ACTIVE": half}) == {Ceiling.LDS: pytest.approx(0.5)}
    assert busy({"TCP_TOTAL_CACHE_ACCESSES_sum": half}) == {Ceiling.L1: pytest.approx(0.5)}
    assert busy({"TCC_REQ_sum": CYCLES * 128 / 2}) == {Ceiling.L2: pytest.approx(0.5)}


def test_loads_and_stores_are_known_with_both_their_counters() -> None:
    both = {"SQ_ACTIVE_INST_FLAT": CYCLES * 304 / 4, "SQ_ACTIVE_INST_VMEM": CYCLES * 304 / 4}
    assert busy(both) == {Ceiling.LSU: pytest.approx(0.5)}
    assert busy({"SQ_ACTIVE_INST_VMEM": 1.0}) == {}


def test_two_instructions_at_once_are_not_more_than_all_of_the_time() -> None:
    assert busy({"SQ_ACTIVE_INST_VALU": 2.0 * CYCLES * 304}) == {Ceiling.VALU: 1.0}


def test_shares_that_the_profiler_divided_itself_need_no_size_of_the_gpu() -> None:
    counters = {"VALUBusy": 51.3, "SALUBusy": 2.0, "MfmaUtil": 101.0}
    shares = busy_shares(counters, AmdSize(), 100 * US)
    assert shares == {
        Ceiling.VALU: pytest.approx(0.513),
        Ceiling.SALU: pytest.approx(0.02),
        Ceiling.TENSOR: 1.0,
    }
    assert use_shares({"VALUUtilization": 50.0}) == {UseFactor.LANES: 0.5}
    few = why_slow({"OccupancyPercent": 24.3}, AmdSize(), 100 * US, None)
    assert few == ("low_occupancy", "only 24 % of the waves that fit are resident")
    moved = traffic_bytes({"FetchSize": 2.0, "WriteSize": 1.0}, cache_sizes("", None))
    assert moved == {MemoryLevel.HBM: 3072}


def test_cycles_before_and_after_a_short_kernel_do_not_count() -> None:
    counters = {"GRBM_GUI_ACTIVE": 2.2 * 8 * CYCLES, "SQ_ACTIVE_INST_VALU": CYCLES * 304 / 2}
    assert busy_shares(counters, MI300X, 100 * US)[Ceiling.VALU] == pytest.approx(0.5)
    # Below the greatest clock the counted cycles are fewer, and count.
    counters["GRBM_GUI_ACTIVE"] = 8 * CYCLES * 0.8
    assert busy_shares(counters, MI300X, 100 * US)[Ceiling.VALU] == pytest.approx(0.625)


def test_what_is_not_known_has_no_share() -> None:
    counters = {**COUNTED, "SQ_ACTIVE_INST_VALU": 1.0, "TCC_REQ_sum": 1.0}
    assert busy_shares(counters, MI300X, None) == {}
    assert busy_shares({"SQ_ACTIVE_INST_VALU": 1.0}, MI300X, 100 * US) == {}
    # How many dies add up their cycles is not known of an MI300 alone; an MI200 has one.
    unknown_dies = amd_size("gfx942", units=304, clock_ghz=2.1)
    assert busy_shares(counters, unknown_dies, 100 * US) == {}
    assert amd_size("gfx90a", units=104, clock_ghz=1.7) == AmdSize(
        units=104, dies=1, clock_ghz=1.7, l2_channels=32
    )
    # Counters of other families have these names and count something else.
    assert amd_size("gfx1100", units=96, clock_ghz=2.5) == AmdSize()


def test_use_is_what_is_left_of_the_busy_time() -> None:
    counters = {"SQ_ACTIVE_INST_VALU": 100.0, "SQ_THREAD_CYCLES_VALU": 4_800.0}
    assert use_shares(counters) == {UseFactor.LANES: pytest.approx(0.75)}
    counters = {"SQ_LDS_IDX_ACTIVE": 100.0, "SQ_LDS_BANK_CONFLICT": 30.0}
    assert use_shares(counters) == {UseFactor.BANK_CONFLICTS: pytest.approx(0.7)}
    assert use_shares({"SQ_LDS_IDX_ACTIVE": 0.0, "SQ_LDS_BANK_CONFLICT": 0.0}) == {}


def test_why_no_unit_is_busy() -> None:
    few = {**COUNTED, "SQ_LEVEL_WAVES": 0.25 * 32 * 304 * CYCLES}
    assert why_slow(few, MI300X, 100 * US, 64) == (
        "few_blocks",
        "64 blocks for 304 compute units",
    )
    assert why_slow(few, MI300X, 100 * US, 2_048) == (
        "low_occupancy",
        "only 25 % of the waves that fit are resident",
    )
    quads = {**COUNTED, "SQ_WAVE_CYCLES": 0.25 * 32 * 304 * CYCLES / 4}
    assert why_slow(quads, MI300X, 100 * US, 2_048)[0] == "low_occupancy"
    assert why_slow(few, MI300X, 3_200_000, 2_048) == (
        "launch",
        "a call of 3.2 µs is over before the device is full",
    )
    many = {**COUNTED, "SQ_LEVEL_WAVES": 0.75 * 32 * 304 * CYCLES}
    assert why_slow(many, MI300X, 100 * US, 2_048) == ("", "")
    assert why_slow({}, AmdSize(), None, None) == ("", "")


def shares(profile: Profile, row: int) -> dict[str, float]:
    ops = profile.ops
    return {c.value: float(ps[row] / ops.time_ps[row]) for c, ps in ops.busy_ps.items()}


@needs_shared
def test_real_mi200_copy() -> None:
    files = sorted((SHARED / "vcopy_MI200").iterdir())
    profile = imported(*files)
    found = shares(profile, 0)
    # 524,288 accesses and 221,568 requests in 34,816 cycles, and two faster launches.
    assert found["l1"] == pytest.approx(0.180, abs=0.001)
    assert found["l2"] == pytest.approx(0.226, abs=0.001)
    assert found["tensor"] == found["lds"] == 0.0
    assert profile.ops.use_ps[UseFactor.LANES][0] == pytest.approx(float(profile.ops.time_ps[0]))


@needs_shared
def test_real_mi300x_matrix_product(tmp_path: Path) -> None:
    sources, _ = open_sources(
        [SourceFile(BMM)], scratch=tmp_path / "unpacked", limits=UnpackLimits(), progress=silent
    )
    profile = import_profile(sources)
    ops = profile.ops
    kernel = next(k for k, name in enumerate(ops.name) if "matrix_core" in name)
    # `pmc_kernel_top.csv` states 150 calls in 4,358.035 us, and 151 in 843.132 us.
    assert ops.occurrences.tolist() == [151, 150]
    assert float(ops.time_ps.sum()) / US == pytest.approx(5_201.167, abs=0.001)
    assert profile.launches is not None
    assert len(profile.launches) == 301
    assert "time-unknown" not in {note.code for note in profile.diagnostics}
    # The bf16 operations that were counted take as long at the peak of this clock.
    flop, time_ps = float(ops.flop[kernel]), float(ops.time_ps[kernel])
    assert shares(profile, kernel)["tensor"] == pytest.approx(
        flop / (time_ps / 1000 * 2048 * 304 * 2.1), rel=0.01
    )
    assert np.all([np.nan_to_num(one).max() <= time_ps for one in ops.busy_ps.values()])


@needs_shared
def test_l1_of_mi300_is_held_against_the_roof_of_its_convention() -> None:
    analysis = analyse_files([BMM])
    ops = analysis.profile.ops
    moved = float(ops.traffic_bytes[MemoryLevel.L1].sum())
    roof = analysis.profile.device.bandwidth_gbs[MemoryLevel.L1]
    assert roof == pytest.approx(32_965, rel=1e-3)
    assert moved / (float(ops.time_ps.sum()) / 1000) / roof == pytest.approx(0.631, abs=0.002)
    kernel = next(k for k, name in enumerate(ops.name) if "matrix_core" in name)
    assert analysis.ops.measures.roofline_efficiency_ratio[kernel] == pytest.approx(0.736, abs=2e-3)
    assert any("L1" in limit and "64 bytes" in limit for limit in analysis.profile.limits)


def test_rocprofv3_has_the_same_shares(tmp_path: Path) -> None:
    document = results()
    (tool,) = document["rocprofiler-sdk-tool"]
    agent = next(one for one in tool["agents"] if one["type"] == 2)
    agent |= {"num_xcc": 8, "max_waves_per_cu": 32}
    tool["counters"] += [
        {"agent_id": {"handle": 4}, "id": {"handle": 900}, "name": "GRBM_GUI_ACTIVE"},
        {"agent_id": {"handle": 4}, "id": {"handle": 901}, "name": "SQ_VALU_MFMA_BUSY_CYCLES"},
    ]
    for one in tool["callback_records"]["counter_collection"]:
        times = one["dispatch_data"]
        cycles = (times["end_timestamp"] - times["start_timestamp"]) * 2.1
        values = ((900, cycles), (901, 304 * 4 * cycles / 8 / 4))
        # One record per die; their sum counts.
        one["records"] += [
            {"counter_id": {"handle": handle}, "value": value}
            for handle, value in values
            for _ in range(8)
        ]
    path = tmp_path / "1_results.json"
    path.write_text(json.dumps(document))
    ops = imported(path).ops
    kernels = [k for k, category in enumerate(ops.name) if "MEMORY_COPY" not in category]
    time_ps: F64 = ops.time_ps[kernels].astype(np.float64)
    np.testing.assert_allclose(ops.busy_ps[Ceiling.TENSOR][kernels], 0.25 * time_ps)
    copies = [k for k in range(len(ops)) if k not in kernels]
    assert np.isnan(ops.busy_ps[Ceiling.TENSOR][copies]).all()
    assert {ops.slow_why[k] for k in kernels} == {"few_blocks"}
    assert {ops.slow_words[k] for k in kernels} == {"256 blocks for 304 compute units"}
