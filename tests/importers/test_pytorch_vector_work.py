"""Vector operators and generated kernels: FLOPs and bytes at least; values worked out by hand."""

import csv
import math
from pathlib import Path
from typing import Any

import pytest

from roofline.importers.pytorch.signatures import Signature
from roofline.importers.pytorch.words import operator_category
from roofline.model.compute import ComputeUnit
from tests.importers.kineto_profiles import codes, profile_of, row, signature
from tests.shared_profiles import SHARED, needs_shared, shared
from tests.tools.make_kineto_traces import BF16, FP32, KinetoTrace

INT = "long int"


def call(
    operator: str,
    *dims: Any,
    kind: str = FP32,
    values: dict[int, str] | None = None,
    strides: Any = None,
) -> Signature:
    """A call with tensors of one type at its first places, and plain values at others."""
    size = max([len(dims), *(place + 1 for place in values or {})])
    given = [dims[k] if k < len(dims) else [] for k in range(size)]
    texts = [(values or {}).get(k, "") for k in range(size)]
    types = ["Scalar" if texts[k] or not given[k] else kind for k in range(size)]
    return signature(operator, given, types, texts, strides)


@pytest.mark.parametrize(
    ("found", "flop"),
    [
        (call("aten::_softmax", [8, 16, 512, 512]), 4 * 33_554_432),
        (call("aten::native_layer_norm", [4, 197, 768], [], [768], [768]), 7 * 605_184),
        (call("aten::native_layer_norm", [4, 197, 768]), 5 * 605_184),
        (call("aten::gelu", [4, 197, 3072]), 4 * 2_420_736),
        (call("sgl_kernel::silu_and_mul", [64, 11008], [64, 22016], kind=BF16), 5 * 704_512),
        (
            call("aten::upsample_bilinear2d", [64, 4, 256, 256], values={1: "[1024, 1024]"}),
            7 * 268_435_456,
        ),
        (
            call("aten::upsample_trilinear3d", [2, 4, 8, 8, 8], values={1: "[9, 9, 9]"}),
            15 * 8 * 729,
        ),
        (call("aten::lerp", [64], [64], values={2: "0.5"}), 3 * 64),
        (call("aten::mul", [16, 16, 559, 64], [1, 1, 559, 64], kind=BF16), 16 * 16 * 559 * 64),
        (call("aten::sum", [32, 100]), 3_200),
        (call("aten::linalg_vector_norm", [1000]), 2_000),
        (call("aten::native_batch_norm", [2, 3, 4], [3], [3], values={5: "True"}), 7 * 24),
        (call("aten::native_batch_norm", [2, 3, 4], [3], [3], values={5: "False"}), 2 * 24),
        (call("aten::cudnn_batch_norm_backward", [2, 3, 4], [2, 3, 4], [3]), 7 * 24),
        (call("_C::fused_add_rms_norm", [888, 2880], [888, 2880], [2880], kind=BF16), 5 * 2557440),
        (call("aten::relu", [64]), 0),
        (call("aten::gt", [64], [64]), 0),
        (call("aten::argmax", [32, 151936]), 0),
        (call("aten::add", [64], [64], kind=INT), 0),
        (call("aten::add", [64], [64], kind="c10::complex<float>"), 128),
        (call("aten::mul", [64], [64], kind="c10::complex<float>"), 384),
        (call("aten::exp", [64], kind="c10::complex<float>"), None),
        (call("aten::normal_", [64]), None),
        (call("aten::add", [64], [64], kind=""), None),
    ],
    ids=lambda value: value.label if isinstance(value, Signature) else "",
)
def test_flop(found: Signature, flop: int | None) -> None:
    assert found.flop == flop
    assert found.is_vector == bool(flop)


def test_rotation_counts_the_part_that_is_turned() -> None:
    found = signature(
        "_C::rotary_embedding",
        [[32], [32, 4096], [32, 512], [], [131072, 32]],
        [INT, BF16, BF16, "Scalar", BF16],
        ["", "", "", "64", ""],
    )
    assert found.flop == 3 * 32 * (4096 + 512) // 2


def test_a_function_may_need_more_than_one_instruction() -> None:
    assert call("aten::add", [64], [64]).flop_slack == 0
    assert call("aten::exp", [64]).flop_slack == 7 * 64
    assert call("aten::_softmax", [8, 8]).flop_slack == 2 * 4 * 64


GENERATED = [
    # A bias and an activation after a product, in place: read and written.
    ("triton_poi_fused_addmm_gelu_view_3", [[2, 4096, 9728], [9728]], ["79691776"], 318_786_560),
    # Two halves of which it writes one: each argument once, which is too little.
    (
        "triton_poi_fused__unsafe_view_mul_silu_1",
        [[8, 4096, 8192], [32768, 8192]],
        ["268435456"],
        1_073_741_824,
    ),
    (
        "triton_red_fused__unsafe_view_add_mean_mul_pow_rsqrt_0",
        [[8, 4096, 2048], [32768, 2048], [2048], [8, 4096, 2048]],
        ["32768", "2048"],
        3 * 134_217_728 + 4096,
    ),
    (
        "triton_red_fused_add_mean_mul_pow_rsqrt_2",
        [[8, 4096, 2048], [2048], [8, 4096, 2048]],
        ["32768", "2048"],
        2 * 134_217_728 + 4096,
    ),
    # A part of a larger argument.
    ("triton_poi_fused_clone_slice_transpose_4", [[64, 1024], [64, 512]], ["32768"], 131_072),
    # A look-up: of the table only as much as is written, and that once.
    ("triton_poi_fused_embedding_0", [[18], [151936, 896], [18, 896]], ["16128"], 32_256),
]


@pytest.mark.parametrize(("name", "dims", "sizes", "moved"), GENERATED, ids=str)
def test_bytes_of_generated_kernels(name: str, dims: Any, sizes: list[str], moved: int) -> None:
    values = {len(dims) + k: size for k, size in enumerate(sizes)}
    found = call(name, *dims, kind=BF16, values=values)
    assert found.moved_bytes == moved
    moves = any(word in name for word in ("embedding", "clone"))
    assert found.flop == (0 if moves else math.prod(map(int, sizes)))


def test_generated_kernels_that_tell_too_little() -> None:
    broadcast = call(
        "triton_poi_fused_arange_cat_cos_div_exp_0",
        [2],
        [2, 256],
        values={2: "512"},
        strides=[[0], [256, 1], []],
    )
    assert broadcast.moved_bytes == 4 + 2048
    assert call("triton_poi_fused_add_0", [64], [64]).moved_bytes is None, "no number of elements"
    assert call("triton_poi_fused_add_0", [64], kind="", values={1: "64"}).moved_bytes is None
    unnamed = call("triton_poi_fused_0", [64], values={1: "64"})
    assert (unnamed.flop, unnamed.moved_bytes) == (None, 512)
    integers = call("triton_poi_fused_add_lt_0", [64], [64], kind=INT, values={2: "64"})
    assert integers.flop == 0
    assert call("triton_tem_fused_addmm_0", [64, 64], values={1: "64"}).moved_bytes is None


def test_what_follows_a_product_is_no_product() -> None:
    name = "triton_poi_fused_addmm_gelu_view_3"
    assert operator_category(name, name) == "fused (Inductor)"


LISTS = "at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::{}, unsigned int, 2>"
FOREACH = (
    "multi_tensor_apply_kernel<TensorListMetadata<2>, BinaryOpListAlphaFunctor<float, 2, 2, 0>>"
)


def test_lists_have_the_type_in_the_name_of_their_kernel(tmp_path: Path) -> None:
    trace = KinetoTrace()
    parts: Any = [[4, 1, 768], [4, 196, 768]]
    for kernel in (
        "(anonymous namespace)::OpaqueType<2u>",
        "(anonymous namespace)::OpaqueType<4u>",
    ):
        inputs = [(parts, "TensorList"), ((), "Scalar")]
        trace.call("aten::cat", inputs, (LISTS.format(kernel), 3.0))
    lists: Any = [([[100], [50]], "TensorList")] * 2
    trace.call("aten::_foreach_add_", lists, (FOREACH, 3.0))
    trace.call("aten::_foreach_mul_", lists, ("unnamed", 3.0))
    profile = profile_of(tmp_path, trace)
    ops = profile.ops
    joined = [k for k, name in enumerate(ops.name) if name.startswith("aten::cat")]
    assert sum(ops.bytes_accessed[joined].tolist()) == 2 * 605_184 * (2 + 4)
    assert sum(ops.flop[joined].tolist()) == 0 and ops.flop_known[joined].all()
    added, other = row(profile, "aten::_foreach_add_"), row(profile, "aten::_foreach_mul_")
    assert (ops.flop[added], ops.bytes_accessed[added]) == (150, 3 * 600)
    assert not ops.cost_known[other]


def test_a_product_keeps_the_kernels_of_a_scaling_inside_it(tmp_path: Path) -> None:
    trace = KinetoTrace()
    kernels = ("void at::native::elementwise_kernel<128, 4>", 1.0), ("ampere_bf16_s16816gemm", 4.0)
    trace.call("aten::mul", [((32, 32), BF16)] * 2, *kernels, outer="aten::mm")
    trace.call("aten::mul", [((32, 32), BF16)] * 2, kernels[0])
    profile = profile_of(tmp_path, trace)
    ops = profile.ops
    product, scaling = row(profile, "aten::mm"), row(profile, "aten::mul")
    assert ops.flop[product] == ops.unit_flop[ComputeUnit.MATRIX_BF16][product] == 2 * 32**3
    assert ops.flop[scaling] == ops.unit_flop[ComputeUnit.VECTOR_FP32][scaling] == 32**2


SHARES = SHARED / "samples/pytorch/known_shares.csv"


def known_shares() -> list[dict[str, str]]:
    return list(csv.DictReader(SHARES.read_text().splitlines())) if SHARES.is_file() else []


@needs_shared
@pytest.mark.parametrize("least", known_shares(), ids=lambda least: least["sample"])
def test_known_shares(least: dict[str, str]) -> None:
    """At or ahead of TraceLens on each trace that it was measured on."""
    files = (f"samples/pytorch/{name}.json.gz" for name in least["sample"].split("+"))
    known = shared(*files).with_infeed.known
    assert known.flop >= float(least["flop_at_least"])
    assert known.bytes >= float(least["bytes_at_least"])


# ------------------------------------------------------------------------- FBGEMM's tables


def lookup(
    total: str, most: str, *, pooling: str = "0", weighted: bool = False, kind: str = "c10::Half"
) -> Signature:
    """A lookup of 3,000 indices in three tables, of 100 bags each."""
    dims: list[Any] = [
        [0],
        [1_000_000],
        [0],
        [0],
        [3],
        [3],
        [4],
        [],
        [],
        [4],
        [],
        [3000],
        [301],
        [],
    ]
    types = [FP32, kind, kind, kind, "int", INT, "int", "Scalar", "Scalar", INT, "Scalar", INT, INT]
    values = ["", "", "", "", "", "", "", total, most, "", "20", "", "", pooling]
    return signature(
        "fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function",
        [*dims, [3000]] if weighted else dims,
        [*types, "Scalar", *([FP32] if weighted else [])],
        values,
    )


OTHERS = 3000 * 8 + 301 * 8  # indices and offsets of bags


@pytest.mark.parametrize(
    ("found", "flop", "moved"),
    [
        # Tables of one width: each row as often as it is looked up, and 100 × 192 results.
        (lookup("192", "64"), 3000 * 64, 3000 * 64 * 2 + OTHERS + 100 * 192 * 4),
        (lookup("192", "64", weighted=True), 2 * 3000 * 64, 3000 * 128 + OTHERS + 100 * 192 * 4),
        (lookup("192", "64", kind=FP32), 3000 * 64, 3000 * 64 * 4 + OTHERS + 100 * 192 * 4),
        # Of several widths the narrowest may hold every index: 160 - 2 × 64 = 32.
        (lookup("160", "64"), 3000 * 32, 3000 * 32 * 2 + OTHERS + 100 * 160 * 4),
        (lookup("100", "64"), 3000 * 4, 3000 * 4 * 2 + OTHERS + 100 * 100 * 4),
        # A row for each index: nothing is added up.
        (lookup("192", "64", pooling="2"), 0, 3000 * 64 * 2 + OTHERS + 3000 * 64 * 4),
        # Old traces have no plain values, and widths that cannot be are damage.
        (lookup("", ""), None, None),
        (lookup("500", "64"), None, None),
    ],
)
def test_lookups_of_fbgemm(found: Signature, flop: int | None, moved: int | None) -> None:
    assert (found.flop, found.moved_bytes) == (flop, moved)


@pytest.mark.parametrize("has_mixed", [True, False])
@pytest.mark.parametrize(("kind", "times"), [("unweighted", 1), ("weighted", 2)])
def test_gradients_of_fbgemm(kind: str, times: int, has_mixed: bool) -> None:
    """The lookups above, backwards: gradients of 100 x 192 results in bf16, rows of 64 halves."""
    arguments: list[tuple[Any, str, str]] = [
        ([100, 192], "c10::BFloat16", ""),
        ([1_000_000], "c10::Half", ""),
        *[([0], "c10::Half", "")] * 2,
        *[([3], INT, "")] * 2,
        ([4], "int", ""),
        ([], "Scalar", "64"),
        *[([], "Scalar", "False")] * has_mixed,
        ([4], INT, ""),
        ([], "Scalar", "20"),
        ([3000], INT, ""),
        ([301], INT, ""),
        ([], "Scalar", "0"),
        ([3000], "int" if times == 1 else FP32, ""),
    ]
    name = f"fbgemm::split_embedding_backward_codegen_rowwise_adagrad_{kind}_exact_cuda"
    dims, types, values = map(list, zip(*arguments, strict=True))
    found = signature(name, dims, types, values)
    assert found.flop == times * 3000 * 64
    assert found.moved_bytes == 2 * 3000 * 64 * 2 + OTHERS + 100 * 192 * 2
    assert found.is_vector
    unknown = signature(name, dims, types, [""] * len(values))
    assert (unknown.flop, unknown.moved_bytes) == (None, None), "old traces have no plain values"


def test_bytes_of_lookups_are_said_to_be_without_reuse(tmp_path: Path) -> None:
    dims = [[0], [1_000_000], [0], [0], [3], [3], [4], [], [], [4], [], [3000], [301]]
    kinds = [
        FP32,
        *["c10::Half"] * 3,
        "int",
        INT,
        "int",
        "Scalar",
        "Scalar",
        INT,
        "Scalar",
        INT,
        INT,
    ]
    for values, times in (
        (["", "", "", "", "", "", "", "192", "64", *[""] * 4], 1),
        ([""] * 13, 0),
    ):
        trace = KinetoTrace()
        kernel = ("split_embedding_codegen_forward_unweighted_kernel", 10.0)
        inputs = list(zip(dims, kinds, strict=True))
        name = "fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function"
        trace.call(name, inputs, kernel, values=values)
        assert codes(profile_of(tmp_path, trace)).get("reuse-unknown", 0) == times


def test_widths_that_are_not_known_leave_slack() -> None:
    assert lookup("192", "64").flop_slack == 0
    assert lookup("160", "64").flop_slack == 3000 * 32
    assert lookup("160", "64").is_vector
