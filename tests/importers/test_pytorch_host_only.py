"""Traces with launches but without kernels: times only, because launching is not computing."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from roofline.analysis.knowledge import coverage
from roofline.analysis.subjects.budget import budget_of
from roofline.analysis.subjects.choose import choose
from roofline.model.device import DeviceKind
from roofline.model.profile import Profile, Severity
from tests.builders import analysis_on
from tests.importers.kineto_profiles import (
    SHARED,
    codes,
    minimal_profile,
    needs_shared,
    profile_of,
    row,
    shared_profile,
)
from tests.tools.make_kineto_traces import FP32, H100, KinetoTrace

CODE = "launches-without-kernels"


def has_times_only(profile: Profile) -> bool:
    ops = profile.ops
    unknown = not (ops.cost_known.any() or ops.flop_known.any() or ops.bytes_known.any())
    work = int(ops.flop.sum()) + int(ops.bytes_accessed.sum())
    return unknown and work == 0 and int(ops.self_time_ps.sum()) > 0


def product(trace: KinetoTrace) -> None:
    trace.call("aten::mm", [((4, 4), FP32), ((4, 4), FP32)])


def launched(call: str, device: Mapping[str, Any] | None = None) -> KinetoTrace:
    trace = KinetoTrace(device=device)
    product(trace)
    trace.event("cuda_runtime", call, 1001.0, 1.0, args={"correlation": 11})
    return trace


def listed(memory_of: int | None = None) -> KinetoTrace:
    """A run on the CPU of a machine with a GPU; `memory_of` is the device of an allocation."""
    trace = KinetoTrace(device=H100)
    product(trace)
    if memory_of is not None:
        args = {"Device Type": int(memory_of >= 0), "Device Id": memory_of, "Bytes": 512}
        trace.event("cpu_instant_event", "[memory]", 1001.0, 0.0, args=args)
    return trace


def another_accelerator() -> KinetoTrace:
    trace = KinetoTrace(device=None)
    product(trace)
    trace.event("mtia_ccp_events", "matmul_on_mtia", 1000.0, 5.0)
    return trace


def by_operator(name: str) -> KinetoTrace:
    trace = KinetoTrace(device=None)
    product(trace)
    trace.call(name, [((4, 4), FP32)])
    return trace


def by_backend() -> KinetoTrace:
    trace = KinetoTrace(device=None)
    product(trace)
    trace.header["distributedInfo"] = {"backend": "cpu:gloo,cuda:nccl", "rank": 0}
    return trace


@pytest.mark.parametrize(
    "trace",
    [
        launched("cudaLaunchKernel"),
        launched("hipLaunchKernel"),
        launched("cudaGraphLaunch"),
        listed(memory_of=0),
        another_accelerator(),
        by_operator("aten::record_stream"),
        by_operator("aten::cudnn_convolution"),
        by_backend(),
    ],
    ids=["launch", "hip", "graph", "memory", "mtia", "stream", "cudnn", "nccl"],
)
def test_signs_of_an_accelerator(trace: KinetoTrace, tmp_path: Path) -> None:
    profile = profile_of(tmp_path, trace)
    found = next(one for one in profile.diagnostics if one.code == CODE)
    assert found.severity is Severity.WARNING
    assert "ProfilerActivity.CUDA" in found.remedy
    assert profile.is_host_only
    assert has_times_only(profile)
    assert profile.device.kind is DeviceKind.UNKNOWN
    assert not {"cpu-only", "no-shapes", "attention-mask-unknown"} & set(codes(profile))
    assert profile.op_time_ps == profile.time_ps  # whether the accelerator was idle is unknown


def test_a_cpu_alone_keeps_its_rates(tmp_path: Path) -> None:
    trace = KinetoTrace(device=None)
    product(trace)
    trace.header["distributedInfo"] = {"backend": "gloo", "rank": 0}
    profile = profile_of(tmp_path, trace)
    assert CODE not in codes(profile)
    assert profile.device.kind is DeviceKind.CPU
    assert profile.ops.flop.sum() == 2 * 4 * 4 * 4


@pytest.mark.parametrize("trace", [listed(), listed(memory_of=-1)], ids=["none", "of the host"])
def test_a_gpu_that_is_only_listed_computed_nothing(trace: KinetoTrace, tmp_path: Path) -> None:
    profile = profile_of(tmp_path, trace)
    assert not profile.is_host_only
    assert profile.device.kind is DeviceKind.CPU
    assert profile.ops.flop.sum() == 2 * 4 * 4 * 4
    note = next(one for one in profile.diagnostics if one.code == "cpu-only")
    assert "The machine has NVIDIA H100 80GB HBM3, but the trace has no call" in note.message


def test_a_question_that_recurrent_layers_ask_on_a_cpu_is_no_sign(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, by_operator("aten::cudnn_is_acceptable"))
    assert profile.device.kind is DeviceKind.CPU
    assert CODE not in codes(profile)
    assert profile.ops.flop[row(profile, "aten::mm")] == 2 * 4 * 4 * 4


def test_processes_on_cpus_are_cores_of_their_own(tmp_path: Path) -> None:
    """Times per core of two ranks are those of one, not their sum."""
    one = profile_of(tmp_path, by_operator("aten::relu"))
    two = profile_of(tmp_path, by_operator("aten::relu"), by_operator("aten::relu"))
    assert (one.device.core_count, two.device.core_count) == (1, 2)
    assert two.time_ps == 2 * one.time_ps


def test_the_time_to_launch_has_no_budget_and_lacks_no_peak(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, launched("cudaLaunchKernel", H100))
    analysis = analysis_on(profile)
    assert budget_of(analysis, choose(analysis)) is None
    assert "no-peaks" not in {note.code for note in analysis.diagnostics}


def test_one_host_of_an_accelerator_makes_all_of_them_hosts(tmp_path: Path) -> None:
    cpu = KinetoTrace(device=None)
    product(cpu)
    assert has_times_only(profile_of(tmp_path, cpu, launched("cudaLaunchKernel")))


def test_the_smallest_trace_of_launches() -> None:
    profile = minimal_profile("cpu_only_gpu")
    assert has_times_only(profile)
    assert profile.device.name == "Host of NVIDIA A100 80GB PCIe"
    assert CODE in codes(profile)


@needs_shared
@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("a100_launches_without_kernels", "Host of an accelerator"),
        ("mtia_inference", "Host of ARTEMIS"),
    ],
)
def test_real_traces_of_launches(name: str, device: str, tmp_path: Path) -> None:
    profile = shared_profile(name, tmp_path)
    assert has_times_only(profile)
    assert profile.device.name == device
    assert CODE in codes(profile)
    assert profile.ops.time_ps[row(profile, "aten::copy_")] > 0


@needs_shared
def test_the_host_alone_is_told_for_those_files_that_the_design_names(tmp_path: Path) -> None:
    sentences = SHARED.parents[1] / "design" / "next" / "nearest-ceiling" / "first_sentence.csv"
    rows = csv.DictReader(sentences.read_text("utf-8").splitlines())
    traces = {row["file"]: row["class"] for row in rows if "pytorch/" in row["file"]}
    single = {file: kind for file, kind in traces.items() if " + " not in file}
    names = {file: Path(file).name.removesuffix(".json.gz") for file in single}
    found = {file for file, name in names.items() if shared_profile(name, tmp_path).is_host_only}
    assert len(single) > 10
    assert found == {file for file, kind in single.items() if kind == "host_only"}


@needs_shared
@pytest.mark.parametrize(
    ("name", "launches", "missing"),
    [("mi300x_sglang_capture", 546, 544), ("mi300x_vllm_graph_capture", 428, 421)],
)
def test_launches_into_a_graph_run_nothing(
    name: str, launches: int, missing: int, tmp_path: Path
) -> None:
    profile = shared_profile(name, tmp_path)
    found = next(one for one in profile.diagnostics if one.code == "launches-not-run")
    assert found.count == missing
    assert f"of {launches} launches" in found.message
    share = coverage(profile)
    assert share is not None and share < 0.05
    assert profile.kernels_timed == (launches - missing, launches)


@needs_shared
@pytest.mark.parametrize("name", ["mi300x_sglang_decode", "b200_vllm_eager", "mtia_inference"])
def test_kernels_of_graphs_count_as_launched(name: str, tmp_path: Path) -> None:
    share = coverage(shared_profile(name, tmp_path))
    assert share is None if name == "mtia_inference" else share == 1.0
