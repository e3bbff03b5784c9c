"""What is known of which op: FLOPs and bytes each for themselves, and no sum with a gap in it."""

from pathlib import Path

import numpy as np
import pytest

from tests.importers.kineto_profiles import (
    codes,
    minimal_profile,
    needs_shared,
    profile_of,
    row,
    shared_profile,
)
from tests.tools.make_kineto_traces import BF16, KinetoTrace

MEMCPY = "Memcpy HtoD (Pinned -> Device)"


def test_a_copy_beside_work_that_is_unknown() -> None:
    profile = minimal_profile("partial_total")
    product, copy = row(profile, "aten::mm"), row(profile, MEMCPY)
    ops = profile.ops
    assert [bool(ops.flop_known[k]) for k in (product, copy)] == [False, True]
    assert [bool(ops.bytes_known[k]) for k in (product, copy)] == [False, True]
    assert [bool(ops.cost_known[k]) for k in (product, copy)] == [False, True]
    assert ops.flop[copy] == 0
    assert ops.bytes_accessed[copy] == 1_000_000


def test_a_row_with_one_unknown_call_is_unknown(tmp_path: Path) -> None:
    """Two calls with the same label: one of them does not say how wide its padding is."""
    inputs = [((4, 3, 16, 16), BF16), ((8, 3, 3, 3), BF16)]
    told = ["", "", "[1, 1]", "[1, 1]", "[1, 1]"]
    known, mixed = KinetoTrace(), KinetoTrace()
    for trace in (known, mixed):
        trace.call("aten::cudnn_convolution", inputs, ("implicit_gemm", 5.0), values=told)
    mixed.call("aten::cudnn_convolution", inputs, ("implicit_gemm", 5.0))
    assert profile_of(tmp_path, known).ops.flop_known.all()
    profile = profile_of(tmp_path, mixed)
    assert len(profile.ops) == 1
    assert not profile.ops.cost_known[0]
    assert profile.ops.flop[0] == profile.ops.bytes_accessed[0] == 0


def test_a_copy_without_its_size_makes_its_row_unknown(tmp_path: Path) -> None:
    trace = KinetoTrace()
    trace.launch(MEMCPY, 2.0, cat="gpu_memcpy", bytes=1000)
    assert profile_of(tmp_path, trace).ops.bytes_known.all()
    trace.launch(MEMCPY, 2.0, cat="gpu_memcpy")
    profile = profile_of(tmp_path, trace)
    assert not profile.ops.bytes_known.any()
    assert profile.ops.bytes_accessed.sum() == 0


def test_steps_leave_out_what_is_unknown(tmp_path: Path) -> None:
    inputs = [((4, 3, 16, 16), BF16), ((8, 3, 3, 3), BF16)]
    told = ["", "", "[1, 1]", "[1, 1]", "[1, 1]"]
    trace = KinetoTrace()
    for number, values in ((1, told), (2, None)):
        begin = trace.host_us
        trace.call("aten::cudnn_convolution", inputs, ("implicit_gemm", 5.0), values=values)
        trace.step(number, begin)
    profile = profile_of(tmp_path, trace)
    assert profile.steps.sums.flop.sum() == profile.ops.flop.sum() == 0


@needs_shared
def test_products_without_shapes(tmp_path: Path) -> None:
    """0.4 s of matrix products, and only copies and memsets whose work is known."""
    profile = shared_profile("a100_no_shapes", tmp_path)
    ops = profile.ops
    known = [ops.name[k] for k in np.flatnonzero(ops.cost_known)]
    assert known
    assert all(name.startswith(("Memcpy", "Memset")) for name in known)
    assert ops.flop_known.tolist() == ops.bytes_known.tolist() == ops.cost_known.tolist()
    assert ops.flop.sum() == 0
    products = [k for k, category in enumerate(ops.category) if category == "matmul"]
    assert ops.self_time_ps[products].sum() > 0.4e12


@needs_shared
def test_decoding_in_a_graph(tmp_path: Path) -> None:
    """97 % of the busy time is in a graph; the rest is small and known."""
    ops = shared_profile("mi300x_sglang_decode", tmp_path).ops
    known = float(ops.self_time_ps[ops.bytes_known].sum())
    assert known / float(ops.self_time_ps.sum()) < 0.02
    assert ops.flop.sum() == 0


@needs_shared
def test_flop_without_bytes(tmp_path: Path) -> None:
    """The trace of 2021 has shapes without types: FLOPs of products, and bytes of copies."""
    profile = shared_profile("v100_kineto_2021_resnet", tmp_path)
    ops = profile.ops
    both = ops.flop_known & ops.bytes_known
    assert all(ops.name[k].startswith(("Memcpy", "Memset")) for k in np.flatnonzero(both))
    assert ops.flop[both].sum() == 0
    assert ops.bytes_accessed[~both].sum() == 0
    assert ops.flop[ops.flop_known & ~both].sum() > 3e12


BACKWARD = "aten::cudnn_convolution_backward"
GRADIENTS = ([((4, 3, 16, 16), BF16), ((4, 8, 16, 16), BF16), ((8, 3, 3, 3), BF16)], 442_368)


@pytest.mark.parametrize(
    ("inner", "gradients"), [(("_input", "_weight"), 2), (("_weight",), 1), (("_input",), 1)]
)
def test_inner_operators_tell_the_gradients(
    inner: tuple[str, ...], gradients: int, tmp_path: Path
) -> None:
    """As torch 1.8 to 1.10 ran them: the first layer's images need no gradient."""
    shapes, flop = GRADIENTS
    trace = KinetoTrace()
    begin = trace.host_us
    for part in inner:
        trace.call(BACKWARD + part, (), ("cudnn_grad", 5.0))
    args = {"External id": 1, "Input Dims": [list(shape) for shape, _ in shapes]}
    trace.event("cpu_op", BACKWARD, begin - 1, trace.host_us - begin + 2, args=args)
    profile = profile_of(tmp_path, trace)
    assert profile.ops.flop.tolist() == [gradients * flop]
    assert "gradients-unknown" not in codes(profile)


def test_gradients_that_are_not_recorded_get_a_note(tmp_path: Path) -> None:
    shapes, flop = GRADIENTS
    trace = KinetoTrace()
    trace.call(BACKWARD, shapes, ("cudnn_grad", 5.0))
    profile = profile_of(tmp_path, trace)
    assert profile.ops.flop.tolist() == [2 * flop]
    assert codes(profile)["gradients-unknown"] == 1


@needs_shared
def test_the_first_layer_of_a_network_has_one_gradient(tmp_path: Path) -> None:
    """32 images, 64 filters of 7 x 7 x 3, 112 x 112 places, 6 steps."""
    profile = shared_profile("v100_kineto_2021_resnet", tmp_path)
    k = row(profile, f"{BACKWARD} [32x3x224x224")
    assert profile.ops.flop[k] == 6 * 2 * 32 * 64 * 112 * 112 * 3 * 7 * 7
    assert "gradients-unknown" not in codes(profile)


def test_a_copy_within_the_device_without_its_size_is_its_operators(tmp_path: Path) -> None:
    """ROCm writes no bytes: the shapes of the `copy_` around it tell them, read and written."""
    trace = KinetoTrace()
    inputs = [((64, 32), BF16), ((64, 32), BF16)]
    trace.call("aten::copy_", inputs)
    inside = trace.events[-1]
    trace.launch("Memcpy DtoD (Device -> Device)", 2.0, cat="gpu_memcpy")
    inside["dur"] = trace.host_us - inside["ts"] + 1
    profile = profile_of(tmp_path, trace)
    assert [name.partition(" ")[0] for name in profile.ops.name] == ["aten::copy_"]
    assert profile.ops.bytes_accessed.tolist() == [2 * 64 * 32 * 2]
    assert profile.ops.flop_known.all() and not profile.ops.flop.any()


def test_a_copy_without_a_size_has_no_flops(tmp_path: Path) -> None:
    trace = KinetoTrace()
    trace.launch("Memset (Device)", 2.0, cat="gpu_memset")
    ops = profile_of(tmp_path, trace).ops
    assert (ops.flop_known.tolist(), ops.bytes_known.tolist()) == ([True], [False])
