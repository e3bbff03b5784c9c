"""Kernels that ran in graphs and in compiled code: each by its own name, never in one row."""

from pathlib import Path

import pytest

from roofline.importers.pytorch.trace import Api, api_of
from tests.importers.kineto_profiles import codes, needs_shared, profile_of, row, shared_profile
from tests.tools.make_kineto_traces import BF16, KinetoTrace

US = 10**6  # ps
REGION = "Torch-Compiled Region: 0/1"
KERNELS = (("sm90_gemm_a", 5.0), ("layer_norm_kernel", 2.0), ("sm90_gemm_a", 5.0))


@pytest.mark.parametrize(
    ("name", "api"),
    [
        ("cudaLaunchKernel", Api.KERNEL),
        ("cudaLaunchKernelExC", Api.KERNEL),
        ("cudaLaunchCooperativeKernel", Api.KERNEL),
        ("cuLaunchKernelEx", Api.KERNEL),
        ("hipLaunchKernel", Api.KERNEL),
        ("hipExtModuleLaunchKernel", Api.KERNEL),
        ("hipModuleLaunchKernel", Api.KERNEL),
        ("cudaGraphLaunch", Api.GRAPH),
        ("cuGraphLaunch", Api.GRAPH),
        ("hipGraphLaunch", Api.GRAPH),
        ("cudaMemcpyAsync", Api.COPY),
        ("hipMemsetAsync", Api.FILL),
        ("hipStreamBeginCapture", Api.CAPTURE),
        ("cudaStreamEndCapture_v10000", Api.CAPTURED),
        ("cudaStreamSynchronize", Api.OTHER),
        ("hipGraphInstantiate", Api.OTHER),
    ],
)
def test_calls_of_the_runtime(name: str, api: Api) -> None:
    assert api_of(name) is api


@pytest.mark.parametrize("region", [REGION, "CompiledFunction", "## Call CompiledFxGraph abc ##"])
def test_kernels_of_a_compiled_region(region: str, tmp_path: Path) -> None:
    trace = KinetoTrace()
    trace.call(region, (), *KERNELS)
    profile = profile_of(tmp_path, trace)
    assert sorted(profile.ops.name) == ["layer_norm_kernel", "sm90_gemm_a"]
    k = row(profile, "sm90_gemm_a")
    assert profile.ops.occurrences[k] == 2
    assert profile.ops.time_ps[k] == 10 * US
    assert profile.ops.category[k] == "matmul"
    assert profile.ops.long_name[k] == f"in {region} ×2"
    assert not profile.ops.cost_known.any()
    assert codes(profile)["kernels-in-compiled-code"] == 3
    assert "kernels-without-operator" not in codes(profile)


def test_operators_inside_a_region_stay_rows(tmp_path: Path) -> None:
    """Inductor calls them, and newer versions name each of their own kernels."""
    trace = KinetoTrace()
    inputs = [((64, 32), BF16), ((32, 16), BF16)]
    trace.call("aten::mm", inputs, ("sm90_gemm", 5.0), outer=REGION)
    trace.call("triton_poi_fused_0", inputs, ("triton_poi_fused_0", 3.0), outer=REGION)
    profile = profile_of(tmp_path, trace)
    assert profile.ops.flop[row(profile, "aten::mm")] == 2 * 64 * 32 * 16
    assert row(profile, "triton_poi_fused_0 [64x32, 32x16]") >= 0
    assert "kernels-in-compiled-code" not in codes(profile)


@pytest.mark.parametrize("outer", ["", REGION, "mylib::decode"])
def test_kernels_of_a_graph(outer: str, tmp_path: Path) -> None:
    trace = KinetoTrace()
    if outer:
        begin = trace.host_us
        trace.graph(*KERNELS)
        trace.event("cpu_op", outer, begin - 1, 20, args={"External id": 1})
    else:
        trace.graph(*KERNELS)
    profile = profile_of(tmp_path, trace)
    assert sorted(profile.ops.name) == ["layer_norm_kernel", "sm90_gemm_a"]
    around = f" in {outer}" if outer else ""
    assert profile.ops.long_name[row(profile, "sm90")] == f"in graph (cudaGraphLaunch){around} ×2"
    assert codes(profile)["kernels-in-graphs"] == 3
    assert "kernels-without-operator" not in codes(profile)


def test_one_row_per_kernel_wherever_it_ran(tmp_path: Path) -> None:
    trace = KinetoTrace()
    trace.graph(*KERNELS)
    trace.call(REGION, (), *KERNELS)
    trace.launch("sm90_gemm_a", 5.0)
    profile = profile_of(tmp_path, trace)
    k = row(profile, "sm90_gemm_a")
    assert profile.ops.occurrences[k] == 5
    assert profile.ops.long_name[k] == f"in {REGION} ×2; in graph (cudaGraphLaunch) ×2"


def test_collectives_in_a_graph_stay_collectives(tmp_path: Path) -> None:
    trace = KinetoTrace()
    trace.graph(("ncclDevKernel_AllReduce_Sum_bf16", 9.0), *KERNELS)
    profile = profile_of(tmp_path, trace)
    assert profile.ops.category[row(profile, "nccl")] == "communication"
    assert codes(profile)["kernels-in-graphs"] == 4


@needs_shared
@pytest.mark.parametrize(
    ("name", "kernels"), [("mi300x_vllm_graph_decode", 421), ("mi300x_sglang_decode", 544)]
)
def test_graphs_of_served_models(name: str, kernels: int, tmp_path: Path) -> None:
    profile = shared_profile(name, tmp_path)
    assert codes(profile)["kernels-in-graphs"] == kernels
    attention = [
        k
        for k, category in enumerate(profile.ops.category)
        if category == "attention" and "graph (hipGraphLaunch)" in profile.ops.long_name[k]
    ]
    assert attention
    assert not profile.ops.cost_known[attention].any()
