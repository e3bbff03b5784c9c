"""Links are roofs: they bind transfers, with the share that their bytes and times tell."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from roofline.analysis.analyse import analyse
from roofline.analysis.causes import Cause
from roofline.analysis.records import AnalysisOptions, Cost, RooflineAnalysis
from roofline.analysis.subjects.choose import choose
from roofline.analysis.time_records import TransferRecord
from roofline.devices.choice import PeakChoice, known_part, read_choice
from roofline.devices.resolve import resolve
from roofline.errors import BadViewError
from roofline.estimate.on_device import estimate
from roofline.estimate.ops import Options
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from roofline.model.units import gib_to_gb
from roofline.pipeline import analyse_files
from tests.builders import analysis_on, profile_from_table, reported
from tests.moving import HOST, ICI, MOVED, Moved, moving, with_links

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
NAN = float("nan")
H100 = reported(kind=DeviceKind.GPU, name="NVIDIA H100 80GB HBM3")


def analysed(profile: Profile, choice: PeakChoice | None = None) -> RooflineAnalysis:
    return analysis_on(profile, resolve(profile.device, choice=choice))


def share(analysis: RooflineAnalysis, op: str) -> float:
    return float(analysis.ops.measures.roofline_efficiency_ratio[analysis.ops.name.index(op)])


def bound(analysis: RooflineAnalysis, op: str) -> str:
    row = analysis.ops.name.index(op)
    return analysis.bound_label(int(analysis.ops.measures.bound[row]))


def saving(analysis: RooflineAnalysis, op: str) -> float:
    return float(analysis.ops.saving_per_core_us[analysis.ops.name.index(op)])


@pytest.mark.covers(167, 168, 183, 228, 230, 253)
def test_links_bind_transfers() -> None:
    analysis = analysed(moving())
    bounds = {op: bound(analysis, op) for op in analysis.ops.name}
    assert bounds == {
        "copy-start.1": "Host link",
        "copy-done.1": "Host link",
        "copy-start.2": "Host link",
        "copy-done.2": "Host link",
        "all-reduce.1": "ICI",
        "fused.1": "ICI",
        "ag-start": "ICI",
        "matmul": "Compute",
        "IDLE": "Unknown",
    }


def test_share_of_a_link_is_that_of_the_wait_or_of_the_interval() -> None:
    analysis = analysed(moving())
    assert share(analysis, "copy-done.1") == pytest.approx(40 / 50)
    assert share(analysis, "copy-done.2") == pytest.approx(40 / 120)
    assert share(analysis, "all-reduce.1") == pytest.approx(20 / 40)
    assert math.isnan(share(analysis, "fused.1"))  # its size is not known
    assert math.isnan(share(analysis, "copy-start.1"))  # its bytes count at the end


def test_only_exposed_time_can_be_saved() -> None:
    analysis = analysed(moving())
    assert saving(analysis, "copy-done.1") == pytest.approx(51 - 40)
    assert saving(analysis, "copy-done.2") == 0
    assert saving(analysis, "all-reduce.1") == pytest.approx(20)
    assert math.isnan(saving(analysis, "fused.1"))


def test_bytes_in_memory_stay_visible() -> None:
    analysis = analysed(moving())
    row = analysis.ops.name.index("copy-done.1")
    rate = 1e6 / 50e-6 / 2**30
    assert analysis.ops.measures.bandwidth_gibs[MemoryLevel.HBM][row] == pytest.approx(rate)
    assert analysis.ops.cost[row] is Cost.TRANSFER
    assert analysis.ops.above_roof[row] is None


def test_program_has_an_intensity_over_each_link() -> None:
    analysis = analysed(moving())
    program = analysis.with_infeed.program.measures
    # Bytes of one collective are not known, so the program's over ICI are not.
    assert math.isnan(program.intensity[ICI][0])
    flop = analysis.profile.ops.flop.sum()
    assert program.intensity[HOST][0] == pytest.approx(flop / 2.56e6)
    known = analysed(moving(moved=[replace(MOVED[3], wire=1e6) if k == 3 else one
                                   for k, one in enumerate(MOVED)]))  # fmt: skip
    # An all-gather without its end is not in the timeline: its size is not known either.
    assert math.isnan(known.with_infeed.program.measures.intensity[ICI][0])


def test_program_over_links_whose_bytes_are_all_known() -> None:
    moved = [
        *MOVED[:3],
        replace(MOVED[3], wire=1e6),
        Moved(6, -1, "all-gather", ICI, 1e6, 1, NAN, 1),
    ]
    program = analysed(moving(moved=moved)).with_infeed.program.measures
    assert program.bandwidth_gibs[ICI][0] == pytest.approx(4e6 / 214e-6 / 2**30)
    assert program.bound[0] == analysed(moving()).with_infeed.program.measures.bound[0]


def test_clocks_of_transfers_are_those_of_their_links() -> None:
    analysis = analysed(moving())
    clocks = analysis.ops.clocks
    row = analysis.ops.name.index("copy-done.1")
    assert clocks.of["host"][row] == clocks.t_min_us[row] == pytest.approx(40)
    assert clocks.above_t_max_us[row] == pytest.approx(10)
    assert math.isnan(clocks.of["hbm"][row])
    hidden = analysis.ops.name.index("copy-done.2")
    assert math.isnan(clocks.t_min_us[hidden])  # its bytes moved in the time of other ops
    assert clocks.of["ici"][analysis.ops.name.index("matmul")] == 0


def test_link_without_a_peak_is_asked_for() -> None:
    unknown = reported(name="TPU v0")
    analysis = analysed(moving(unknown))
    assert bound(analysis, "copy-done.1") == "a link, peak not known"
    assert math.isnan(share(analysis, "copy-done.1"))
    (note,) = [one for one in analysis.diagnostics if one.code == "links-without-peak"]
    assert "ICI and the host link" in note.message
    assert "--peak ici=" in note.remedy
    set_by_hand = analysed(moving(unknown), PeakChoice(gbs={ICI: 100.0, HOST: 32.0}))
    assert share(set_by_hand, "copy-done.1") == pytest.approx(0.8)
    assert not [one for one in set_by_hand.diagnostics if one.code == "links-without-peak"]


def test_link_that_is_not_known_is_asked_for() -> None:
    profile = with_links(moving(H100), [HOST, HOST, None, None])
    analysis = analysed(profile)
    assert bound(analysis, "all-reduce.1") == "a link, peak not known"
    (note,) = [one for one in analysis.diagnostics if one.code == "unknown-link"]
    assert "--peak nvlink=" in note.remedy
    told = analysed(profile, PeakChoice(gbs={MemoryLevel.NVLINK: 100.0}))
    assert bound(told, "all-reduce.1") == "NVLink"
    assert share(told, "all-reduce.1") == pytest.approx(0.5)
    assert "unknown" not in choose(told).parts.links


def test_rate_above_the_link_has_a_cause() -> None:
    analysis = analysed(moving(), PeakChoice(gbs={ICI: 10.0}))
    row = analysis.ops.name.index("all-reduce.1")
    assert share(analysis, "all-reduce.1") == pytest.approx(5)
    assert analysis.ops.above_roof[row] is Cause.LINK


MI300X = reported(kind=DeviceKind.GPU, name="AMD Instinct MI300X")
XGMI, DCN = MemoryLevel.XGMI, MemoryLevel.DCN
ALL_REDUCE = replace(MOVED[2], link=XGMI)


def row_of(analysis: RooflineAnalysis) -> TransferRecord:
    return next(row for row in analysis.transfers.rows if row.kind == "all-reduce")


@pytest.mark.parametrize(
    ("ranks", "gbs"), [(2, 64.0), (4, 3 * 64.0), (8, 448.0)], ids=("pair", "half", "node")
)
def test_a_group_is_held_against_the_links_that_join_it(ranks: int, gbs: float) -> None:
    """2 MB took 40 us, 50 GB/s: of the one link of 64 GB/s between two of eight MI300X, not of all
    seven. At least 2 MB / 64 GB/s = 31.25 us and two hops of 0.6 us."""
    analysis = analysed(moving(MI300X, [ALL_REDUCE], ranks))
    row = row_of(analysis)
    assert row.peak_gbs == pytest.approx(gbs)
    assert share(analysis, "all-reduce.1") == pytest.approx(50 / gbs)
    assert row.least_us == pytest.approx(2e3 / gbs + 1.2)
    op = analysis.ops.name.index("all-reduce.1")
    assert analysis.ops.clocks.of["xgmi"][op] == pytest.approx(2e3 / gbs)
    assert saving(analysis, "all-reduce.1") == pytest.approx(40 - 2e3 / gbs)


def test_a_measured_collective_has_the_time_of_its_estimate() -> None:
    """The budget, advice and `roofline estimate` ask one topology: 16 of 72 chips on NVLink 5;
    nodes of 8; two nodes of H100; a slice of 4x4."""
    for device, ranks, choice, options in (
        ("GB200", 16, [], Options(ranks=16)),
        ("GB200", 16, ["gpus_per_node=8"], Options(ranks=16, gpus_per_node=8)),
        ("h100-sxm", 16, ["network=400Gbit/s"], Options(ranks=16, network="50GB/s")),
        ("tpu-v5e", 16, [], Options(ranks=16)),
        ("tpu-v5e", 4, ["axes=4x4"], Options(ranks=4, axes="4")),
    ):
        part = known_part(device)
        wire = 2 * (ranks - 1) / ranks * 2**20
        moved = replace(MOVED[2], wire=wire, link=ICI if part.kind is DeviceKind.TPU else None)
        held = analysed(moving(moved=[moved], group_size=ranks), read_choice(device, choice))
        wanted = estimate("all-reduce", "1024x512", device, options)
        assert row_of(held).least_us == pytest.approx(wanted.t_min_us), device


@pytest.mark.covers(229)
def test_the_network_of_the_user_binds_groups_of_an_unknown_link() -> None:
    """16 H100 in nodes of 8: each rank sends 2 · 1/2 · S / 8 over the network, of 2 · 15/16 · S on
    the wire: 50 GB/s pass 50 · 15 = 750 GB/s of it, more than NVLink's 450 · 15/14 inside."""
    profile = moving(H100, [replace(MOVED[2], link=None)], 16)
    unknown = analysed(profile)
    assert row_of(unknown).peak_gbs is None
    assert bound(unknown, "all-reduce.1") == "a link, peak not known"
    told = analysed(profile, read_choice(None, ["network=50GB/s"]))
    assert bound(told, "all-reduce.1") == "DCN"
    assert row_of(told).peak_gbs == pytest.approx(450 * 15 / 14)
    assert share(told, "all-reduce.1") == pytest.approx(50 / (450 * 15 / 14))
    slow = analysed(profile, read_choice(None, ["network=20GB/s"]))
    assert row_of(slow).peak_gbs == pytest.approx(300)


def test_what_does_not_join_devices_is_refused() -> None:
    profile = moving(H100, [ALL_REDUCE])
    with pytest.raises(BadViewError, match="not part of a torus"):
        analysed(profile, read_choice(None, ["axes=2x2"]))
    with pytest.raises(BadViewError, match="has no nodes"):
        analysed(moving(), read_choice(None, ["gpus_per_node=8"]))
    with pytest.raises(BadViewError, match="cannot be read"):
        read_choice(None, ["gpus_per_node=0"])
    with pytest.raises(BadViewError, match="rate of a network"):
        read_choice(None, ["network=fast"])
    given = read_choice(None, ["network=400Gbit/s", "gpus_per_node=72", "axes=4x4"])
    assert read_choice(None, given.peaks) == given


def test_link_may_bind_an_op_that_also_computes() -> None:
    device = reported(name="TPU v6 Lite", gflops=1000.0)
    profile = profile_from_table("op|self_us|flop|hbm_bytes\ngemm|100|5e7|1e6", device=device)
    traffic = {**profile.ops.traffic_bytes, ICI: np.array([8 * 10**6], np.uint64)}
    analysis = analysed(replace(profile, ops=replace(profile.ops, traffic_bytes=traffic)))
    assert bound(analysis, "gemm") == "ICI"
    assert share(analysis, "gemm") == pytest.approx(0.8)
    row = analysis.ops.measures.bottleneck_intensity[0]
    assert row == pytest.approx(5e7 / 8e6)
    assert gib_to_gb(analysis.ops.measures.bandwidth_gibs[ICI][0]) == pytest.approx(80)


def test_comparison_mode_knows_no_links() -> None:
    profile = moving()
    options = AnalysisOptions(xprof_compat=True)
    analysis = analyse(profile, resolve(profile.device, catalogue=False), options)
    assert not any(level.is_link for level in analysis.levels)
    assert Cost.TRANSFER not in analysis.ops.cost


@needs_shared
def test_v6e_inference_waits_for_its_host_link() -> None:
    analysis = analyse_files([SHARED / "profiles" / "tpu-v6e-inference" / "host_0.xplane.pb"])
    rates = {
        op: gib_to_gb(float(analysis.ops.measures.bandwidth_gibs[HOST][row]))
        for row, op in enumerate(analysis.ops.name)
        if op.startswith("copy-done")
    }
    awaited = {op: rate for op, rate in rates.items() if rate > 27}
    assert sorted(awaited.values()) == pytest.approx([27.6, 27.7, 28.4, 29.4], abs=0.06)
    assert bound(analysis, "all-reduce") == "ICI"
    assert share(analysis, "all-reduce") == pytest.approx(0.441, abs=0.0005)
    moves = [cost is Cost.TRANSFER for cost in analysis.ops.cost]
    assert np.nansum(analysis.ops.saving_per_core_us[moves]) / 1e6 == pytest.approx(
        8.90 + 0.204, abs=0.01
    )


@needs_shared
def test_no_collective_of_v5p_training_is_bound_by_memory() -> None:
    analysis = analyse_files([SHARED / "profiles" / "tpu-v5p-training-golden" / "reference.json"])
    moves = np.array([cost is Cost.TRANSFER for cost in analysis.ops.cost])
    labels = {analysis.bound_label(code) for code in analysis.ops.measures.bound[moves].tolist()}
    assert labels == {"ICI"}
    busy = analysis.ops.measures.total_time_us
    part = busy[moves].sum() / (analysis.profile.time_ps / 1e6)
    assert part == pytest.approx(0.12016, abs=0.00005)
