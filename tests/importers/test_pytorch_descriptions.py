"""What PyTorch's ops are made of: module paths, shapes with layouts, groups of collectives."""

from pathlib import Path
from typing import Any

import pytest

from roofline.importers.pytorch.inputs import Tensor, shape_text
from roofline.model.profile import Profile
from tests.importers.kineto_profiles import needs_shared, profile_of, row, shared_profile


def event(name: str, category: str, begin: int, lasts: int, tid: int = 1, **args: Any) -> Any:
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": 1,
        "tid": tid,
        "ts": begin,
        "dur": lasts,
        "args": args,
    }


def launched(begin: int, correlation: int, kernel: str, tid: int = 1, **args: Any) -> list[Any]:
    """A launch at `begin`, and its kernel of 5 us 50 us later."""
    launch = event("cudaLaunchKernel", "cuda_runtime", begin, 1, tid, correlation=correlation)
    stated = {"device": 0, "correlation": correlation, **args}
    return [launch, event(kernel, "kernel", begin + 50, 5, 7, **stated)]


def call(begin: int, name: str = "aten::mm", tid: int = 1, **args: Any) -> Any:
    shapes = {
        "Input Dims": [[4, 8], [8, 2], []],
        "Input type": ["c10::BFloat16", "c10::BFloat16", "Scalar"],
        "Input Strides": [[8, 1], [1, 8], []],
    }
    return event(name, "cpu_op", begin, 8, tid, **{**shapes, **args})


def path_of(profile: Profile, name: str) -> str:
    return profile.ops.framework_path[row(profile, name)]


def module(name: str, begin: int, lasts: int) -> Any:
    return event(f"nn.Module: {name}", "python_function", begin, lasts)


def test_the_path_is_modules_and_operator_without_their_numbers(tmp_path: Path) -> None:
    layers = [(10, "Layer_0"), (110, "Layer_1")]
    trace = [
        module("Model_0", 0, 300),
        event("model.py(3): forward", "python_function", 0, 300),
        *(module(name, begin, 50) for begin, name in layers),
        *(module(f"Linear_{k}", begin + 1, 30) for k, (begin, _) in enumerate(layers)),
        *(call(begin + 2) for begin, _ in layers),
        *launched(15, 1, "gemm"),
        *launched(115, 2, "gemm"),
    ]
    assert path_of(profile_of(tmp_path, trace), "aten::mm") == "Model/Layer/Linear/aten::mm"


def test_of_several_paths_the_longest_in_time_counts(tmp_path: Path) -> None:
    trace = [
        *(module(name, begin, 20) for name, begin in (("A_0", 0), ("B_0", 100), ("B_1", 200))),
        *(call(begin + 1) for begin in (0, 100, 200)),
        *(one for k in (0, 1, 2) for one in launched(100 * k + 3, k + 1, "gemm")),
    ]
    assert path_of(profile_of(tmp_path, trace), "aten::mm") == "B/aten::mm"


def test_ranges_of_the_program_and_backward_passes_are_part_of_the_path(tmp_path: Path) -> None:
    node = "autograd::engine::evaluate_function: MmBackward0"
    trace = [
        event("## forward ##", "user_annotation", 0, 30),
        event("ProfilerStep#3", "user_annotation", 0, 300),
        call(5),
        *launched(7, 1, "gemm"),
        event(node, "cpu_op", 100, 50, 2),
        event("MmBackward0", "cpu_op", 101, 40, 2),
        call(105, "aten::t", 2),
        *launched(107, 2, "copy", 2),
    ]
    profile = profile_of(tmp_path, trace)
    assert path_of(profile, "aten::mm") == "## forward ##/aten::mm"
    assert path_of(profile, "aten::t") == "backward/aten::t"


def stack_of(profile: Profile, name: str) -> list[str]:
    return profile.ops.source_stack[row(profile, name)].split("\n")


def python(name: str, begin: int, lasts: int, caller: str = "") -> Any:
    given: dict[str, Any] = {"CallFrom": caller} if caller else {}
    return event(name, "python_function", begin, lasts, **given)


def numbered(forward_thread: int) -> dict[str, Any]:
    return {"Sequence number": 7, "Fwd thread id": forward_thread}


LINEAR = "torch/nn/modules/linear.py"


@pytest.mark.parametrize(
    ("callers", "stack"),
    [
        (False, [f"{LINEAR}(124): forward", "net.py(9): forward", "net.py(1): <module>"]),
        (True, [f"{LINEAR}(125): forward", "net.py(10): forward", "net.py(30): <module>"]),
    ],
)
def test_the_stack_is_that_of_the_call_and_of_its_gradient_that_of_the_forward_pass(
    tmp_path: Path, callers: bool, stack: list[str]
) -> None:
    """Newer traces say which line called, older ones where each function begins."""
    node = "autograd::engine::evaluate_function: MmBackward0"
    lines = ("net.py:30", "net.py:10", "torch/nn/modules/module.py:1783", f"{LINEAR}:125")
    caller = iter(lines if callers else [""] * len(lines))
    trace = [
        python("net.py(1): <module>", 0, 400),
        python("net.py(9): forward", 1, 60, next(caller)),
        python("nn.Module: Linear_0", 2, 50, next(caller)),
        python(f"{LINEAR}(124): forward", 3, 40, next(caller)),
        python("<built-in function linear at 0x7f>", 4, 30, next(caller)),
        call(5, **numbered(0)),
        *launched(7, 1, "gemm"),
        event(node, "cpu_op", 100, 50, 2, **numbered(1)),
        call(105, "aten::t", 2),
        *launched(107, 2, "copy", 2),
    ]
    profile = profile_of(tmp_path, trace)
    assert stack_of(profile, "aten::mm") == stack
    assert stack_of(profile, "aten::t") == stack
    at = row(profile, "aten::mm")
    line = 125 if callers else 124
    assert (profile.ops.source_file[at], profile.ops.source_line[at]) == (LINEAR, line)


def test_of_too_many_calls_no_stack_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = [python("net.py(9): forward", 1, 60), call(5), *launched(7, 1, "gemm")]
    assert stack_of(profile_of(tmp_path, trace), "aten::mm") == ["net.py(9): forward"]
    monkeypatch.setattr("roofline.importers.pytorch.trace.MOST_CALLS", 0)
    assert stack_of(profile_of(tmp_path, trace), "aten::mm") == [""]


def test_a_scope_on_another_thread_is_not_around_an_operator(tmp_path: Path) -> None:
    other = event("nn.Module: Model_0", "python_function", 0, 300, 9)
    profile = profile_of(tmp_path, [other, call(5), *launched(7, 1, "gemm")])
    assert path_of(profile, "aten::mm") == "aten::mm"


def test_shapes_have_types_and_the_order_of_dimensions(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, [call(5), *launched(7, 1, "gemm")])
    at = row(profile, "aten::mm")
    assert profile.ops.operands[at] == "bf16[4,8]{1,0}; bf16[8,2]{0,1}"
    assert profile.ops.results[at] == ""


@pytest.mark.parametrize(
    ("shape", "strides", "text"),
    [
        ((4, 8), (8, 1), "f32[4,8]{1,0}"),
        ((4, 8), (), "f32[4,8]"),
        ((4, 8), (16, 1), "f32[4,8]{strides=16,1}"),
        ((4, 8), (0, 1), "f32[4,8]{strides=0,1}"),
        ((4, 1, 8), (8, 99, 1), "f32[4,1,8]{2,0,1}"),
        ((), (), "f32[]"),
        ((0, 8), (8, 1), "f32[0,8]{1,0}"),
    ],
)
def test_a_layout_with_gaps_has_its_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], text: str
) -> None:
    assert shape_text(Tensor(shape=shape, strides=strides, dtype="fp32", item_bytes=4)) == text


def collective(elements: int) -> dict[str, Any]:
    return {
        "Collective name": "_allgather_base",
        "dtype": "BFloat16",
        "In msg nelems": elements,
        "Out msg nelems": 2 * elements,
        "Group size": 2,
        "Process Group Ranks": "[0, 1]",
    }


@pytest.mark.parametrize(
    ("sizes", "operands", "results"),
    [([512, 512], "bf16[512]", "bf16[1024]"), ([512, 8], "", "")],
)
def test_a_collective_has_its_message_as_far_as_all_launches_agree(
    sizes: list[int], operands: str, results: str, tmp_path: Path
) -> None:
    kernel = "ncclDevKernel_AllGather_RING_LL"
    trace = [
        one
        for k, size in enumerate(sizes)
        for one in launched(100 * k, k + 1, kernel, **collective(size))
    ]
    ops = profile_of(tmp_path, trace).ops
    assert (ops.operands, ops.results) == ((operands,), (results,))
    assert (ops.replica_groups, ops.group_size.tolist()) == (("[0, 1]",), [2])


def test_operators_on_the_cpu_have_paths_and_shapes(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, [module("Model_0", 0, 30), call(5)])
    assert profile.ops.operands == ("bf16[4,8]{1,0}; bf16[8,2]{0,1}",)
    assert profile.ops.framework_path == ("Model/aten::mm",)


@needs_shared
def test_modules_of_a_real_model_are_found(tmp_path: Path) -> None:
    profile = shared_profile("h100_qwen_causal", tmp_path)
    at = row(profile, "aten::mm [8944x1024, 1024x2816]")
    mlp = "Qwen2Model/Qwen2DecoderLayer/Qwen2MLP/Linear/aten::mm"
    assert profile.ops.framework_path[at] == mlp
    assert profile.ops.operands[at] == "bf16[8944,1024]{1,0}; bf16[1024,2816]{0,1}"
