"""Traces of captures beside traces of replays: kernels of graphs get operators and shapes."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from tests.importers.kineto_profiles import (
    codes,
    needs_shared,
    profile_of,
    row,
    shared_profiles,
)
from tests.tools.make_kineto_traces import BF16, FP32, MI300X, KinetoTrace

NORM, GEMM, ACT = "norm_kernel", "Cijk_gemm", "act_kernel"
LAYER = ((NORM, 2.0), (GEMM, 10.0), (ACT, 3.0))


def layer(trace: KinetoTrace, tokens: int, *, named: bool = True) -> None:
    """One layer recorded: a norm, a product of [tokens, 64] and [64, 32], an activation."""
    wide = [((tokens, 64), BF16)]
    trace.recorded(NORM, name="mylib::norm", inputs=wide, named=named)
    product = [*wide, ((64, 32), BF16)]
    trace.recorded(GEMM, name="aten::mm", inputs=product, named=named)
    trace.recorded(ACT, name="aten::relu", inputs=[((tokens, 32), BF16)], named=named)


def capture(tokens: int, layers: int = 2, *, label: str = "FULL", **rest: Any) -> KinetoTrace:
    """A trace of the capture of one graph for a batch of `tokens`, with a warm-up before it."""
    trace = KinetoTrace(device=MI300X, is_hip=True)
    begin = trace.host_us
    trace.recorded("fill_kernel", name="aten::fill_", inputs=[((1,), FP32)])
    trace.runtime("hipStreamBeginCapture")
    for _ in range(layers):
        layer(trace, tokens, **rest)
    trace.runtime("hipStreamEndCapture")
    trace.annotate(f"capture_{tokens}_{label}", begin)
    return trace


def replay(*graphs: tuple[tuple[str, float], ...], annotation: str = "") -> KinetoTrace:
    trace = KinetoTrace(device=MI300X, is_hip=True)
    begin = trace.host_us
    for kernels in graphs:
        trace.graph(*kernels, call="hipGraphLaunch")
    if annotation:
        trace.annotate(annotation, begin)
    return trace


def decode(tokens: int) -> str:
    sums = f"sq{tokens}sk64sqsq{tokens}sqsk64"
    return f"execute_{tokens}_context_0(sq0sk0sqsq0sqsk0)_generation_{tokens}({sums})"


def test_kernels_get_the_operators_of_their_launches(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, replay(LAYER * 2), capture(8))
    k = row(profile, "aten::mm [8x64, 64x32]")
    assert profile.ops.occurrences[k] == 2
    assert profile.ops.time_ps[k] == 20 * 10**6
    assert profile.ops.flop[k] == 2 * 2 * 8 * 64 * 32
    graphs = profile.graphs
    assert graphs is not None
    assert (graphs.replays, graphs.kernels, graphs.aligned) == (1, 6, 6)
    assert graphs.aligned_ps == graphs.time_ps == 30 * 10**6
    assert [(one.label, one.kernels) for one in graphs.captures] == [("capture_8_FULL", 6)]
    assert codes(profile)["graphs-aligned"] == 6
    assert "kernels-in-graphs" not in codes(profile)


def test_the_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    traces = [replay(LAYER * 2, annotation=decode(8)), capture(8), capture(16)]
    found = set()
    for k, order in enumerate(itertools.permutations(traces)):
        folder = tmp_path / str(k)
        folder.mkdir()
        found.add(tuple(profile_of(folder, *order).ops.name))
    assert len(found) == 1


@pytest.mark.parametrize(("tokens", "size"), [(8, 8), (5, 8), (9, 16), (16, 16)])
def test_the_smallest_batch_that_holds_the_step_counts(
    tokens: int, size: int, tmp_path: Path
) -> None:
    trace = replay(LAYER * 2, annotation=decode(tokens))
    profile = profile_of(tmp_path, trace, capture(16), capture(8), capture(4))
    assert row(profile, f"aten::mm [{size}x64") >= 0
    assert codes(profile).get("graph-batch-larger", 0) == (6 if size > tokens else 0)


def test_a_capture_of_a_smaller_batch_explains_nothing(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, replay(LAYER * 2, annotation=decode(32)), capture(8))
    assert profile.graphs is not None
    assert profile.graphs.aligned == 0
    assert sorted(set(profile.ops.name)) == [GEMM, ACT, NORM]


def test_without_the_batch_of_a_step_only_one_capture_may_fit(tmp_path: Path) -> None:
    """Captures of 8 and of 16 tokens run the same kernels: either could be the one."""
    profile = profile_of(tmp_path, replay(LAYER * 2, LAYER * 2), capture(8), capture(16))
    assert profile.graphs is not None
    assert profile.graphs.aligned == 0
    assert codes(profile)["graph-batch-unknown"] == 12
    (tmp_path / "b").mkdir()
    profile = profile_of(tmp_path / "b", replay(LAYER * 2), capture(8), capture(16, layers=1))
    assert profile.graphs is not None
    assert [one.label for one in profile.graphs.captures] == ["capture_8_FULL"]


def test_the_batch_of_a_capture_without_annotation_follows_from_its_products(
    tmp_path: Path,
) -> None:
    traces = [capture(8), capture(16)]
    for trace in traces:
        trace.events = [one for one in trace.events if one["cat"] != "user_annotation"]
    profile = profile_of(tmp_path, replay(LAYER * 2, annotation=decode(16)), *traces)
    assert row(profile, "aten::mm [16x64") >= 0
    assert profile.graphs is not None
    assert profile.graphs.aligned == 6


def test_a_capture_with_more_launches_and_a_replay_with_more_kernels(tmp_path: Path) -> None:
    extra = (("inserted_kernel", 4.0),)
    profile = profile_of(tmp_path, replay(LAYER + extra + LAYER), capture(8, layers=3))
    assert profile.graphs is not None
    assert (profile.graphs.kernels, profile.graphs.aligned) == (7, 6)
    assert [(one.name, one.count) for one in profile.graphs.left] == [("inserted_kernel", 1)]
    note = next(one for one in profile.diagnostics if one.code == "kernels-in-graphs")
    assert "inserted_kernel ×1 (4 us)" in note.message
    assert profile.ops.flop[row(profile, "aten::mm")] == 2 * 2 * 8 * 64 * 32


def test_pieces_of_a_graph_and_kernels_between_them(tmp_path: Path) -> None:
    pieces = KinetoTrace(device=MI300X, is_hip=True)
    begin = pieces.host_us
    for _ in range(3):
        pieces.runtime("hipStreamBeginCapture")
        layer(pieces, 8)
        pieces.runtime("hipStreamEndCapture")
    pieces.annotate("capture_8_PIECEWISE", begin)
    trace = KinetoTrace(device=MI300X, is_hip=True)
    begin = trace.host_us
    for _ in range(3):
        trace.graph(*LAYER, call="hipGraphLaunch")
        trace.call("mylib::attention", [((8, 4), BF16)], ("attention_kernel", 6.0))
    trace.annotate(decode(8), begin)
    profile = profile_of(tmp_path, trace, pieces)
    assert profile.graphs is not None
    assert (profile.graphs.replays, profile.graphs.aligned) == (3, 9)
    assert profile.ops.occurrences[row(profile, "mylib::attention")] == 3
    assert profile.ops.occurrences[row(profile, "aten::mm")] == 3


def test_one_graph_replayed_again_and_again(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, replay(*[LAYER * 2] * 4), capture(8))
    assert profile.graphs is not None
    assert (profile.graphs.replays, profile.graphs.aligned) == (4, 24)
    assert profile.ops.occurrences[row(profile, "aten::mm")] == 8


def test_several_graphs_in_one_upload(tmp_path: Path) -> None:
    other = (("other_kernel", 1.0), ("another_kernel", 1.0))
    captured = KinetoTrace(device=MI300X, is_hip=True)
    captured.runtime("hipStreamBeginCapture")
    captured.recorded("other_kernel", "another_kernel", name="mylib::other", inputs=[((4,), BF16)])
    captured.runtime("hipStreamEndCapture")
    profile = profile_of(tmp_path, replay(LAYER, other), capture(8, layers=1), captured)
    assert profile.graphs is not None
    assert profile.graphs.aligned == 5
    assert len(profile.graphs.captures) == 2
    assert row(profile, "mylib::other [4]") >= 0


def test_a_graph_recorded_and_replayed_in_one_trace(tmp_path: Path) -> None:
    """Plain PyTorch: the profiler runs while `torch.cuda.graph` records."""
    trace = KinetoTrace(device=MI300X, is_hip=True)
    trace.runtime("hipStreamBeginCapture")
    layer(trace, 8)
    trace.runtime("hipStreamEndCapture")
    trace.graph(*LAYER, call="hipGraphLaunch")
    profile = profile_of(tmp_path, trace)
    assert profile.ops.flop[row(profile, "aten::mm [8x64, 64x32]")] == 2 * 8 * 64 * 32
    assert profile.graphs is not None
    assert profile.graphs.aligned == 3


def test_launches_without_names_are_aligned_by_order_if_there_are_as_many(tmp_path: Path) -> None:
    trace, unnamed = replay(LAYER * 2), capture(8, named=False)
    profile = profile_of(tmp_path, trace, unnamed)
    assert codes(profile)["graph-aligned-by-order"] == 6
    assert profile.ops.occurrences[row(profile, "aten::mm")] == 2
    (tmp_path / "b").mkdir()
    profile = profile_of(tmp_path / "b", replay(LAYER * 3), unnamed)
    assert profile.graphs is not None
    assert profile.graphs.aligned == 0


def test_a_trace_of_the_device_alone(tmp_path: Path) -> None:
    """Kernels without launches, as ROCm's profiler writes them without the host's activities."""
    trace = replay(LAYER * 2, LAYER * 2)
    kernels = [one for one in trace.events if one["cat"] == "kernel"]
    for number in (0, 1):
        mine = kernels[6 * number : 6 * number + 6]
        begin, last = mine[0]["ts"], mine[-1]["ts"] + mine[-1]["dur"]
        mark = trace.event("gpu_user_annotation", decode(8), begin, last - begin)
        kernels.append(mark)
    trace.events = kernels
    alone = profile_of(tmp_path, trace)
    assert alone.steps.label == ("0 (decode, 8)", "1 (decode, 8)")
    assert codes(alone)["kernels-in-graphs"] == 12
    assert alone.ops.time_ps.sum() == 60 * 10**6
    (tmp_path / "b").mkdir()
    both = profile_of(tmp_path / "b", trace, capture(8))
    assert both.graphs is not None
    assert (both.graphs.replays, both.graphs.aligned) == (2, 12)
    assert both.ops.flop[row(both, "aten::mm")] == 4 * 2 * 8 * 64 * 32


def test_copies_and_fills_are_nodes_of_a_graph(tmp_path: Path) -> None:
    captured = KinetoTrace(device=MI300X, is_hip=True)
    captured.runtime("hipStreamBeginCapture")
    captured.recorded(GEMM, name="aten::mm", inputs=[((8, 64), BF16), ((64, 32), BF16)])
    captured.runtime("hipMemsetAsync")
    captured.recorded(ACT, name="aten::relu", inputs=[((8, 32), BF16)])
    captured.runtime("hipStreamEndCapture")
    trace = replay(((GEMM, 5.0), ("Memset (Device)", 1.0), (ACT, 2.0)))
    profile = profile_of(tmp_path, trace, captured)
    assert profile.graphs is not None
    assert profile.graphs.aligned == 3


def test_a_capture_alone_is_a_trace_like_others(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, capture(8))
    assert profile.graphs is None
    assert codes(profile)["launches-without-kernels"] == 1


def test_a_capture_is_a_file_and_not_a_host(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, replay(LAYER * 2), capture(8))
    assert [host.core_count for host in profile.hosts] == [1, 0]
    assert profile.host_count == 1


@pytest.mark.parametrize(
    ("annotation", "word"),
    [(decode(8), "capture_torch_profiler"), ("step[DECODE bs=8]", "--enable-profile-cuda-graph")],
)
def test_without_a_capture_one_sentence_says_how_to_get_it(
    annotation: str, word: str, tmp_path: Path
) -> None:
    profile = profile_of(tmp_path, replay(LAYER, annotation=annotation))
    note = next(one for one in profile.diagnostics if one.code == "kernels-in-graphs")
    assert word in note.remedy
    assert note.remedy.startswith("Upload the trace of the graph's capture")


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.95])
def test_a_cut_capture_explains_what_it_holds(cut: float, tmp_path: Path) -> None:
    text = capture(8, layers=6).as_json()
    profile = profile_of(tmp_path, replay(LAYER * 2), text[: int(len(text) * cut)])
    assert profile.ops.time_ps.sum() == 30 * 10**6


def test_modules_and_stack_of_the_launch(tmp_path: Path) -> None:
    captured = KinetoTrace(device=MI300X, is_hip=True)
    captured.runtime("hipStreamBeginCapture")
    for number in (0, 1):
        begin = captured.host_us
        captured.host_us += 1
        captured.recorded(GEMM, name="aten::mm", inputs=[((8, 64), BF16), ((64, 32), BF16)])
        lasts = captured.host_us - begin
        for inside, name in enumerate(
            (f"model.py({10 + number}): forward", f"nn.Module: Linear_{number}", "mm.py(7): call")
        ):
            event = captured.event(
                "python_function", name, begin + inside * 0.1, lasts - inside * 0.2
            )
            assert event["dur"] > 0
        captured.host_us += 1
    captured.runtime("hipStreamEndCapture")
    profile = profile_of(tmp_path, replay(((GEMM, 5.0), (GEMM, 5.0))), captured)
    k = row(profile, "aten::mm")
    assert profile.ops.occurrences[k] == 2
    assert profile.ops.framework_path[k] == "Linear/aten::mm"
    assert profile.ops.operands[k] == "bf16[8,64]; bf16[64,32]"
    assert profile.ops.source_stack[k] == "mm.py(7): call\nmodel.py(10): forward"
    assert (profile.ops.source_file[k], profile.ops.source_line[k]) == ("mm.py", 7)


@needs_shared
def test_modules_of_a_real_server(tmp_path: Path) -> None:
    ops = shared_profiles(tmp_path, "mi300x_sglang_decode", "mi300x_sglang_capture").ops
    k = ops.name.index("aten::mm [32x4096, 4096x6144] bf16")
    path = "Qwen3Model/Qwen3DecoderLayer/Qwen3Attention/QKVParallelLinear/aten::mm"
    assert ops.framework_path[k] == path
    assert ops.operands[k] == "bf16[32,4096]{1,0}; bf16[4096,6144]{0,1}"
    assert "aiter/tuned_gemm.py(395): torch_gemm" in ops.source_stack[k]


@needs_shared
@pytest.mark.parametrize(
    ("server", "kernels", "label"),
    [
        (("mi300x_vllm_graph_decode", "mi300x_vllm_graph_capture"), 421, "capture_32_FULL"),
        (("mi300x_sglang_decode", "mi300x_sglang_capture"), 544, "capture_32_DECODE"),
    ],
)
def test_real_servers(server: tuple[str, str], kernels: int, label: str, tmp_path: Path) -> None:
    graphs = shared_profiles(tmp_path, *server).graphs
    assert graphs is not None
    assert (graphs.kernels, graphs.aligned) == (kernels, kernels)
    assert [one.label for one in graphs.captures] == [label]
    assert not graphs.left


def rehearsed(tokens: int, layers: int = 2) -> KinetoTrace:
    """A capture that also replays its graph once, and ran a kernel of its own before."""
    trace = capture(tokens, layers)
    trace.call("aten::zeros", [((4,), FP32)], ("warm_up_kernel", 7.0))
    trace.graph(*LAYER * layers, call="hipGraphLaunch")
    return trace


def of_rank(trace: KinetoTrace, number: int, host: str = "") -> KinetoTrace:
    trace.header["distributedInfo"] = {"backend": "nccl", "rank": number}
    if host:
        trace.header["host_name"] = host
    return trace


@pytest.mark.parametrize("is_capture_first", [True, False])
@pytest.mark.parametrize("ranks", [(), (0, 0)], ids=["no rank", "same rank"])
def test_a_capture_that_also_replays_is_a_capture(
    ranks: tuple[int, ...], is_capture_first: bool, tmp_path: Path
) -> None:
    """6,264 kernels, as a diffusion model replays them: one GPU on one host, with its times."""
    pair = [rehearsed(8, layers=1044), replay(LAYER * 1044, LAYER * 1044)]
    for trace, number in zip(pair, ranks, strict=False):
        of_rank(trace, number)
    profile = profile_of(tmp_path, *(pair if is_capture_first else reversed(pair)))
    assert profile.graphs is not None
    assert (profile.graphs.kernels, profile.graphs.aligned) == (6264, 6264)
    assert (profile.device.core_count, profile.host_count) == (1, 1)
    assert "warm_up_kernel" not in profile.ops.name
    assert profile.ops.time_ps.sum() == 2088 * 15 * 10**6
    assert profile.ops.occurrences[row(profile, "aten::mm")] == 2088


def test_ranks_that_record_and_replay_are_hosts(tmp_path: Path) -> None:
    """Each explains its own kernels: none is the capture of another."""
    profile = profile_of(tmp_path, rehearsed(8), rehearsed(8))
    assert profile.graphs is not None
    assert profile.graphs.aligned == profile.graphs.kernels == 12
    assert (profile.device.core_count, profile.host_count) == (2, 2)


def test_of_several_ranks_each_has_the_captures_of_its_own(tmp_path: Path) -> None:
    """A file of another rank is a host, and not the capture of the replays of this one."""
    files = [
        of_rank(rehearsed(8), 0),
        of_rank(replay(LAYER * 2), 0),
        of_rank(rehearsed(8), 1),
    ]
    profile = profile_of(tmp_path, *files)
    assert (profile.device.core_count, profile.host_count) == (2, 2)
    assert [(host.rank, host.core_count) for host in profile.hosts] == [(0, 1), (0, 0), (1, 1)]
    assert profile.graphs is not None
    assert profile.graphs.aligned == profile.graphs.kernels == 12


def test_files_that_replay_something_else_are_hosts(tmp_path: Path) -> None:
    other = (("other_kernel", 1.0), ("another_kernel", 1.0))
    profile = profile_of(tmp_path, rehearsed(8), replay(other))
    assert (profile.device.core_count, profile.host_count) == (2, 2)


def test_a_capture_that_only_its_annotation_marks_is_read_first(tmp_path: Path) -> None:
    marked = rehearsed(8)
    calls = {"hipStreamBeginCapture", "hipStreamEndCapture"}
    marked.events = [one for one in marked.events if one["name"] not in calls]
    profile = profile_of(tmp_path, replay(LAYER * 2), marked)
    assert profile.graphs is not None
    assert profile.graphs.aligned == 6
    assert profile.host_count == 1


@pytest.mark.parametrize(
    ("names", "hosts"),
    [
        (("node1",) * 3, 1),
        (("node1", "node2", "node1"), 2),
        (("localhost",) * 3, 3),
        (("",) * 3, 3),
    ],
)
def test_ranks_of_one_machine_are_one_host(
    names: tuple[str, ...], hosts: int, tmp_path: Path
) -> None:
    files = [of_rank(replay(LAYER), number, name) for number, name in enumerate(names)]
    profile = profile_of(tmp_path, *files)
    assert (profile.device.core_count, profile.host_count) == (3, hosts)
