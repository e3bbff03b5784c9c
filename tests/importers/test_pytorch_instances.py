"""Instances of modules in traces of PyTorch: each layer's own time, and which of them is slower."""

import json
from pathlib import Path
from typing import Any

import pytest

from roofline.analysis.subjects.choose import choose
from roofline.presentation.layers import Layers, layers_of
from tests.importers.kineto_profiles import profile_of
from tests.importers.test_pytorch_descriptions import call, event, launched, module, path_of
from tests.shared_profiles import analysed, needs_shared, shared

NODE = "autograd::engine::evaluate_function"
REAL = [
    ("h100_qwen_causal", 1_176, 1.3141, 1.3286, "Qwen2DecoderLayer"),
    ("mi300x_qwen_causal", 1_032, 1.1769, 1.2471, "Qwen2DecoderLayer"),
]


@needs_shared
@pytest.mark.parametrize(("name", "kernels", "least_ms", "most_ms", "module"), REAL)
def test_layers_of_real_traces(
    name: str, kernels: int, least_ms: float, most_ms: float, module: str
) -> None:
    """Kernels and times as they were counted by hand in the traces."""
    analysis = shared(f"samples/pytorch/{name}.json.gz")
    found = analysis.profile.instances
    assert found is not None
    assert int(found.calls.sum()) == kernels
    (layers,) = layers_of(analysis, choose(analysis))
    assert (layers.name, len(layers.instances)) == (module, 24)
    times = [one.time_us / 1e3 for one in layers.instances]
    assert min(times) == pytest.approx(least_ms, abs=5e-5)
    assert max(times) == pytest.approx(most_ms, abs=5e-5)
    assert layers.slowest is None
    assert [one.name for one in layers.instances[:3]] == [f"{module}_{k}" for k in range(3)]


def trace_of(times_us: list[int], container: str = "Model_0", rows: int = 4) -> list[Any]:
    """Layers one after the other, each of one product whose kernel takes its time."""
    trace: list[Any] = [module(container, 0, 1_000 * len(times_us))]
    for k, lasts in enumerate(times_us):
        begin = 1_000 * k + 10
        launch, _ = launched(begin + 4, k + 1, "gemm")
        stated = {"device": 0, "correlation": k + 1}
        shaped: dict[str, Any] = {"Input Dims": [[rows if k == 0 else 4, 8], [8, 2], []]}
        trace += [
            module(f"Layer_{k}", begin, 400),
            module(f"Linear_{2 * k}", begin + 1, 100),
            call(begin + 2, **shaped),
            launch,
            event("gemm", "kernel", begin + 50, lasts, 7, **stated),
        ]
    return trace


def layers(folder: Path, trace: list[Any]) -> Layers:
    path = folder / "trace.json"
    path.write_text(json.dumps({"traceEvents": trace}), "utf-8")
    analysis = analysed(path)
    (found,) = layers_of(analysis, choose(analysis))
    return found


def test_a_slow_layer_stands_out(tmp_path: Path) -> None:
    found = layers(tmp_path, trace_of([10, 10, 14, 10]))
    assert [(one.name, one.time_us) for one in found.instances] == [
        ("Layer_0", 10), ("Layer_1", 10), ("Layer_2", 14), ("Layer_3", 10),
    ]  # fmt: skip
    assert found.slowest is not None
    assert found.slowest.name == "Layer_2"
    assert found.slowest.ratio == pytest.approx(1.4)


def test_a_layer_of_other_work_is_not_compared(tmp_path: Path) -> None:
    found = layers(tmp_path, trace_of([20, 10, 10, 10], rows=8))
    assert found.slowest is None
    assert [one.ratio for one in found.instances] == [None, 1.0, 1.0, 1.0]


def test_modules_that_hold_others_are_no_layers(tmp_path: Path) -> None:
    both = [*trace_of([10, 10], "Sequential_0"), module("Sequential_1", 5_000, 10)]
    assert layers(tmp_path, both).name == "Layer"


def backward_of(times_us: list[int], tid: int = 2, forward_thread: int = 1) -> list[Any]:
    """The gradients of `trace_of`, last layer first, on autograd's thread."""
    trace: list[Any] = []
    for k, lasts in enumerate(times_us):
        begin, number = 100_000 - 1_000 * k, len(times_us) + k + 1
        numbered = {"Sequence number": k, "Fwd thread id": forward_thread}
        launch, _ = launched(begin + 4, number, "grad", tid)
        stated = {"device": 0, "correlation": number}
        trace += [
            event(f"{NODE}: MmBackward0", "cpu_op", begin, 100, tid, **numbered),
            event("MmBackward0", "cpu_op", begin + 1, 90, tid, **numbered),
            call(begin + 2, "aten::mm_out", tid),
            launch,
            event("grad", "kernel", begin + 50, lasts, 7, **stated),
        ]
    return trace


def numbered(trace: list[Any]) -> list[Any]:
    """The operators of `trace_of` with the numbers of the nodes that they make."""
    calls = [one for one in trace if one["cat"] == "cpu_op"]
    for k, one in enumerate(calls):
        one["args"] |= {"Sequence number": k, "Fwd thread id": 0}
    # A view that needs no gradient has the number of the node that follows it.
    early = [event("aten::t", "cpu_op", 2, 1, **calls[0]["args"])]
    return [*early, *trace]


def test_the_backward_pass_of_a_layer_is_its_own_direction(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    trace = [*numbered(trace_of([10, 10, 10])), *backward_of([20, 30, 20])]
    path.write_text(json.dumps({"traceEvents": trace}), "utf-8")
    analysis = analysed(path)
    backward, forward = layers_of(analysis, choose(analysis))
    assert (forward.direction, backward.direction) == ("forward", "backward")
    times = [(one.name, one.time_us) for one in backward.instances]
    assert times == [("Layer_0", 20), ("Layer_1", 30), ("Layer_2", 20)]
    assert [one.time_us for one in forward.instances] == [10, 10, 10]
    assert (backward.rest_us, forward.rest_us) == (30, 70)
    assert path_of(analysis.profile, "aten::mm_out") == "backward/Model/Layer/Linear/aten::mm_out"


def test_a_backward_pass_of_two_possible_threads_has_no_layer(tmp_path: Path) -> None:
    other = [event("aten::mm", "cpu_op", 3 + k, 1, 9, **{"Sequence number": k}) for k in range(2)]
    trace = [*numbered(trace_of([10, 10])), *other, *backward_of([20, 30])]
    found = layers(tmp_path, trace)
    assert (found.direction, found.rest_us) == ("", 50)


def test_a_module_that_the_backward_pass_calls_again_is_recomputed(tmp_path: Path) -> None:
    again = [
        event("nn.Module: Layer_0", "python_function", 99_001, 50, 2),
        event("nn.Module: Layer_1", "python_function", 100_001, 50, 2),
    ]
    trace = [*numbered(trace_of([10, 10])), *backward_of([20, 30]), *again]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": trace}), "utf-8")
    found = analysed(path).profile.instances
    assert found is not None
    assert {*found.direction} == {"forward", "backward", "recomputed"}
    used = {found.direction[k] for k in found.instance.tolist()}
    assert used == {"forward", "recomputed"}


def test_layers_of_a_program_on_the_cpu(tmp_path: Path) -> None:
    trace = [one for one in trace_of([10, 10]) if one["cat"] in ("python_function", "cpu_op")]
    found = layers(tmp_path, trace)
    assert [(one.name, one.time_us) for one in found.instances] == [("Layer_0", 8), ("Layer_1", 8)]


def test_a_trace_without_modules_has_no_instances(tmp_path: Path) -> None:
    trace = [one for one in trace_of([10, 10]) if one["cat"] != "python_function"]
    assert profile_of(tmp_path, trace).instances is None
