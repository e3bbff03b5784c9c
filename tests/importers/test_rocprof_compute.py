"""rocprof-compute workloads: FLOPs by unit, bytes by level, roofs, and the traps of the format."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from roofline.analysis.records import Timing
from roofline.devices.resolve import resolve
from roofline.errors import CorruptProfileError, IncompleteProfileError, UploadRejectedError
from roofline.importers.intake.archives import UnpackLimits
from roofline.importers.registry import identify, import_profile
from roofline.importers.rocprof_compute import FORMAT_ID
from roofline.importers.source import SourceFile
from roofline.model.compute import ComputeUnit
from roofline.model.device import PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile, Provenance
from roofline.pipeline import analyse_files, open_sources
from tests.builders import analysis_on
from tests.profiles import imported
from tests.tools import damage
from tests.tools.make_rocprof_folder import GEMM, REDUCE, STENCIL, dispatch, table, workload

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_profiles" / "rocprof_compute" / "mi250x-solver"
SHARED = ROOT.parent / "shared" / "samples" / "rocprof_compute" / "vcopy_MI200"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")


def read(folder: Path, *names: str) -> Profile:
    paths = [folder / name for name in names] or sorted(folder.iterdir())
    return imported(*paths)


def written(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def edited(folder: Path, **changes: str | None) -> Path:
    """A workload of one GEMM whose cells are changed; a cell of `None` drops its column."""
    row = dispatch(0, GEMM)
    for column, value in changes.items():
        if value is None:
            row.pop(column)
        else:
            row[column] = value
    return written(folder, {**workload(), "pmc_perf.csv": table([row])})


@needs_shared
def test_real_mi200_copy() -> None:
    profile = read(SHARED)
    launches = profile.launches
    assert launches is not None
    assert int(launches.time_ps[0]) == 20_480_000
    hbm = launches.traffic_bytes[MemoryLevel.HBM][0]
    assert hbm == 16_778_112
    assert hbm / 20_480 == pytest.approx(819.2, abs=0.05)  # GB/s
    assert launches.flop.tolist() == [0.0, 0.0, 0.0]
    assert launches.traffic_bytes[MemoryLevel.L2][0] == 16_777_216
    assert launches.traffic_bytes[MemoryLevel.L1][0] == 33_554_432
    assert profile.device.bandwidth_gbs[MemoryLevel.HBM] == pytest.approx(1388.9302)
    assert profile.ops.name == ("vecCopy(double*, double*, double*, int, int)",)
    assert profile.ops.occurrences.tolist() == [3]


def test_flop_are_split_by_unit() -> None:
    profile = read(SAMPLE)
    ops = profile.ops
    gemm = next(k for k, name in enumerate(ops.name) if name.startswith("Cijk"))
    assert int(ops.occurrences[gemm]) == 2
    assert int(ops.unit_flop[ComputeUnit.MATRIX_FP16][gemm]) == 2 * 2 * 4096**3
    assert int(ops.unit_flop[ComputeUnit.VECTOR_FP32][gemm]) == 2 * 64 * 2 * 131_072
    assert int(ops.flop[gemm]) == 2 * (2 * 4096**3 + 64 * 2 * 131_072)
    stencil = next(k for k, name in enumerate(ops.name) if "stencil7" in name)
    assert int(ops.flop[stencil]) == 3 * 64 * (6_291_456 + 2 * 1_048_576)
    reduce = next(k for k, name in enumerate(ops.name) if "reduce" in name)
    assert int(ops.flop[reduce]) == 3 * 64 * (2 * 524_288 + 1)


def test_bytes_by_level() -> None:
    ops = read(SAMPLE).ops
    stencil = next(k for k, name in enumerate(ops.name) if "stencil7" in name)
    moved = STENCIL.read_bytes + STENCIL.write_bytes
    assert int(ops.traffic_bytes[MemoryLevel.HBM][stencil]) == 3 * moved
    assert int(ops.traffic_bytes[MemoryLevel.L1][stencil]) == 3 * 3 * moved
    gemm = next(k for k, name in enumerate(ops.name) if name.startswith("Cijk"))
    assert int(ops.traffic_bytes[MemoryLevel.LDS][gemm]) == 2 * 4 * 32 * GEMM.lds_cycles
    assert int(ops.bytes_accessed[gemm]) == int(ops.traffic_bytes[MemoryLevel.HBM][gemm])


def test_roofs_are_the_measured_ones() -> None:
    device = read(SAMPLE).device
    assert device.peak_origin is PeakOrigin.MEASURED
    assert device.bandwidth_gbs[MemoryLevel.HBM] == 1361.5
    assert device.unit_gflops[ComputeUnit.MATRIX_FP16] == 163_500.0
    assert device.unit_gflops[ComputeUnit.MATRIX_INT8] == 165_000.0
    assert "device 0 of 2" in device.derivation["hbm"]
    assert (device.name, device.traits.architecture) == ("MI200", "gfx90a")
    assert device.traits.processor_count == 110
    assert device.traits.clock_ghz == pytest.approx(1.7)
    assert device.traits.memory_gbs == pytest.approx(1638.4)


def test_bounds_of_the_page() -> None:
    profile = read(SAMPLE)
    device = resolve(profile.device, catalogue=False)
    analysis = analysis_on(profile, device)
    used = dict(
        zip(analysis.ops.name, analysis.ops.measures.roofline_efficiency_ratio, strict=True)
    )
    gemm_rate = 2 * 4096**3 / GEMM.ns
    assert used[GEMM.name.removesuffix(" [clone .kd]")] == pytest.approx(gemm_rate / 163_500)
    stencil_rate = (STENCIL.read_bytes + STENCIL.write_bytes) / STENCIL.ns
    name = next(name for name in used if "stencil7" in name)
    assert used[name] == pytest.approx(stencil_rate / 1361.5)
    assert profile.flop_provenance is Provenance.MEASURED
    assert analysis.with_infeed.program.label[0] == "Total (HW)"


def test_launches_say_which_dispatch() -> None:
    launches = read(SAMPLE).launches
    assert launches is not None
    assert len(launches) == 8
    assert launches.detail[1] == "dispatch 1, GPU 4, grid 16777216, workgroup 256"


def test_clone_suffixes_are_no_part_of_the_name() -> None:
    assert "reduce_norm(float const*, float*, int)" in read(SAMPLE).ops.name
    assert any(name.endswith("(.kd)") for name in read(SAMPLE).ops.long_name)


@pytest.mark.parametrize("stamp", ["8.1097E+14", "8,1097E+14", "", "811097000000000"])
def test_rounded_timestamps_are_no_times(stamp: str, tmp_path: Path) -> None:
    folder = edited(tmp_path / "w", Start_Timestamp=stamp, End_Timestamp=stamp)
    profile = read(folder)
    assert profile.ops.time_ps.tolist() == [0]
    (note,) = [found for found in profile.diagnostics if found.code == "time-unknown"]
    assert "1 of 1 dispatches" in note.message and f"“{stamp}” to “{stamp}”" in note.message
    device = resolve(profile.device, catalogue=False)
    analysis = analysis_on(profile, device)
    assert analysis.ops.timing[0] is Timing.PREDICTED
    assert np.isnan(analysis.ops.measures.roofline_efficiency_ratio[0])


def test_times_with_fractions_of_a_nanosecond_are_times(tmp_path: Path) -> None:
    rows = [
        {**dispatch(k, GEMM), "Start_Timestamp": begin, "End_Timestamp": end}
        for k, (begin, end) in enumerate(
            [
                # The mean over passes: 17 digits, one more than a float holds.
                ("44838038521504.0", "44838038564618.766"),
                ("44838038600000.25", "44838038600001"),
                ("4.4838038700000E+13", "+4.4838038700002E+13 "),
            ]
        )
    ]
    profile = read(written(tmp_path / "w", {"pmc_perf.csv": table(rows)}))
    assert profile.launches is not None
    assert profile.launches.time_ps.tolist() == [43_114_766, 750, 2_000]
    assert "time-unknown" not in {note.code for note in profile.diagnostics}


def test_ends_that_were_rounded_apart_are_no_times(tmp_path: Path) -> None:
    folder = edited(tmp_path / "w", Start_Timestamp="8.1097E+14", End_Timestamp="8.1098E+14")
    assert read(folder).ops.time_ps.tolist() == [0]


def test_timestamps_file_helps_out(tmp_path: Path) -> None:
    folder = edited(tmp_path / "w", Start_Timestamp="8.1E+14", End_Timestamp="8.1E+14")
    times = {"Dispatch_ID": "0", "Kernel_Name": "k", "Start_Timestamp": "5", "End_Timestamp": "25"}
    written(folder, {"timestamps.csv": table([times])})
    assert read(folder).ops.time_ps.tolist() == [20_000]


def mi300(row: dict[str, str]) -> dict[str, str]:
    spelt = {name.replace("TCC_EA_", "TCC_EA0_"): value for name, value in row.items()}
    return {**spelt, "TCC_BUBBLE_sum": "65536", "TCC_EA0_RDREQ_sum": "65569"}


def test_mi300_reads_lines_of_128_bytes(tmp_path: Path) -> None:
    row = mi300(dispatch(0, REDUCE)) | {
        "TCC_EA0_WRREQ_sum": "131072",
        "TCC_EA0_WRREQ_64B_sum": "131072",
        "TCP_TCC_READ_REQ_sum": "65536",
        "TCP_TCC_WRITE_REQ_sum": "131072",
        "TCP_TOTAL_CACHE_ACCESSES_sum": "1000",
    }
    folder = written(tmp_path / "w", {"pmc_perf.csv": table([row])})
    traffic = read(folder).ops.traffic_bytes
    assert int(traffic[MemoryLevel.HBM][0]) == 128 * 65536 + 64 * 33 + 64 * 131072
    assert int(traffic[MemoryLevel.L2][0]) == 128 * 65536 + 64 * 131072
    assert int(traffic[MemoryLevel.L1][0]) == 128 * 1000


def test_mi100_counts_no_flop(tmp_path: Path) -> None:
    row = {k: v for k, v in dispatch(0, STENCIL).items() if not k.startswith("SQ_INSTS_VALU")}
    folder = written(tmp_path / "w", {"pmc_perf.csv": table([row])})
    profile = read(folder)
    assert "flop-not-counted" in {found.code for found in profile.diagnostics}
    assert profile.launches is not None
    assert np.isnan(profile.launches.flop[0])
    assert any("no roofline.csv" in limit for limit in profile.limits)


def test_omniperf_1_spelling(tmp_path: Path) -> None:
    old = {"Dispatch_ID": "Index", "Kernel_Name": "KernelName", "GPU_ID": "gpu-id"}
    old |= {"Start_Timestamp": "BeginNs", "End_Timestamp": "EndNs", "Grid_Size": "grd"}
    row = {old.get(name, name): value for name, value in dispatch(0, GEMM).items()}
    profile = read(written(tmp_path / "w", {"pmc_perf.csv": table([row])}))
    assert profile.ops.time_ps.tolist() == [GEMM.ns * 1000]


SYSTEM_OF_OMNIPERF_1 = {
    "workload_name": "w", "host_name": "node7", "host_rocmver": "5.1.3-66", "gpu_soc": "gfx90a",
    "numSE": "8", "numCU": "104", "numSIMD": "4", "waveSize": "64", "maxWavesPerCU": "32",
    "L1": "16", "L2": "8192", "sclk": "1700", "mclk": "1600", "L2Banks": "32", "name": "mi200",
    "hbmBW": "1638.4",
}  # fmt: skip


def test_the_machine_of_omniperf_1(tmp_path: Path) -> None:
    """Its `sysinfo.csv` has other names of most columns, and no command."""
    files = {"sysinfo.csv": table([SYSTEM_OF_OMNIPERF_1])}
    found = analyse_files([written(tmp_path / "w", {**workload(), **files})])
    device = found.profile.device
    assert (found.device.part_id, device.name, device.traits.hostname) == (
        "mi210", "mi200", "node7",
    )  # fmt: skip
    assert (device.traits.processor_count, device.traits.clock_ghz) == (104, 1.7)
    assert (device.traits.architecture, device.traits.memory_gbs) == ("gfx90a", 1638.4)
    assert found.profile.environment["rocm_version"] == "5.1.3-66"


def test_counters_of_single_channels_are_added_up(tmp_path: Path) -> None:
    row = dispatch(0, REDUCE)
    for name in ("TCC_EA_RDREQ", "TCC_EA_RDREQ_32B", "TCC_EA_WRREQ", "TCC_EA_WRREQ_64B"):
        whole = int(row.pop(f"{name}_sum"))
        row |= {f"{name}[0]": str(whole // 2), f"{name}[1]": str(whole - whole // 2)}
    ops = read(written(tmp_path / "w", {"pmc_perf.csv": table([row])})).ops
    assert int(ops.traffic_bytes[MemoryLevel.HBM][0]) == REDUCE.read_bytes + REDUCE.write_bytes


def test_a_sum_wins_over_its_channels(tmp_path: Path) -> None:
    row = {"TCC_EA_RDREQ[0]": "1", **dispatch(0, REDUCE), "TCC_EA_RDREQ[1]": "1"}
    ops = read(written(tmp_path / "w", {"pmc_perf.csv": table([row])})).ops
    assert int(ops.traffic_bytes[MemoryLevel.HBM][0]) == REDUCE.read_bytes + REDUCE.write_bytes


def test_integer_operations_are_no_flop(tmp_path: Path) -> None:
    profile = read(edited(tmp_path / "w", SQ_INSTS_VALU_MFMA_MOPS_I8="1000"))
    assert ComputeUnit.MATRIX_INT8 not in profile.ops.unit_flop
    assert "integer-operations" in {found.code for found in profile.diagnostics}


def test_roofs_of_zero_are_no_roofs(tmp_path: Path) -> None:
    files = workload()
    files["roofline.csv"] = files["roofline.csv"].replace("168000.00", "0")
    device = read(written(tmp_path / "w", files)).device
    assert ComputeUnit.MATRIX_BF16 not in device.unit_gflops


def test_without_benchmark_the_stated_bandwidth_counts(tmp_path: Path) -> None:
    files = workload()
    del files["roofline.csv"]
    device = read(written(tmp_path / "w", files)).device
    assert device.bandwidth_gbs == {MemoryLevel.HBM: 1638.4}
    assert device.peak_origin is PeakOrigin.PROFILE
    assert not device.unit_gflops


def test_ranks_are_added_up(tmp_path: Path) -> None:
    row = table([dispatch(0, GEMM)])
    folder = written(tmp_path / "w", {"rank0.csv": row, "rank1.csv": row})
    profile = read(folder)
    assert profile.ops.occurrences.tolist() == [2]
    assert [host.file_name for host in profile.hosts] == ["rank0.csv", "rank1.csv"]


@pytest.mark.parametrize("has_whole", [False, True])
def test_passes_of_one_program_are_one_table(has_whole: bool, tmp_path: Path) -> None:
    """`pmc_perf_0.csv` and others hold the same dispatches, each with other counters."""
    rows = [dispatch(k, kernel) for k, kernel in enumerate((GEMM, REDUCE, GEMM))]
    whole = read(written(tmp_path / "whole", {**workload(), "pmc_perf.csv": table(rows)}))
    counted = [name for name in rows[0] if name.startswith(("SQ", "TC", "GRBM"))]
    files = {**workload()}
    del files["pmc_perf.csv"]
    for k in range(3):
        left_out = [name for at, name in enumerate(counted) if at % 3 != k]
        some = [{c: v for c, v in row.items() if c not in left_out} for row in rows]
        files[f"pmc_perf_{k}.csv"] = table(some)
    if has_whole:
        files["pmc_perf.csv"] = table(rows)
    parts = read(written(tmp_path / "parts", files))
    assert parts.host_count == 1
    assert parts.ops.name == whole.ops.name
    for column in ("occurrences", "time_ps", "flop", "bytes_accessed"):
        assert getattr(parts.ops, column).tolist() == getattr(whole.ops, column).tolist()


def test_zip_of_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "workload.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(SAMPLE.iterdir()):
            archive.write(file, f"workloads/solver/MI200/{file.name}")
        archive.writestr("workloads/solver/MI200/log.txt", "INFO profiling\n")
        archive.writestr("workloads/solver/MI200/perfmon/pmc.txt", "pmc: SQ_WAVES\n")
    sources, notes = open_sources(
        [SourceFile(path)],
        scratch=tmp_path / "scratch",
        limits=UnpackLimits(),
        progress=lambda *_: None,
    )
    assert len(import_profile(sources).ops) == 3
    assert [note.code for note in notes] == ["skipped-files"]


def test_logs_and_pictures_beside_the_tables_are_skipped(tmp_path: Path) -> None:
    """As a shell names all files of a folder."""
    folder = written(tmp_path / "w", workload())
    for name, content in (("log.txt", b"plot"), ("roof.pdf", b"%PDF-1.4"), ("empty.pdf", b"")):
        (folder / name).write_bytes(content)
    profile = analyse_files(sorted(folder.iterdir())).profile
    assert (
        profile.ops.occurrences.tolist() == imported(*folder.glob("*.csv")).ops.occurrences.tolist()
    )
    (note,) = (note for note in profile.diagnostics if note.code == "skipped-files")
    assert note.count == 3


def test_files_without_counters_ask_for_them() -> None:
    with pytest.raises(IncompleteProfileError, match=r"roofline\.csv.*hold no counters"):
        read(SAMPLE, "roofline.csv", "sysinfo.csv")


def test_no_dispatch(tmp_path: Path) -> None:
    header = workload()["pmc_perf.csv"].splitlines()[0]
    with pytest.raises(CorruptProfileError, match="lists no dispatch"):
        read(written(tmp_path / "w", {"pmc_perf.csv": header + "\n"}))


def test_a_word_among_counters_is_located(tmp_path: Path) -> None:
    with pytest.raises(CorruptProfileError, match=r"line 2: “many” in column TCC_EA_RDREQ_sum"):
        read(edited(tmp_path / "w", TCC_EA_RDREQ_sum="many"))


@pytest.mark.parametrize("count", ["1e999", "1e300", "-5"])
def test_what_no_counter_can_hold_is_damage(count: str, tmp_path: Path) -> None:
    with pytest.raises(CorruptProfileError, match="is not a number"):
        read(edited(tmp_path / "w", SQ_INSTS_VALU_FMA_F32=count))


@pytest.mark.parametrize("name", ["pmc_perf.csv", "roofline.csv", "sysinfo.csv"])
def test_damaged_copies(name: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "w", workload())
    data = (folder / name).read_bytes()
    for content in (*damage.cuts(data, 70), *damage.flips(data, 40)):
        (folder / name).write_bytes(content)
        damage.outcome(sorted(folder.iterdir()))


def test_hostile_names_survive(tmp_path: Path) -> None:
    name = '<script>alert("1")</script>\n' + "x" * 5000
    ops = read(edited(tmp_path / "w", Kernel_Name=name)).ops
    assert ops.name[0].startswith("<script>")


@pytest.mark.parametrize(
    "name", ["pmc_perf.csv", "roofline.csv", "sysinfo.csv", "pmc_dispatch_info.csv"]
)
def test_each_file_is_recognised(name: str) -> None:
    assert identify(SourceFile(SAMPLE / name)).FORMAT_ID == FORMAT_ID


def test_rocprofv3_counters_are_not_taken_for_a_workload(tmp_path: Path) -> None:
    header = '"Correlation_Id","Dispatch_Id","Kernel_Name","Counter_Name","Counter_Value"\n'
    path = tmp_path / "counter_collection.csv"
    path.write_text(header + '1,1,"k","SQ_WAVES",3\n')
    assert identify(SourceFile(path)).FORMAT_ID == "rocprofiler_sdk"


def test_workloads_of_two_machines_are_not_one_profile(tmp_path: Path) -> None:
    other = (SAMPLE / "sysinfo.csv").read_text("utf-8").replace("MI200", "MI300X")
    (tmp_path / "sysinfo2.csv").write_text(other, "utf-8")
    sources = [SourceFile(path) for path in (*sorted(SAMPLE.iterdir()), tmp_path / "sysinfo2.csv")]
    with pytest.raises(UploadRejectedError, match="different machines: MI200 and MI300X"):
        import_profile(sources)


def test_times_of_rocprof_without_counters_are_read(tmp_path: Path) -> None:
    """`rocprof --stats` lists kernels and counts nothing. It was called an incomplete workload."""
    head = "Index,KernelName,gpu-id,queue-id,grd,wgr,DispatchNs,BeginNs,EndNs,CompleteNs,DurationNs"
    rows = ["0,step(float*) [clone .kd],0,0,4096,256,90,100,1100,1200,1000"]
    rows.append("1,step(float*) [clone .kd],0,0,4096,256,1290,1300,4300,4400,3000")
    profile = read(written(tmp_path / "run", {"results.csv": "\n".join([head, *rows, ""])}))
    assert profile.ops.name == ("step(float*)",)
    assert (int(profile.ops.occurrences[0]), int(profile.ops.time_ps[0])) == (2, 4_000_000)
    assert not profile.ops.flop_known.any() and not profile.ops.bytes_known.any()
    assert [one.code for one in profile.diagnostics] == ["times-alone"]
    assert "several times" not in " ".join(profile.limits), "each kernel ran once"
