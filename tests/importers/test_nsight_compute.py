"""Nsight Compute reports: values of real and of our own files, the arithmetic, what is said."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from roofline.analysis.roofline import UNKNOWN_BOUND
from roofline.devices.resolve import resolve
from roofline.errors import CorruptProfileError, IncompleteProfileError
from roofline.importers.intake.archives import UnpackLimits, unpack
from roofline.importers.nsight_compute.launches import Launch, ResultKind
from roofline.importers.nsight_compute.opcodes import TensorWork, operations_per_warp, tensor_work
from roofline.importers.nsight_compute.report import read_report
from roofline.importers.nsight_compute.work import LaunchWork, launch_work
from roofline.importers.registry import IMPORTERS, import_profile
from roofline.importers.source import SourceFile
from roofline.model.compute import ComputeUnit
from roofline.model.device import PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile, Provenance
from tests.builders import analysis_on
from tests.profiles import imported
from tests.tools import make_ncu_samples as ncu
from tests.tools.make_ncu_samples import KERNELS, Kernel, Strings

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_profiles" / "nsight_compute"
REAL = ROOT.parent / "shared" / "samples" / "nsight_compute"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real reports is not there")
TENSOR_PATH = "sm__ops_path_tensor_src_"


def profile_of(tmp_path: Path, *kernels: Kernel, **rest: Any) -> Profile:
    path = tmp_path / "report.ncu-rep"
    path.write_bytes(ncu.report(kernels, **rest))
    return imported(path)


def with_metrics(metrics: Mapping[str, float]) -> LaunchWork:
    return launch_work(Launch(kind=ResultKind.KERNEL, name="k", number=0, numbers=metrics))


def codes(profile: Profile) -> dict[str, int]:
    return {found.code: found.count for found in profile.diagnostics}


# ------------------------------------------------------------------------------------- real reports


def expected() -> dict[str, Any]:
    return json.loads((REAL / "expected.json").read_text("utf-8")) if REAL.is_dir() else {}


def values(work: LaunchWork) -> Iterator[tuple[str, float | str | None]]:
    """What we read, by the names of the expected values."""
    yield "time_ns", math.nan if work.time_ns is None else work.time_ns
    for precision in ("fp64", "fp32", "fp16"):
        unit = ComputeUnit(f"vector_{precision}")
        yield f"{precision}_flop", work.flop.get(unit)
        yield f"{precision}_peak_flops", work.peak_flop_s.get(unit)
    for level in (MemoryLevel.DRAM, MemoryLevel.L2, MemoryLevel.L1):
        moved = work.moved.get(level)
        if moved is not None and moved.is_derived:  # the expected values are of counters
            moved = None
        yield f"{level.value}_bytes", None if moved is None else moved.bytes
        yield f"{level.value}_source", None if moved is None else moved.source.split(",")[0]
        if moved is not None:
            yield f"{level.value}_peak_Bps", moved.peak_bytes_per_s


@needs_real
@pytest.mark.parametrize("name", [n for n in expected() if (REAL / n).is_file()])
def test_real_reports(name: str) -> None:
    capture = read_report(SourceFile(REAL / name))
    wanted = expected()[name]
    assert [capture.tool_version] == [tool.split(" ")[0] for tool in wanted["tool"]]
    assert len(capture.launches) == wanted["n_results"]
    for launch, kernel in zip(capture.launches, wanted["kernels"], strict=True):
        assert kernel["name"] in launch.name
        assert launch.grid == tuple(kernel["grid"])
        assert launch.block == tuple(kernel["block"])
        assert launch.device_name == kernel["device"]
        work = launch_work(launch)
        for key, ours in values(work):
            theirs = kernel.get(key, ours)
            if isinstance(theirs, str) or theirs is None:
                assert ours == theirs, key
            else:
                assert ours == pytest.approx(theirs, rel=1e-9, nan_ok=True), key
        tensor = kernel.get("tensor_ops_from_opcodes", {})
        assert sum((work.tensor.operations or {}).values()) == sum(tensor.values())


@needs_real
def test_utilisation_agrees_with_the_profilers_own_rule() -> None:
    """Its text: "achieved N% of this device's fp32 peak performance and M% of its fp64 peak"."""
    text = re.compile(rb"achieved (\d+)% of this device's fp32 peak performance and (\d+)%")
    seen = 0
    for path in REAL.glob("*.ncu-rep"):
        rules = text.findall(path.read_bytes())
        works = [launch_work(launch) for launch in read_report(SourceFile(path)).launches]
        counted = [work for work in works if work.flop]
        if len(rules) != len(counted):  # it prints no rule for some: which one is whose?
            continue
        for rule, work in zip(rules, counted, strict=False):
            for percent, unit in zip(
                rule, (ComputeUnit.VECTOR_FP32, ComputeUnit.VECTOR_FP64), strict=True
            ):
                assert work.time_ns is not None
                rate = work.flop[unit] / work.time_ns * 1e9
                assert 100 * rate / work.peak_flop_s[unit] == pytest.approx(int(percent), abs=0.51)
                seen += 1
    assert seen


# --------------------------------------------------------------------------------------- our sample


def test_samples_are_what_the_generator_writes() -> None:
    assert (SAMPLES / "a100-kernels.ncu-rep").read_bytes() == ncu.report()
    assert (SAMPLES / "a100-kernels-raw.csv").read_text("utf-8") == ncu.raw_page()


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_exactly_one_importer_recognises_a_sample(path: Path) -> None:
    assert [i.FORMAT_ID for i in IMPORTERS if i.recognises(SourceFile(path))] == ["nsight_compute"]


@pytest.mark.covers(118, 119)
def test_sample_has_the_counts_it_was_made_of() -> None:
    profile = imported(SAMPLES / "a100-kernels.ncu-rep")
    ops = profile.ops
    assert ops.name == (ncu.SGEMM, ncu.HGEMM, ncu.STENCIL, ncu.SCALE, ncu.REDUCE)
    assert ops.occurrences.tolist() == [3, 1, 1, 1, 1]
    assert ops.time_ps[0] == (1_571_840 + 1_568_224 + 1_574_016) * 1000
    assert ops.unit_flop[ComputeUnit.VECTOR_FP32].tolist() == [
        3 * (2 * 2048**3 + 4_194_304), 16_777_216, 0, 0, 4_194_304,
    ]  # fmt: skip
    assert ops.unit_flop[ComputeUnit.VECTOR_FP64][2] == 2 * 27 * 134_217_728 + 134_217_728
    assert ops.unit_flop[ComputeUnit.MATRIX_FP16][1] == 2 * 4096**3
    # HFMA2 does four operations per thread, HMUL2 two; HADD2.F32 converts.
    assert ops.unit_flop[ComputeUnit.VECTOR_FP16].tolist()[1:4] == [
        2_097_152 * 4 + 8_388_608 * 2, 0, 268_435_456 * 4,
    ]  # fmt: skip
    assert (ops.flop == sum(ops.unit_flop.values())).all()
    assert ops.traffic_bytes[MemoryLevel.DRAM].tolist() == [
        3 * 71_303_168, 167_772_160, 2_180_022_272, 536_870_912, 8_912_896,
    ]  # fmt: skip
    assert (ops.bytes_accessed == ops.traffic_bytes[MemoryLevel.DRAM]).all()
    assert ops.traffic_bytes[MemoryLevel.L2][0] == 3 * 1_090_519_040
    assert ops.traffic_bytes[MemoryLevel.L1][2] == 29_527_900_160
    assert profile.time_ps == ops.time_ps.sum()
    assert profile.flop_provenance is profile.bytes_provenance is Provenance.MEASURED
    assert profile.captured_at_ns == 1_714_550_400 * 10**9
    assert profile.hosts[0].hostname == "gpu-node-03"
    assert not len(profile.steps)
    assert any("no steps" in limit for limit in profile.limits)


def test_launches_of_one_kernel_stay_visible() -> None:
    launches = imported(SAMPLES / "a100-kernels.ncu-rep").launches
    assert launches is not None
    assert launches.op.tolist() == [0, 0, 0, 1, 2, 3, 4]
    assert launches.detail[3] == "grid 32×32×1, block 256×1×1, stream 13"
    assert launches.time_ps.tolist() == [kernel.time_ns * 1000 for kernel in KERNELS]
    assert launches.flop[0] == pytest.approx(2 * 2048**3 + 4_194_304)
    assert launches.traffic_bytes[MemoryLevel.L2][3] == pytest.approx(2_415_919_104)


def test_roofs_are_those_of_long_kernels_and_shares_those_of_each_launch() -> None:
    profile = imported(SAMPLES / "a100-kernels.ncu-rep")
    device = profile.device
    assert device.peak_origin is PeakOrigin.MEASURED
    assert device.name == "NVIDIA A100-SXM4-40GB"
    # The reduction ran at 82 % of the clocks: too short to count for the roofs.
    assert device.unit_gflops[ComputeUnit.VECTOR_FP32] == pytest.approx(6912 * 2 * 1.095)
    assert device.bandwidth_gbs[MemoryLevel.DRAM] == pytest.approx(1280 * 1.215)
    assert "long launches (median)" in device.derivation["dram"]
    assert device.traits.memory_gbs == pytest.approx(1555.2)
    assert device.traits.architecture == "sm_80"
    capacity = profile.ops.level_capacity_bytes[MemoryLevel.DRAM][4]
    assert capacity == pytest.approx(1280 * 1.215 * 0.82 * 11_264)
    found = analysis_on(profile, resolve(device)).ops.measures
    share = found.utilisation_ratio[MemoryLevel.DRAM][4]
    assert share == pytest.approx(8_912_896 / capacity)


# --------------------------------------------------------------------------------------- arithmetic

COUNTED = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"


@pytest.mark.covers(120)
def test_counters_are_used_before_rates() -> None:
    metrics = {COUNTED.format(op): float(k) for k, op in enumerate(("fadd", "fmul", "ffma"), 1)}
    metrics |= {"gpu__time_duration.sum": 1000.0, "smsp__cycles_elapsed.avg.per_second": 1e9}
    metrics[f"{COUNTED.format('ffma')}.per_cycle_elapsed"] = 77.0
    assert with_metrics(metrics).flop == {ComputeUnit.VECTOR_FP32: 1 + 2 + 2 * 3}


def test_time_from_cycles_where_there_is_no_duration() -> None:
    metrics = {"sm__cycles_elapsed.avg": 3e6, "sm__cycles_elapsed.avg.per_second": 1.5e9}
    assert with_metrics(metrics).time_ns == pytest.approx(2e6)


def test_half_instructions_work_on_two_lanes() -> None:
    metrics = {COUNTED.format(op): 10.0 for op in ("hadd", "hmul", "hfma")}
    assert with_metrics(metrics).flop == {ComputeUnit.VECTOR_FP16: 10 * 2 + 10 * 2 + 10 * 4}


def test_some_counters_of_a_precision_are_a_lower_bound() -> None:
    work = with_metrics({COUNTED.format("dfma"): 8.0})
    assert work.flop == {ComputeUnit.VECTOR_FP64: 16}
    assert work.partial == {ComputeUnit.VECTOR_FP64}


@pytest.mark.covers(122)
@pytest.mark.parametrize(
    ("metrics", "wanted"),
    [
        ({"dram__bytes.sum": 640.0}, 640),
        ({"dram__bytes_read.sum": 64.0, "dram__bytes_write.sum": 32.0}, 96),
        ({"dram__bytes_op_read.sum": 64.0, "dram__bytes_op_write.sum": 1.0}, 65),
        ({"dram__sectors_read.sum": 3.0, "dram__sectors_write.sum": 1.0}, 128),
        ({"dram__bytes_read.sum": 64.0}, None),
    ],
)
def test_device_memory_falls_back(metrics: Mapping[str, float], wanted: int | None) -> None:
    moved = with_metrics(metrics).moved.get(MemoryLevel.DRAM)
    assert (moved and moved.bytes) == wanted


@pytest.mark.parametrize(
    ("metrics", "level", "wanted"),
    [
        ({"lts__t_bytes.sum": 5.0}, MemoryLevel.L2, 5),
        ({"lts__lts2xbar_cycles_active.sum": 2.0}, MemoryLevel.L2, 64),
        ({"derived__lts__lts2xbar_bytes.sum.per_second": 7e9}, MemoryLevel.L2, 7000),
        ({"l1tex__t_bytes.sum": 5.0}, MemoryLevel.L1, 5),
        ({"l1tex__lsu_writeback_active_mem_lg.sum": 2.0}, MemoryLevel.L1, 256),
        (
            {"derived__l1tex__lsu_writeback_bytes_mem_lgds.sum.per_second": 1e9},
            MemoryLevel.L1,
            1000,
        ),
    ],
)
def test_caches_by_their_sources(
    metrics: Mapping[str, float], level: MemoryLevel, wanted: int
) -> None:
    metrics = {**metrics, "gpu__time_duration.sum": 1000.0}
    assert with_metrics(metrics).moved[level].bytes == pytest.approx(wanted)


def test_the_source_with_a_peak_is_the_charts() -> None:
    metrics = {
        "gpu__time_duration.sum": 1000.0,
        "l1tex__m_xbar2l1tex_read_bytes.sum": 11.0,
        "lts__t_bytes.sum": 22.0,
        "lts__t_bytes.sum.peak_sustained": 64.0,
        "lts__cycles_elapsed.avg.per_second": 1e9,
    }
    moved = with_metrics(metrics).moved[MemoryLevel.L2]
    assert (moved.bytes, moved.peak_bytes_per_s) == (22, 64e9)
    assert "both directions" in moved.source


def test_peak_from_a_share_of_it() -> None:
    name = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
    metrics = {
        "gpu__time_duration.sum": 1000.0,
        f"{name}ld.sum": 100.0,
        f"{name}ld.sum.pct_of_peak_sustained_elapsed": 25.0,
        f"{name}st.sum": 20.0,
    }
    moved = with_metrics(metrics).moved[MemoryLevel.SHARED]
    assert moved.bytes == 120 * 128
    assert moved.peak_bytes_per_s == pytest.approx(400 * 128 / 1e-6)


# ------------------------------------------------------------------------------------------- tensor


@pytest.mark.covers(121)
@pytest.mark.parametrize(
    ("opcode", "unit", "operations"),
    [
        ("HMMA.884.F32.F32.STEP0", "matrix_fp16", 512),
        ("HMMA.884.F16.F16.STEP0", "matrix_fp16", 1024),
        ("DMMA.884", "matrix_fp64", 512),
        ("HMMA.1684.F32.TF32", "matrix_tf32", 1024),
        ("HMMA.1688.F32", "matrix_fp16", 2048),
        ("HMMA.1688.F32.TF32", "matrix_tf32", 2048),
        ("IMMA.8816.S8.S8", "matrix_int8", 2048),
        ("IMMA.8832.S4.S4", "matrix_int4", 4096),
        ("HMMA.16816", "matrix_fp16", 4096),
        ("HMMA.16816.F32.BF16", "matrix_bf16", 4096),
        ("IMMA.16832.S8.S8", "matrix_int8", 8192),
        ("QMMA.16832.F32.E4M3.E4M3", "matrix_fp8", 8192),
        ("IMMA.16864.S4.S4", "matrix_int4", 16384),
        ("HMMA.SP.16832.F32", "matrix_fp16", 8192),
    ],
)
def test_opcodes_name_their_tile(opcode: str, unit: str, operations: int) -> None:
    assert operations_per_warp(opcode) == (ComputeUnit(unit), operations)


@pytest.mark.parametrize(
    "opcode", ["HGMMA.64x128x16.F32", "HFMA2.MMA", "HMMA", "IMAD", "BMMA.88128"]
)
def test_other_opcodes_have_no_known_tile(opcode: str) -> None:
    assert operations_per_warp(opcode) is None


def by_opcode(counts: Mapping[str, int], **numbers: float) -> LaunchWork:
    name = "sass__inst_executed_per_opcode_with_modifier_selective"
    return launch_work(
        Launch(
            kind=ResultKind.KERNEL,
            name="k",
            number=0,
            numbers={TENSOR_PATH + key: value for key, value in numbers.items()},
            opcodes={name: counts},
        )
    )


def test_matrix_multiply_of_known_size() -> None:
    """An int8 product of two 384 × 384 matrices is 2·384³ operations."""
    found = by_opcode({"IMMA.16832.S8.S8": 13_824}).flop
    assert found[ComputeUnit.MATRIX_INT8] == 2 * 384**3


def test_packed_half_instructions_are_no_tensor_work() -> None:
    tensor = by_opcode({"HFMA2.MMA": 1000, "IMAD": 5}).tensor
    assert tensor.is_whole
    assert tensor.operations == {}


@pytest.mark.parametrize("opcode", ["HGMMA.64x128x16.F32", "UTCHMMA", "BMMA.88128.AND.POPC"])
def test_work_that_nobody_counted_is_unknown(opcode: str) -> None:
    assert not by_opcode({opcode: 10}).tensor.is_whole


def test_the_profilers_own_counter_comes_first_and_counts_once() -> None:
    def tensor(**numbers: float) -> TensorWork:
        metrics = {TENSOR_PATH + key.replace("__", "."): v for key, v in numbers.items()}
        launch = Launch(kind=ResultKind.KERNEL, name="k", number=0, numbers=metrics)
        return tensor_work(launch, 1e-3, 1e9)

    found = tensor(
        fp16__sum=100.0,
        fp16_dst_fp16__sum=40.0,
        fp16_dst_fp32__sum=60.0,
        fp16_sparsity_off__sum=90.0,
        fp16_sparsity_on__sum=10.0,
        fp16__sum__peak_sustained=8192.0,
        fp16_sparsity_off__sum__peak_sustained=4096.0,
        int8_sparsity_off__sum=5.0,
        int8_sparsity_on__sum=7.0,
        fp64__sum=3.0,
        fp64__sum__peak_sustained=256.0,
    )
    assert found.operations == {
        ComputeUnit.MATRIX_FP16: 100,
        ComputeUnit.MATRIX_INT8: 12,
        ComputeUnit.MATRIX_FP64: 3,
    }
    # The whole counter's peak is the sparse one, twice what dense work can reach.
    assert found.peak_flop_s == {ComputeUnit.MATRIX_FP16: 4096e9, ComputeUnit.MATRIX_FP64: 256e9}
    stored = tensor(
        fp8_sparsity_off__sum=1.0, fp8_sparsity_off__sum__peak_sustained_elapsed__per_second=7e14
    )
    assert stored.peak_flop_s == {ComputeUnit.MATRIX_FP8: 7e14}
    merged = tensor(fp16_bf16_tf32_dst_fp32__sum=50.0, bf16_dst_fp32__sum=20.0)
    assert merged.operations == {ComputeUnit.MATRIX_BF16: 20}
    assert tensor(fp16_bf16_tf32_dst_fp32__sum=50.0).operations == {ComputeUnit.MATRIX_FP16: 50}
    assert tensor(fp8__sum__per_second=2e6).operations == {ComputeUnit.MATRIX_FP8: 2000}


def test_zero_by_some_counters_does_not_hide_opcodes() -> None:
    found = by_opcode({"HMMA.16816": 2}, **{"fp64.sum": 0.0}).flop
    assert found[ComputeUnit.MATRIX_FP16] == 2 * 4096


def test_instructions_of_the_pipe_are_never_turned_into_operations(tmp_path: Path) -> None:
    pipe = {"sm__inst_executed_pipe_tensor.sum": 1000.0}
    profile = profile_of(tmp_path, Kernel(name="gemm", time_ns=1000, dram_bytes=64, extra=pipe))
    assert profile.ops.flop[0] == 0
    assert codes(profile)["tensor-work-unknown"] == 1


# ---------------------------------------------------------------------------------------- container


def test_results_of_ranges_graphs_and_lists(tmp_path: Path) -> None:
    strings = Strings()
    entries = [ncu.metric(4, strings, "gpu__time_duration.sum", 5e3 * k) for k in (1, 2, 3)]
    header = ncu.whole(7, 1) + ncu.whole(8, 1) + ncu.whole(9, 1)
    path = tmp_path / "ranges.ncu-rep"
    path.write_bytes(ncu.report((), others=[ncu.block(header, *entries, strings=strings)]))
    ops = imported(path).ops
    assert ops.category == ("range", "command list", "graph")
    assert ops.time_ps.tolist() == [5_000_000, 10_000_000, 15_000_000]


def test_another_format_version_is_named_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(CorruptProfileError) as raised:
        profile_of(tmp_path, *KERNELS, version=8)
    assert "version 8" in raised.value.message
    assert "--csv --page raw" in raised.value.remedy


def test_failed_kernels_are_left_out_and_named(tmp_path: Path) -> None:
    names = {name: math.nan for name in ncu.collected(KERNELS[0]) if not name.startswith("device")}
    failed = Kernel(name="too_big(int)", time_ns=1, grid=(0, 0, 0), extra=names)
    profile = profile_of(tmp_path, KERNELS[0], failed)
    assert profile.ops.name == (ncu.SGEMM,)
    found = next(d for d in profile.diagnostics if d.code == "failed-kernels")
    assert found.count == 1
    assert "too_big(int)" in found.message


def test_a_report_without_values_is_refused(tmp_path: Path) -> None:
    names = {name: math.nan for name in ncu.collected(KERNELS[0]) if not name.startswith("device")}
    with pytest.raises(IncompleteProfileError) as raised:
        profile_of(tmp_path, Kernel(name="k", time_ns=1, extra=names))
    assert "ncu --set roofline" in raised.value.remedy
    with pytest.raises(IncompleteProfileError):
        profile_of(tmp_path)


def test_several_gpus_and_models(tmp_path: Path) -> None:
    other: Mapping[str, float | str] = {
        "device__attribute_device_index": 1,
        "device__attribute_display_name": "NVIDIA A40",
    }
    kernels = [
        Kernel(name="k", time_ns=9000, dram_bytes=64),
        Kernel(name="k", time_ns=10, extra=other),
    ]
    profile = profile_of(tmp_path, *kernels)
    assert profile.device.core_count == 2
    assert profile.device.name == ncu.GPU["device__attribute_display_name"]
    assert codes(profile)["several-gpu-models"] == 1
    assert profile.launches is not None
    assert profile.launches.detail[1].endswith("GPU 1")


def test_several_reports_are_one_profile(tmp_path: Path) -> None:
    paths = [tmp_path / "a.ncu-rep", tmp_path / "b.csv"]
    paths[0].write_bytes(ncu.report(KERNELS[:1]))
    paths[1].write_text(ncu.raw_page(KERNELS[2:4]), "utf-8")
    profile = imported(*paths)
    assert profile.ops.occurrences.tolist() == [2, 1]
    assert [host.file_name for host in profile.hosts] == ["a.ncu-rep", "b.csv"]


def test_packed_report(tmp_path: Path) -> None:
    path = tmp_path / "report.ncu-repz"
    path.write_bytes(zstandard.ZstdCompressor().compress(ncu.report()))
    (opened,) = unpack([SourceFile(path)], into=tmp_path / "scratch", limits=UnpackLimits())
    assert opened.source.name == "report.ncu-rep"
    profile = import_profile([opened.source])
    assert (profile.ops.flop == imported(SAMPLES / "a100-kernels.ncu-rep").ops.flop).all()


def test_what_was_not_counted_is_unknown_and_not_zero(tmp_path: Path) -> None:
    """Tensor work without a count, bytes without FLOPs, FLOPs without bytes, only a time."""
    pipe = {"smsp__inst_executed_pipe_tensor.sum.per_cycle_elapsed": 1.0}
    everything = ncu.collected(KERNELS[0])
    flop = {name: math.nan for name in everything if "_op_f" in name or "_op_d" in name}
    moved = {name: math.nan for name in everything if "bytes" in name}
    made = {
        "tensor": pipe,
        "no FLOPs": flop,
        "no bytes": moved,
        "time": flop | moved,
        "all": {},
    }
    kernels = [
        Kernel(
            name=name,
            time_ns=1000,
            instructions={"ffma": 1000},
            dram_bytes=4096,
            l2_bytes=64,
            l1_bytes=64,
            extra=extra,
        )
        for name, extra in made.items()
    ]
    profile = profile_of(tmp_path, *kernels)
    found = analysis_on(profile, resolve(profile.device, catalogue=False))
    has_flop = np.isfinite(found.ops.measures.flop_rate_gflops)[: len(made)].tolist()
    has_bytes = np.isfinite(found.ops.measures.bandwidth_gibs[MemoryLevel.DRAM])[: len(made)]
    assert has_flop == [False, False, True, False, True]
    assert has_bytes.tolist() == [True, True, False, False, True]
    view = found.with_infeed
    assert (view.known.flop, view.known.bytes, view.known.both) == pytest.approx((0.4, 0.6, 0.2))
    assert view.program.flop_is_least[0]
    assert view.program.bytes_is_least[0]
    assert np.isnan(view.program.measures.operational_intensity[0])
    assert view.program.measures.bound[0] == UNKNOWN_BOUND


def test_the_analysis_takes_every_sample() -> None:
    for path in SAMPLES.iterdir():
        profile = imported(path)
        found = analysis_on(profile)
        assert np.isfinite(found.ops.measures.total_time_us).all()
