"""Busy shares of Nsight Compute: which unit was nearest its greatest rate."""

import csv
import json
import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.importers.nsight_compute.busy import METRICS, busy_shares, is_wanted
from roofline.importers.nsight_compute.launches import Launch, ResultKind
from roofline.importers.nsight_compute.report import read_report
from roofline.importers.nsight_compute.tables import metric_of, read_tables
from roofline.importers.nsight_compute.work import launch_work
from roofline.importers.source import SourceFile
from roofline.model.ceilings import Ceiling
from roofline.model.memory import MemoryLevel
from roofline.model.profile import OpTable, Profile
from roofline.pipeline import analyse_files
from tests.profiles import imported
from tests.tools import make_ncu_samples as ncu
from tests.tools.make_ncu_samples import Kernel

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_profiles" / "nsight_compute" / "a100-kernels.ncu-rep"
SHARED = ROOT.parent / "shared"
REAL = SHARED / "samples" / "nsight_compute"
EXPECTED = SHARED / "design" / "next" / "nearest-ceiling"
needs_shared = pytest.mark.skipif(not EXPECTED.is_dir(), reason="needs the shared folder")
SHARE = ".avg.pct_of_peak_sustained_elapsed"
OF_ACTIVE = ".avg.pct_of_peak_sustained_active"


def profile_of(tmp_path: Path, *kernels: Kernel) -> Profile:
    path = tmp_path / "report.ncu-rep"
    path.write_bytes(ncu.report(kernels))
    return imported(path)


def shares_of(ops: OpTable, row: int) -> dict[Ceiling, float]:
    """Per cent by ceiling, only what is known."""
    found = {one: 100 * busy[row] / ops.time_ps[row] for one, busy in ops.busy_ps.items()}
    return {one: share for one, share in found.items() if math.isfinite(share)}


def shares(**percent: float) -> dict[Ceiling, float]:
    return busy_shares({f"{name}{SHARE}": value for name, value in percent.items()})


# ------------------------------------------------------------------------------------- real reports


def expected() -> dict[str, Any]:
    path = EXPECTED / "expected.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


KERNELS = [(name, kernel) for name, one in expected().items() for kernel in one["kernels"]]


@needs_shared
def test_every_metric_has_its_ceiling() -> None:
    with (EXPECTED / "ceilings.csv").open(encoding="utf-8") as rows:
        wanted = {row["metric"]: row["ceiling"] for row in csv.DictReader(rows)}
    assert {name: one for one, names in METRICS.items() for name in names} == wanted


@needs_shared
@pytest.mark.parametrize("name", expected())
def test_the_nearest_ceiling_of_real_kernels(name: str) -> None:
    """All 48 kernels: the class, the ceiling, the share within two points, and what is slow."""
    ops = imported(REAL / name).ops
    for kernel in expected()[name]["kernels"]:
        row = ops.name.index(kernel["kernel"])
        found = shares_of(ops, row)
        largest = max(found.values())
        near = [one for one in Ceiling if found.get(one, -1.0) >= largest - 2]
        named = near[0] if largest >= 5 else ""
        share = found[near[0]] if named else largest
        assert ("bound" if largest >= 60 else "latency") == kernel["class"]
        assert named == kernel["ceiling"]
        assert share == pytest.approx(kernel["share"], abs=0.1)
        assert not named or near[1:] == kernel["also"]
        if kernel["class"] == "latency":
            assert ops.slow_why[row] == kernel["why"]


@needs_shared
def test_all_expected_kernels_were_looked_at() -> None:
    assert len(KERNELS) == 48


@needs_shared
def test_no_share_of_a_report_is_above_the_named_ones() -> None:
    """The largest share that a launch's section of headlines has is that of some ceiling."""
    seen = 0
    for path in sorted(REAL.glob("*.ncu-rep")):
        for launch in read_report(SourceFile(path)).launches:
            found = launch_work(launch).busy
            for name in ("sm__throughput", "gpu__compute_memory_throughput", "lts__throughput"):
                headline = launch.numbers.get(f"{name}{SHARE}")
                if headline is not None:
                    assert max(found.values()) >= headline / 100 - 0.02
                    seen += 1
    assert seen > 60


def own_shares(path: Path) -> dict[str, float]:
    """The highest share, in per cent, that a file itself states of each kernel: means over time."""
    read = read_report if path.suffix == ".ncu-rep" else read_tables
    times, sums = defaultdict[str, float](float), defaultdict[tuple[str, str], float](float)
    for launch in read(SourceFile(path)).launches:
        time_ns = launch.numbers.get("gpu__time_duration.sum", 0.0)
        times[launch.name] += time_ns
        for name in HEADLINES:
            sums[launch.name, name] += time_ns * launch.numbers.get(f"{name}{SHARE}", 0.0)
    return {
        one: max(sums[one, of] for of in HEADLINES) / lasted
        for one, lasted in times.items()
        if lasted
    }


HEADLINES = (
    "sm__throughput",
    "gpu__compute_memory_throughput",
    "lts__throughput",
    "gpu__dram_throughput",
)
SAMPLES = [*REAL.glob("*.ncu-rep"), *REAL.glob("*.csv"), *SAMPLE.parent.glob("a100-*")]


@pytest.mark.parametrize("path", sorted(SAMPLES), ids=lambda path: path.name)
def test_the_nearest_ceiling_is_the_highest_share_of_the_file_or_a_note_says_why(
    path: Path,
) -> None:
    analysis, stated = analyse_files([path]), own_shares(path)
    found = zip(analysis.ops.name[:-1], analysis.nearest.ratios().tolist(), strict=False)
    other = [name for name, share in found if abs(100 * share - stated[name]) > 2]
    notes = [one.count for one in analysis.profile.diagnostics if one.code == "l1-counted-half"]
    assert (other, notes) == (
        ["kernel_C(double *, const double *, int)"] * len(notes),
        [2] * len(notes),
    )


@needs_shared
@pytest.mark.parametrize(
    ("export", "report"),
    [
        ("a10g_basic_failed_raw_auto_by2024.1.csv", "a10g_2023.1_basic_failedkernel_esmm.ncu-rep"),
        ("a10g_roofline_raw_auto_by2024.1.csv", "a10g_2023.1_roofline_x512_esmm.ncu-rep"),
        ("a40_5kernels_raw_base_deDE_by2024.1.csv", "a40_5kernels_raw_auto_by2022.3.csv"),
        ("a40_5kernels_raw_base_by2024.1.csv", "a40_5kernels_raw_auto_by2022.3.csv"),
    ],
)
def test_exports_have_the_shares_and_words_of_their_report(export: str, report: str) -> None:
    ours, theirs = imported(REAL / export).ops, imported(REAL / report).ops
    assert ours.name == theirs.name
    for row in range(len(ours)):
        # Tables in base units print two decimals.
        assert shares_of(ours, row) == pytest.approx(shares_of(theirs, row), abs=0.011)
    assert ours.slow_words == theirs.slow_words


@needs_shared
def test_a_table_tells_a_failed_kernel_like_its_report() -> None:
    """The failed kernel's row has zeros among its missing cells."""
    found = imported(REAL / "a10g_basic_failed_raw_auto_by2024.1.csv")
    assert len(found.ops) == 5
    assert [one.count for one in found.diagnostics if one.code == "failed-kernels"] == [1]


@needs_shared
def test_derived_bytes_equal_counted_ones() -> None:
    seen = 0
    paths = [*REAL.glob("*.ncu-rep"), REAL / "a40_5kernels_raw_auto_by2022.3.csv"]
    for path in paths:
        capture = read_report if path.suffix == ".ncu-rep" else read_tables
        for launch in capture(SourceFile(path)).launches:
            counted = launch_work(launch).moved.get(MemoryLevel.DRAM)
            without = {
                name: value
                for name, value in launch.numbers.items()
                if not name.startswith(("dram__bytes", "dram__sectors"))
            }
            bare = Launch(kind=launch.kind, name="k", number=0, numbers=without)
            derived = launch_work(bare).moved.get(MemoryLevel.DRAM)
            if counted is None or counted.is_derived or derived is None:
                continue
            assert derived.is_derived
            rel = 1e-9 if path.suffix == ".ncu-rep" else 1e-4
            assert derived.bytes == pytest.approx(counted.bytes, rel=rel)
            assert derived.peak_bytes_per_s == pytest.approx(counted.peak_bytes_per_s, rel=1e-6)
            seen += 1
    assert seen >= 15


@needs_shared
def test_the_default_set_is_not_told_to_profile_again() -> None:
    found = imported(REAL / "a10g_default_sparse_three_kernels.ncu-rep")
    notes = {one.code: one for one in found.diagnostics}
    assert "only-times" not in notes
    assert notes["busy-without-flops"].count == notes["dram-bytes-derived"].count == 3
    assert "Profile again" not in "".join(one.remedy for one in found.diagnostics)
    assert any("from the share of DRAM's peak" in limit for limit in found.limits)


# ---------------------------------------------------------------------------------- shares: rules


def test_the_largest_metric_of_a_ceiling_counts_and_none_is_above_one() -> None:
    found = shares(sm__issue_active=40.0, sm__inst_executed=41.5, lts__t_sectors=104.7)
    assert found == pytest.approx({Ceiling.ISSUE: 0.415, Ceiling.L2: 1.0})


def test_a_share_of_active_cycles_becomes_one_of_all_cycles() -> None:
    cycles = {"sm__cycles_active.avg": 30.0, "gpc__cycles_elapsed.max": 120.0}
    active = {f"l1tex__throughput{OF_ACTIVE}": 80.0}
    assert busy_shares(cycles | active) == {Ceiling.L1: pytest.approx(0.2)}
    assert busy_shares(active) == {}
    both = cycles | active | {f"l1tex__throughput{SHARE}": 21.0}
    assert busy_shares(both) == {Ceiling.L1: pytest.approx(0.21)}
    first = both | {"sm__cycles_elapsed.max": 60.0, f"sm__inst_issued{OF_ACTIVE}": 50.0}
    assert busy_shares(first)[Ceiling.ISSUE] == pytest.approx(0.25)
    # L2 and DRAM have cycles of their own.
    assert busy_shares(cycles | {f"lts__throughput{OF_ACTIVE}": 50.0}) == {}


def test_more_active_than_elapsed_cycles_are_all_cycles() -> None:
    cycles = {"sm__cycles_active.avg": 121.0, "sm__cycles_elapsed.avg": 120.0}
    assert busy_shares(cycles | {f"sm__inst_issued{OF_ACTIVE}": 50.0}) == {Ceiling.ISSUE: 0.5}


@pytest.mark.parametrize(("minor", "share"), [(5.0, 0.9), (0.0, 0.45)])
def test_wavefronts_count_double_on_turing(minor: float, share: float) -> None:
    part = {
        "device__attribute_compute_capability_major": 7.0,
        "device__attribute_compute_capability_minor": minor,
    }
    found = busy_shares(part | {f"l1tex__data_pipe_lsu_wavefronts{SHARE}": 45.0})
    assert found == {Ceiling.L1: pytest.approx(share)}


def test_a_shared_pipe_is_the_one_that_fills_it() -> None:
    pipe = {"sm__pipe_shared_cycles_active": 50.0}
    fp64 = shares(**pipe, sm__pipe_fp64_cycles_active=49.0, sm__inst_executed_pipe_fp16=3.0)
    assert fp64 == {Ceiling.FP64: 0.5, Ceiling.FP16: 0.03}
    other = shares(**pipe, sm__pipe_fp64_cycles_active=30.0)
    assert other == {Ceiling.FP64: 0.3, Ceiling.SHARED_PIPE: 0.5}
    assert shares(**pipe) == {Ceiling.SHARED_PIPE: 0.5}


def test_a_headline_counts_only_where_no_named_unit_says_it() -> None:
    named = {"sm__pipe_alu_cycles_active": 50.0, "lts__t_sectors": 30.0}
    assert set(shares(**named, sm__throughput=51.9)) == {Ceiling.ALU, Ceiling.L2}
    assert shares(**named, sm__throughput=53.0)[Ceiling.SM_OTHER] == 0.53
    memory = shares(**named, gpu__compute_memory_throughput=45.0)
    assert memory[Ceiling.MEMORY_OTHER] == 0.45
    # The queue into L1 is one of the memory's headline.
    queue = shares(l1tex__lsuin_requests=45.0, gpu__compute_memory_throughput=45.0)
    assert set(queue) == {Ceiling.LSU}


@pytest.mark.parametrize(
    "name",
    [
        "breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "pmsampling:sm__issue_active.avg.pct_of_peak_sustained_elapsed",
        "TriageAC.sm__inst_executed.avg.pct_of_peak_sustained_elapsed",
        "sm__issue_active.max.pct_of_peak_sustained_elapsed",
        "sm__warps_active.avg.pct_of_peak_sustained_elapsed",
        "smsp__pcsamp_warps_issue_stalled_wait",
    ],
)
def test_other_names_are_not_read(name: str) -> None:
    assert not is_wanted(name)
    assert busy_shares({name: 80.0}) == {}


# --------------------------------------------------------------------------- launches of one kernel


def launch(time_ns: int, percent: float | None = None, **more: float) -> Kernel:
    share = {} if percent is None else {f"lts__t_sectors{SHARE}": percent}
    return Kernel(name="k", time_ns=time_ns, extra=share | more)


def test_launches_count_by_their_time(tmp_path: Path) -> None:
    ops = profile_of(tmp_path, launch(1000, 20.0), launch(3000, 60.0)).ops
    assert shares_of(ops, 0) == {Ceiling.L2: pytest.approx(50.0)}


def test_launches_without_a_share_are_as_the_others(tmp_path: Path) -> None:
    ops = profile_of(tmp_path, launch(1000, 20.0), launch(3000, 60.0), launch(4000)).ops
    assert shares_of(ops, 0) == {Ceiling.L2: pytest.approx(50.0)}


def test_a_share_of_less_than_half_of_the_time_is_unknown(tmp_path: Path) -> None:
    ops = profile_of(tmp_path, launch(1000, 20.0), launch(3000, 60.0), launch(4001)).ops
    assert np.isnan(ops.busy_ps[Ceiling.L2]).tolist() == [True]


def test_kernels_of_one_table_know_different_ceilings(tmp_path: Path) -> None:
    other = Kernel(name="other", time_ns=10, extra={f"sm__issue_active{SHARE}": 7.0})
    ops = profile_of(tmp_path, launch(1000, 20.0), other).ops
    assert [set(shares_of(ops, row)) for row in (0, 1)] == [{Ceiling.L2}, {Ceiling.ISSUE}]


def without(*parts: str) -> dict[str, float]:
    """The generator's metrics that have one of `parts` in their name, as not measured."""
    names = ncu.collected(Kernel(name="k", time_ns=1000))
    return {name: math.nan for name in names if any(part in name for part in parts)}


def test_a_report_of_busy_shares_alone_is_a_profile(tmp_path: Path) -> None:
    nothing = without("_op_", "bytes", "tensor")
    found = profile_of(tmp_path, launch(2000, 35.0, **nothing))
    assert shares_of(found.ops, 0) == {Ceiling.L2: pytest.approx(35.0)}
    assert found.time_ps == 2_000_000
    assert {one.code for one in found.diagnostics} == {"busy-without-flops"}


def test_shares_without_a_time_are_of_no_sum(tmp_path: Path) -> None:
    nothing = without("_op_", "bytes", "tensor", "duration")
    found = profile_of(tmp_path, launch(2000, 35.0, **nothing), launch(9000, 45.0, **nothing))
    assert shares_of(found.ops, 0) == {Ceiling.L2: pytest.approx(40.0)}
    assert found.ops.time_known.tolist() == [False]
    assert found.time_ps == 0
    assert {one.code for one in found.diagnostics} >= {"kernels-without-time"}


def test_the_sample_has_busy_shares() -> None:
    ops = imported(SAMPLE).ops
    assert shares_of(ops, 0)[Ceiling.FMA] == pytest.approx(76.4)
    assert Ceiling.SM_OTHER not in ops.busy_ps


# --------------------------------------------------------------------------------- DRAM, few digits

DRAM = {
    f"gpu__dram_throughput{SHARE}": 25.0,
    "dram__cycles_elapsed.avg.per_second": 1e9,
    "device__attribute_global_memory_bus_width": 512.0,
}


def dram_of(numbers: Mapping[str, float]) -> Any:
    full = {"gpu__time_duration.sum": 1000.0, **numbers}
    one = Launch(kind=ResultKind.KERNEL, name="k", number=0, numbers=full)
    return launch_work(one).moved.get(MemoryLevel.DRAM)


def test_dram_bytes_from_the_share_of_its_peak() -> None:
    """512 bits, two transfers a clock of 1 GHz: 128 GB/s, of which a quarter for 1 µs."""
    found = dram_of(DRAM)
    assert (found.bytes, found.peak_bytes_per_s) == (pytest.approx(32_000), 128e9)
    assert found.is_derived
    counted = dram_of(DRAM | {"dram__bytes.sum": 5.0})
    assert (counted.bytes, counted.is_derived) == (5.0, False)


@pytest.mark.parametrize("missing", DRAM)
def test_dram_bytes_are_unknown_where_a_part_is(missing: str) -> None:
    assert dram_of({name: value for name, value in DRAM.items() if name != missing}) is None
    assert dram_of(DRAM | {missing: 0.0}) is None


@pytest.mark.parametrize(("counted", "notes"), [(False, 1), (True, 0)])
def test_a_rounded_share_is_announced_where_bytes_come_from_it(
    counted: bool, notes: int, tmp_path: Path
) -> None:
    moved = {} if counted else without("dram__bytes")
    shares = {"gpu__dram_throughput": 0.46, "lts__t_sectors": 0.12}
    extra = {f"{name}{SHARE}": value for name, value in shares.items()} | moved
    extra["device__attribute_global_memory_bus_width"] = 512.0
    path = tmp_path / "kernels.csv"
    kernel = Kernel(
        name="k",
        time_ns=10**6,
        dram_bytes=10**9,
        l2_bytes=10**9,
        l1_bytes=10**9,
        extra=extra,
    )
    path.write_text(ncu.raw_page([kernel], ncu.Style(base_units=True)), "utf-8")
    found = [one.count for one in imported(path).diagnostics if one.code == "few-digits"]
    assert found == [1] * notes


# ------------------------------------------------------------------------------------- details page

KEYS = '"0","1","a.out","127.0.0.1","k(int)","1","7"'
HEADER = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",'
    '"Section Name","Metric Name","Metric Unit","Metric Value"'
)
OLD = {"SM [%]": "48.00", "Memory [%]": "61.20", "SOL L1/TEX Cache": "30.00",
       "SOL L2 Cache": "25.50", "SOL DRAM": "61.20"}  # fmt: skip
NEW = {"Compute (SM) Throughput": "48.00", "Memory Throughput": "61.20",
       "L1/TEX Cache Throughput": "30.00", "L2 Cache Throughput": "25.50",
       "DRAM Throughput": "61.20"}  # fmt: skip


@pytest.mark.parametrize("labels", [OLD, NEW], ids=["2020", "2024"])
def test_labels_of_the_details_page(labels: Mapping[str, str], tmp_path: Path) -> None:
    cells = {(label, "%"): value for label, value in labels.items()} | {
        ("Duration", "usecond"): "40.00",
        ("SM Active Cycles", "cycle"): "500.00",
        ("Elapsed Cycles", "cycle"): "1,000",
        ("Issue Slots Busy", "%"): "20.00",
        ("Grid Size", ""): "4",
        ("# SMs", "SM"): "80",
    }
    rows = [f'{KEYS},"Speed Of Light","{name}","{unit}","{v}"' for (name, unit), v in cells.items()]
    path = tmp_path / "details.csv"
    path.write_text("\n".join([HEADER, *rows, ""]), "utf-8")
    ops = imported(path).ops
    assert shares_of(ops, 0) == pytest.approx(
        {
            Ceiling.DRAM: 61.2,
            Ceiling.L2: 25.5,
            Ceiling.L1: 15.0,
            Ceiling.ISSUE: 10.0,
            Ceiling.SM_OTHER: 48.0,
        }
    )
    assert ops.slow_words == ("4 blocks for 80 SMs",)


def test_a_label_means_what_its_unit_says() -> None:
    assert metric_of("Memory Throughput", "Gbyte/second") == "dram__bytes.sum.per_second"
    assert metric_of("Memory Throughput", "%").startswith("gpu__compute_memory_throughput")
    assert metric_of("Memory Throughput", "inst") == ""


def test_the_ways_of_the_dram_add_up() -> None:
    ways = {
        f"dram__bytes_{way}.sum{SHARE[4:]}": value
        for way, value in (("read", 40.5), ("write", 22.0))
    }
    assert busy_shares(ways) == {Ceiling.DRAM: 0.625}
    assert all(map(is_wanted, ways))
    ways.popitem()
    assert busy_shares(ways) == {}
