"""PyTorch traces: attribution, steps, copies, several ranks, old spellings, and what is missing."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions
from roofline.analysis.subjects.options import options
from roofline.devices.resolve import resolve
from roofline.importers.registry import IMPORTERS, identify
from roofline.importers.source import SourceFile
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile, Provenance
from tests.importers.kineto_profiles import codes, needs_shared, profile_of, row, shared_profile
from tests.profiles import imported
from tests.tools.make_kineto_traces import (
    BACKWARD_THREAD,
    BF16,
    FP32,
    KinetoTrace,
    h100_training,
    mi300x_rank,
)

SAMPLES = Path(__file__).resolve().parents[2] / "sample_profiles" / "pytorch"
US = 10**6  # ps


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Profile]:
    """Reads a trace (text, bytes, events or a builder) as a profile."""
    return partial(profile_of, tmp_path)


def row_of_first(ops: np.ndarray, op: int) -> int:
    return int(np.flatnonzero(ops == op)[0])


def mm(trace: KinetoTrace, m: int = 64, **rest: Any) -> None:
    inputs = [((m, 32), BF16), ((32, 16), BF16)]
    trace.call("aten::mm", inputs, ("sm90_xmma_gemm_bf16bf16_bf16f32", 5.0), **rest)


# ----------------------------------------------------------------------------------------- samples


def test_samples_are_what_the_generator_writes() -> None:
    assert (SAMPLES / "h100-training.json").read_text() == h100_training()
    for rank in (0, 1):
        path = SAMPLES / "mi300x-two-ranks" / f"rank{rank}.json"
        assert path.read_text() == mi300x_rank(rank)


def test_training_sample() -> None:
    profile = imported(SAMPLES / "h100-training.json")
    k = row(profile, "aten::mm [8192x4096, 4096x12288] bf16")
    assert profile.ops.occurrences[k] == 2
    assert profile.ops.flop[k] == 2 * 2 * 8192 * 4096 * 12288
    assert profile.ops.unit_flop[ComputeUnit.MATRIX_BF16][k] == profile.ops.flop[k]
    expected = 2 * (8192 * 4096 + 4096 * 12288 + 8192 * 12288)
    assert profile.ops.traffic_bytes[MemoryLevel.HBM][k] == 2 * expected
    assert "nvjet" in profile.ops.long_name[k]
    assert profile.steps.label == ("10", "11")
    assert profile.steps.sums.flop[:, 0].sum() == profile.ops.flop.sum()
    assert profile.device.kind is DeviceKind.GPU
    assert profile.device.name == "NVIDIA H100 80GB HBM3"
    assert profile.device.traits.architecture == "sm_90"
    assert profile.flop_provenance is profile.bytes_provenance is Provenance.ESTIMATED
    assert any("lower bound" in sentence for sentence in profile.limits)
    launches = profile.launches
    assert launches is not None
    assert launches.time_ps[launches.op == k].sum() == profile.ops.self_time_ps[k]
    assert launches.detail[row_of_first(launches.op, k)].startswith("step 10, nvjet")
    assert profile.captured_at_ns == 1_790_000_000_001_003_000 + 2_000


def test_ranks_add_up() -> None:
    paths = [SAMPLES / "mi300x-two-ranks" / f"rank{rank}.json" for rank in (0, 1)]
    single = imported(paths[0])
    both = imported(*reversed(paths))
    assert both.device.core_count == 2
    assert both.device.traits.architecture == ""  # AMD's compute capability says nothing
    assert [host.hostname for host in both.hosts] == ["rank 0", "rank 1"]
    assert both.ops.flop.sum() == 2 * single.ops.flop.sum()
    assert both.ops.name == single.ops.name
    assert both.steps.label == ("5",)
    assert both.steps.time_ps[0] > 2 * single.steps.duration_ps[0]
    assert both.time_ps >= both.op_time_ps


# -------------------------------------------------------------------------------------- references


@needs_shared
def test_mi250(tmp_path: Path) -> None:
    profile = shared_profile("mi250_minitoy_train_ROCm6_2_kineto", tmp_path)
    k = row(profile, "aten::addmm [128, 5x128, 128x128] fp32")
    assert profile.ops.flop[k] == 163_840
    assert profile.ops.time_ps[k] == 24_480_000
    assert profile.ops.unit_flop[ComputeUnit.MATRIX_FP32][k] == 163_840
    assert profile.ops.traffic_bytes[MemoryLevel.DRAM][row(profile, "aten::mm")] == 70_656
    assert profile.ops.bytes_accessed[row(profile, "Memcpy")] == 2 * 2560
    # Backward runs on another thread, after the device's marker ends: launches decide.
    assert profile.steps.sums.time_ps[0, 0] == profile.ops.self_time_ps.sum()


@needs_shared
def test_sampled_rank(tmp_path: Path) -> None:
    profile = shared_profile("sampled_rank-0", tmp_path)
    k = row(profile, "aten::addmm [256, 2048x6948, 6948x256]")
    assert profile.ops.flop[k] // profile.ops.occurrences[k] == 7_285_506_048
    assert profile.steps.label == ("551", "552")
    assert codes(profile)["kernels-without-operator"] <= 0.02 * 1154
    communication = [k for k, c in enumerate(profile.ops.category) if c == "communication"]
    assert profile.ops.self_time_ps[communication].sum() > 390_000 * US
    assert not profile.ops.cost_known[communication].any()


@needs_shared
def test_a100_of_2023(tmp_path: Path) -> None:
    profile = shared_profile("simple_add_a100_2023_trace", tmp_path)
    kernels = [k for k, c in enumerate(profile.ops.category) if c != "copy"]
    assert all("::" in profile.ops.name[k] for k in kernels)  # every one has an operator
    assert set(codes(profile)) >= {"no-shapes", "no-steps", "whole-microseconds"}
    assert "kernels-without-operator" not in codes(profile)
    assert profile.device.name == "NVIDIA A100-PG509-200"


@needs_shared
def test_cpu_steps(tmp_path: Path) -> None:
    profile = shared_profile("cpu_steps_flops_torch213", tmp_path)
    attention = row(profile, "aten::_scaled_dot_product_flash_attention_for_cpu")
    products = np.isin(profile.ops.category, ["matmul", "convolution"])
    products[attention] = False
    counted = profile.ops.flop[products].sum()
    assert counted == 2 * 2_531_920  # FlopCounterMode of both steps, which skips that attention
    assert profile.steps.label == ("2", "3")
    assert profile.device.kind is DeviceKind.CPU
    assert "cpu-only" in codes(profile)
    assert profile.steps.time_ps.sum() == profile.time_ps


# ------------------------------------------------------------------------------------- attribution


def test_kernels_of_one_call_count_its_work_once(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    inputs = [((64, 32), FP32), ((32, 16), FP32)]
    trace.call("aten::mm", inputs, ("ampere_sgemm_splitk", 4.0), ("splitKreduce_kernel", 1.0))
    profile = read(trace)
    assert profile.ops.name == ("aten::mm [64x32, 32x16] fp32",)
    assert profile.ops.flop[0] == 2 * 64 * 32 * 16
    assert profile.ops.occurrences[0] == 1
    assert profile.ops.time_ps[0] == 5 * US
    assert profile.ops.unit_flop[ComputeUnit.VECTOR_FP32][0] == profile.ops.flop[0]
    assert "ampere_sgemm_splitk ×1; splitKreduce_kernel ×1" in profile.ops.long_name[0]


def test_external_id_of_old_traces_is_no_operator(read: Callable[..., Profile]) -> None:
    """It repeats the correlation, and may by accident be another operator's id."""
    trace = KinetoTrace()
    mm(trace)
    trace.call("aten::relu", [((8,), FP32)])
    trace.events[-1]["args"]["External id"] = trace.events[2]["args"]["correlation"]
    assert read(trace).ops.name == ("aten::mm [64x32, 32x16] bf16",)


def test_external_id_helps_where_the_launch_is_missing(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    mm(trace)
    operator, launch, kernel = trace.events
    kernel["args"]["External id"] = operator["args"]["External id"]
    trace.events.remove(launch)
    assert read(trace).ops.name == ("aten::mm [64x32, 32x16] bf16",)


def test_on_the_cpu_work_counts_once_and_time_is_own(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace(device=None)
    inputs = [((64, 32), FP32), ((32, 16), FP32)]
    trace.call("aten::mm", inputs, outer="aten::matmul")
    trace.call("aten::result_type", [((8, 8), FP32)], outer="aten::mean")
    profile = read(trace)
    product, outer = row(profile, "aten::mm"), row(profile, "aten::matmul")
    assert profile.ops.flop.tolist().count(2 * 64 * 32 * 16) == 1
    assert profile.ops.flop[product] == 2 * 64 * 32 * 16
    assert profile.ops.unit_flop[ComputeUnit.VECTOR_FP32][product] == profile.ops.flop[product]
    assert profile.ops.bytes_accessed[outer] == 0
    assert profile.ops.time_ps[outer] == 5 * US
    assert profile.ops.self_time_ps[outer] == 2 * US
    assert profile.ops.bytes_accessed[row(profile, "aten::mean")] == 256
    assert profile.op_time_ps == 10 * US


HEADS = [((2, 4, 64, 32), BF16)] * 3


def test_work_of_an_outer_operator_is_that_of_the_kernels_inside(
    read: Callable[..., Profile],
) -> None:
    """The inner operator of some libraries has no formula; the outer one knows its shapes."""
    trace = KinetoTrace()
    name = "aten::_scaled_dot_product_flash_attention"
    trace.call("vendor::attention", HEADS, ("fmha_kernel", 5.0), ("reduce_kernel", 1.0), outer=name)
    profile = read(trace)
    assert profile.ops.name == (f"{name} [2x4x64x32, 2x4x64x32, 2x4x64x32] bf16",)
    assert profile.ops.flop[0] == 4_194_304
    assert profile.ops.time_ps[0] == 6 * US


def test_a_copy_alone_is_not_the_product_around_it(read: Callable[..., Profile]) -> None:
    """The product's own kernel may have been dropped from the trace."""
    trace = KinetoTrace()
    inputs = [((16,), FP32), ((64, 32), FP32), ((32, 16), FP32)]
    trace.call("aten::copy_", inputs[:1] * 2, ("elementwise_copy", 1.0), outer="aten::expand")
    trace.call("aten::copy_", inputs, ("elementwise_copy_kernel", 1.0), outer="aten::addmm")
    profile = read(trace)
    assert profile.ops.flop.sum() == 0
    assert all(name.startswith("aten::copy_") for name in profile.ops.name)


def test_kernels_without_launch_are_listed_by_name(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    mm(trace)
    trace.launch("graph_gemm_kernel", 7.0, traced=False)
    profile = read(trace)
    k = row(profile, "graph_gemm_kernel")
    assert not profile.ops.cost_known[k]
    assert profile.ops.category[k] == "matmul"
    assert "kernels-without-operator" in codes(profile)


def test_launches_on_another_thread_belong_to_its_operators(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    begin = trace.host_us
    mm(trace, thread=BACKWARD_THREAD)
    end = trace.host_us
    trace.event("cpu_op", "aten::waiting", begin, end - begin, args={"External id": 9})
    assert read(trace).ops.name == ("aten::mm [64x32, 32x16] bf16",)


def test_work_counts_in_the_step_that_launched_it(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    for number in (3, 4):
        begin = trace.host_us
        mm(trace)
        trace.launch("slow_kernel", 500.0, traced=True)
        trace.step(number, begin)
    mm(trace, 128)
    profile = read(trace)
    assert profile.steps.label == ("3", "4")
    assert profile.steps.sums.flop[:, 0].tolist() == [2 * 64 * 32 * 16] * 2
    assert profile.steps.sums.time_ps[:, 0].tolist() == [505 * US] * 2
    assert codes(profile)["work-outside-steps"] == 1


def test_steps_whose_work_runs_side_by_side_add_up_to_the_program(
    read: Callable[..., Profile],
) -> None:
    """A copy of the first step runs beside the second: its time is the second's, not both's."""
    trace = KinetoTrace()
    for number in (1, 2):
        begin = trace.host_us
        trace.launch("step_kernel", 100.0, stream=7)
        trace.launch("long_copy_kernel", 140.0, stream=20)
        trace.step(number, begin)
    profile = read(trace)
    assert profile.steps.time_ps.sum() == profile.time_ps
    assert profile.steps.time_ps[0] < 140 * US


def test_a_step_that_launched_nothing_is_not_one(read: Callable[..., Profile]) -> None:
    """The rest after the last step, which the profiler marks as one, would halve the mean."""
    trace = KinetoTrace()
    begin = trace.host_us
    mm(trace)
    trace.step(1, begin)
    begin = trace.host_us
    trace.call("aten::zeros", [])
    trace.step(2, begin)
    profile = read(trace)
    assert profile.steps.label == ("1",)


def test_a_step_that_copied_alone_is_not_one(read: Callable[..., Profile]) -> None:
    """The timeline lasts from work to work: it had one step less than the table, and no answer."""
    trace = KinetoTrace()
    for number in (1, 2, 3):
        begin = trace.host_us
        if number == 2:
            trace.launch("Memcpy HtoD (Pinned -> Device)", 2.0, cat="gpu_memcpy")
        else:
            mm(trace)
        trace.step(number, begin)
    profile = read(trace)
    assert profile.steps.label == ("1", "3")
    assert profile.timeline is not None and profile.timeline.steps == 2
    found = options(analyse(profile, resolve(profile.device), AnalysisOptions()))
    assert [one.label for one in found if one.of.startswith("step:")] == ["Step 1", "Step 3"]


def test_markers_of_host_and_device_are_one_step(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    begin = trace.host_us
    mm(trace)
    trace.step(1, begin)
    trace.event("gpu_user_annotation", "ProfilerStep#1", begin + 50, 3, pid=0, tid=7)
    profile = read(trace)
    assert profile.steps.label == ("1",)
    assert profile.steps.duration_ps[0] < 50 * US


def test_overlapping_streams_count_time_once(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    trace.launch("first", 100.0, stream=7)
    trace.launch("second", 100.0, stream=20)
    profile = read(trace)
    assert profile.ops.self_time_ps.sum() == 200 * US
    assert profile.op_time_ps == profile.time_ps == 102 * US
    assert "overlapping-streams" in codes(profile)


def test_copies_have_exact_bytes(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    trace.launch("Memcpy DtoD (Device -> Device)", 2.0, cat="gpu_memcpy", bytes=1000)
    trace.launch("Memset (Device)", 2.0, cat="gpu_memset", bytes=500)
    profile = read(trace)
    assert dict(zip(profile.ops.name, profile.ops.bytes_accessed.tolist(), strict=True)) == {
        "Memcpy DtoD (Device -> Device)": 2000,
        "Memset (Device)": 500,
    }
    assert profile.ops.cost_known.all()
    assert "no-kernels" in codes(profile)


def test_inductor_states_flop_and_bytes(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    trace.call(
        "triton_poi_fused_0",
        [((64, 64), FP32)],
        ("triton_poi_fused_0", 3.0),
        kernel_flop=123456,
        kernel_num_gb=0.002,
        kernel_backend="triton",
    )
    profile = read(trace)
    assert profile.ops.flop[0] == 123_456
    assert profile.ops.bytes_accessed[0] == 2_000_000


def test_several_devices_in_one_file(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    mm(trace)
    trace.launch("other", 3.0, device=1)
    trace.events[-1]["args"]["device"] = 1
    assert read(trace).device.core_count == 2


# --------------------------------------------------------------------------------- other spellings


def as_2021(trace: KinetoTrace) -> list[dict[str, Any]]:
    """Categories and keys as torch 1.8 to 1.12 spelled them, as a bare list."""
    cats = {"cpu_op": "Operator", "kernel": "Kernel", "cuda_runtime": "Runtime"}
    keys = {"External id": "external id", "Input Dims": "Input dims"}
    events = []
    for event in trace.events:
        args = {keys.get(k, k): v for k, v in event["args"].items()}
        events.append({**event, "cat": cats.get(event["cat"], "Operator"), "args": args})
    return events


def test_old_spellings(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    begin = trace.host_us
    mm(trace)
    trace.step(0, begin)
    old, new = read(as_2021(trace)), read(trace)
    assert old.ops.name == new.ops.name
    assert old.ops.flop.tolist() == new.ops.flop.tolist()
    assert old.steps.label == ("0",)
    assert old.device.name == ""
    assert "gpu-unnamed" in codes(old)


def test_texts_as_ids_and_exponents_as_times(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    mm(trace)
    for event in trace.events:
        event["pid"], event["tid"] = f"host {event['pid']}", f"thread {event['tid']}"
    text = trace.as_json().replace('"dur": 5.0', '"dur": 0.5e+1')
    profile = read(text)
    assert profile.ops.name == ("aten::mm [64x32, 32x16] bf16",)
    assert profile.ops.time_ps[0] == 5 * US


def test_digits_in_quotes_are_ids(read: Callable[..., Profile]) -> None:
    """Traces of 2021 quote thread ids, of some events only."""
    trace = KinetoTrace()
    mm(trace)
    trace.events[0]["tid"] = str(trace.events[0]["tid"])
    assert read(trace).ops.name == ("aten::mm [64x32, 32x16] bf16",)


def test_header_behind_the_events(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    mm(trace)
    text = json.dumps({"traceEvents": trace.events, **trace.header}, indent=2)
    assert read(text).device.name == "NVIDIA H100 80GB HBM3"


def test_damaged_events_are_skipped(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    mm(trace)
    mm(trace, 128)
    lines = trace.as_json().split("\n")
    lines[2] = '{"ph": "X", "cat": "cpu_op", "name": "an "unescaped" quote", "ts": 5, "dur": 1},'
    profile = read("\n".join(lines))
    assert profile.ops.name[-1] == "aten::mm [128x32, 32x16] bf16"
    assert "damaged-events" in codes(profile)


# --------------------------------------------------------------------------------- what is missing


def test_no_events(read: Callable[..., Profile]) -> None:
    profile = read('{"schemaVersion": 1, "deviceProperties": [], "traceEvents": []}')
    assert len(profile.ops) == 0
    assert "no-work" in codes(profile)


def test_without_shapes(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace(shapes=False)
    mm(trace)
    profile = read(trace)
    assert profile.ops.name == ("aten::mm",)
    assert not profile.ops.cost_known.any()
    assert "no-shapes" in codes(profile)


def test_convolution_without_its_arguments(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    inputs = [((2, 3, 8, 8), FP32), ((4, 3, 3, 3), FP32)]
    trace.call("aten::cudnn_convolution", inputs, ("implicit_convolve_sgemm", 3.0))
    profile = read(trace)
    assert profile.ops.flop[0] == 0
    assert "flop-not-counted" in codes(profile)


def test_cut_in_the_middle(read: Callable[..., Profile]) -> None:
    text = h100_training()
    profile = read(text[: len(text) // 2])
    assert len(profile.ops)
    assert "truncated" in codes(profile)
    assert profile.device.name == "NVIDIA H100 80GB HBM3"


def test_counter_ranges_have_no_time(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    mm(trace)
    metric = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
    trace.event("cuda_profiler_range", "range", 1000.0, 121_431.0, args={metric: 50})
    profile = read(trace)
    assert "counters-without-time" in codes(profile)
    assert any("100 FLOPs" in found.message for found in profile.diagnostics)
    assert profile.time_ps == 5 * US


def test_times_weeks_away_are_dropped(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    for _ in range(5):
        mm(trace)
    trace.events[2]["ts"] = 8e15
    profile = read(trace)
    assert profile.time_ps < 10**12
    assert "damaged-events" in codes(profile)


def test_hostile_names(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    trace.launch("<script>alert(1)</script>\x00\ud800", 3.0)
    trace.launch('quote " backslash \\ tab \t', 3.0)
    profile = read(trace)
    names = sorted(profile.ops.name)
    assert names[0].startswith("<script>")
    assert names[1].startswith('quote " backslash \\ tab')
    for name in profile.ops.name:
        name.encode()
        assert name.isprintable()


@pytest.mark.parametrize("depth", [10_000, 2_000_000])
def test_deep_nesting_costs_nothing(read: Callable[..., Profile], depth: int) -> None:
    trace = KinetoTrace()
    mm(trace)
    events = trace.as_json().replace(
        '"External id"', f'"deep": {"[" * depth}{"]" * depth}, "External id"', 1
    )
    assert read(events).ops.flop[0] == 2 * 64 * 32 * 16


def test_huge_shapes_are_refused_or_unknown(read: Callable[..., Profile]) -> None:
    trace = KinetoTrace()
    big = 2**47
    trace.call("aten::mm", [((big, big), BF16), ((big, big), BF16)], ("gemm", 3.0))
    assert read(trace).ops.flop[0] == 0


def test_many_shapes_share_rows_and_lose_no_work(
    read: Callable[..., Profile], monkeypatch: pytest.MonkeyPatch
) -> None:
    from roofline.importers.pytorch import rows

    monkeypatch.setattr(rows, "MAX_LABELS", 3)
    trace = KinetoTrace()
    for m in range(1, 9):
        mm(trace, m)
    profile = read(trace)
    assert len(profile.ops) == 4
    assert profile.ops.flop.sum() == sum(2 * m * 32 * 16 for m in range(1, 9))
    assert "many-shapes" in codes(profile)


# ------------------------------------------------------------------------------------- recognition


@pytest.mark.parametrize(
    "text",
    [
        '{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[{"ph":"M"}]}',
        '[{"ph": "X", "name": "main", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]',
        '{"traceEvents": []}',
        '{"schemaVersion": 1}',
        "[1, 2, 3]",
    ],
)
def test_other_traces_are_not_ours(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    assert "pytorch" not in [one.FORMAT_ID for one in IMPORTERS if one.recognises(SourceFile(path))]


def test_byte_order_mark(read: Callable[..., Profile], tmp_path: Path) -> None:
    trace = KinetoTrace()
    mm(trace)
    profile = read(b"\xef\xbb\xbf" + trace.as_json().encode())
    assert identify(SourceFile(tmp_path / "rank0.json")).FORMAT_ID == "pytorch"
    assert np.all(profile.ops.flop == 2 * 64 * 32 * 16)


def _kernel_on(device: int, at: float) -> dict[str, Any]:
    where = {"pid": device, "tid": 7, "args": {"device": device, "stream": 7}}
    return {"ph": "X", "cat": "kernel", "name": "k", "ts": at, "dur": 5.0, **where}


def _listed(number: int, name: str, processors: int) -> dict[str, Any]:
    return {"id": number, "name": name, "numSms": processors, "totalGlobalMem": 2**36}


@pytest.mark.parametrize(
    ("devices", "name"),
    [([1], "NVIDIA H100 80GB HBM3"), ([0, 1], "NVIDIA T400 and NVIDIA H100 80GB HBM3")],
)
def test_the_device_is_that_of_the_kernels(devices: list[int], name: str, tmp_path: Path) -> None:
    """A small GPU that draws the screen is device 0; two kinds of GPUs have no peaks in common."""
    listed = [_listed(0, "NVIDIA T400", 6), _listed(1, "NVIDIA H100 80GB HBM3", 132)]
    events = [_kernel_on(device, 10.0 * k) for k, device in enumerate(devices)]
    device = profile_of(tmp_path, {"deviceProperties": listed, "traceEvents": events}).device
    assert (device.name, resolve(device).part_id) == (name, "h100-sxm" if devices == [1] else None)


def test_the_devices_of_a_trace_of_2021(tmp_path: Path) -> None:
    """PyTorch 1.9 lists them under another key, with CUDA's own names."""
    listed = [{"id": 0, "name": "Tesla V100-DGXS-32GB", "multiProcessorCount": 80, "major": 7}]
    events = [_kernel_on(0, 10.0)]
    trace = {"schemaVersion": 1, "computeProperties": listed, "traceEvents": events}
    device = profile_of(tmp_path, trace).device
    assert (device.traits.processor_count, resolve(device).part_id) == (80, "v100-sxm2")


def test_a_partition_of_a_gpu_has_not_the_peaks_of_all_of_it(tmp_path: Path) -> None:
    listed = [_listed(0, "NVIDIA A100-SXM4-40GB", 14)]  # MIG: 1 of 7
    trace = {"deviceProperties": listed, "traceEvents": [_kernel_on(0, 10.0)]}
    assert not resolve(profile_of(tmp_path, trace).device).compute
