"""Operators outside of PyTorch: known by their schemas or not at all."""

from pathlib import Path

import pytest

from roofline.importers.pytorch.signatures import Signature
from roofline.importers.pytorch.words import matrix_precisions, unit_of
from roofline.model.compute import ComputeUnit
from roofline.model.profile import Profile
from tests.importers.kineto_profiles import (
    minimal_profile,
    needs_shared,
    row,
    shared_profile,
    signature,
)

HALF, FP32, FP8, BYTE = "c10::Half", "float", "c10::Float8_e4m3fn", "unsigned char"
INT, LONG = "int", "long int"
NOTHING: tuple[list[int], str] = ([], "")


def call(
    operator: str, *tensors: tuple[list[int], str], values: list[str] | None = None
) -> Signature:
    """A call with these tensors at its first places."""
    shapes, types = ([one[k] for one in tensors] for k in range(2))
    return signature(operator, shapes, types, values)


# ------------------------------------------------------------------------------ unknown is unknown


@pytest.mark.parametrize(
    "operator",
    [
        "vllm::moe_forward",
        "mylib::fused_everything",
        "mylib::add",  # not PyTorch's, whatever it is called
        "mylib::mm",
        "fbgemm::permute_2D_sparse_data",
        "TopK",
        "mm",
    ],
)
def test_arguments_of_an_unknown_operator_are_not_traffic(operator: str) -> None:
    found = call(operator, ([64, 64], HALF), ([64, 64], HALF))
    assert found.moved_bytes is None
    assert found.flop is None


@pytest.mark.parametrize(
    "operator", ["aten::nonzero", "aten::index_put_", "aten::unbind", "aten::_something_new"]
)
def test_operators_of_pytorch_that_are_not_listed_are_unknown(operator: str) -> None:
    assert call(operator, ([64, 64], HALF)).moved_bytes is None


# ------------------------------------------------------------------------------------ paged caches


@pytest.mark.parametrize(
    "operator",
    [
        "_C_cache_ops::reshape_and_cache",
        "_C_cache_ops::reshape_and_cache_flash",
        "aiter::reshape_and_cache_flash",
        "sglang::store_cache",
    ],
)
def test_a_cache_is_written_by_slots(operator: str) -> None:
    rows, cache = ([888, 1, 64], HALF), ([4_213_816, 16, 1, 64], BYTE)
    found = call(operator, rows, rows, cache, cache, ([888], LONG))
    assert found.moved_bytes == 888 * (2 * 64 * (2 + 1) + 8)
    assert found.flop == 0
    assert call(operator, rows, rows, cache, cache, NOTHING).moved_bytes is None


def test_slots_count_where_rows_are_padded() -> None:
    rows, cache = ([1024, 8, 64], HALF), ([1000, 16, 8, 64], HALF)
    found = call("_C_cache_ops::reshape_and_cache_flash", rows, rows, cache, cache, ([888], LONG))
    assert found.moved_bytes == 888 * (2 * 512 * 4 + 8)


def test_latent_attention_has_one_cache() -> None:
    rows, rotated = ([100, 512], HALF), ([100, 64], HALF)
    cache, slots = ([5000, 64, 576], FP8), ([100], LONG)
    found = call("_C_cache_ops::concat_and_cache_mla", rows, rotated, cache, slots)
    assert found.moved_bytes == 100 * (576 * (2 + 1) + 8)


def mm_and_cache(profile: Profile) -> tuple[int, int]:
    return row(profile, "aten::mm"), row(profile, "_C_cache_ops::reshape_and_cache_flash")


def test_the_smallest_trace_with_a_paged_cache() -> None:
    """The caches are 8.6 GB; 888 rows of 64 keys and 64 values go there."""
    profile = minimal_profile("flash_kv")
    product, cache = mm_and_cache(profile)
    assert profile.ops.bytes_accessed[cache] == 348_096
    assert profile.ops.bytes_accessed[product] == 3 * 2 * 4096**2
    assert profile.ops.category[cache] == "key-value cache"


@needs_shared
def test_a_served_model(tmp_path: Path) -> None:
    """gpt-oss on 8 GPUs, 888 tokens of one sequence, 36 layers, experts that hold their weights."""
    profile = shared_profile("b200_vllm_eager", tmp_path)
    ops = profile.ops
    moved = dict(zip(ops.name, ops.bytes_accessed.tolist(), strict=True))
    known = dict(zip(ops.name, ops.bytes_known.tolist(), strict=True))
    unknown = [name for name in ops.name if not known[name]]
    assert any(name.startswith("vllm::moe_forward") for name in unknown)
    assert any(name.startswith("vllm::unified_attention_with_output") for name in unknown)
    assert all(moved[name] == 0 for name in unknown)
    cache = ops.name[row(profile, "_C_cache_ops::reshape_and_cache_flash")]
    norm = ops.name[row(profile, "_C::fused_add_rms_norm")]
    assert moved[cache] == 36 * 348_096
    assert moved[norm] == 72 * (4 * 888 * 2880 * 2 + 2880 * 2)
    gib_per_s = sum(moved.values()) / 2**30 / (profile.time_ps / 1e12)
    assert gib_per_s == pytest.approx(53.0, abs=0.1)
    # Elsewhere it is said to move 46.6 GiB/s, at 55.8 FLOP/B: there the cache counts nothing, the
    # arguments of experts, attention and norms count once, and rotations and gathers nothing.
    inputs_of_unknown = 36 * ((888 * 3072 + 888 * 128) * 2 + 888 * (8 * 64 * 3 + 2 * 64 * 2))
    added = [moved[ops.name[row(profile, name)]] for name in ("_C::rotary_emb", "aten::gather")]
    norms_written = 72 * 2 * 888 * 2880 * 2
    as_before = sum(moved.values()) + inputs_of_unknown - moved[cache] - norms_written - sum(added)
    assert as_before / 2**30 / (profile.time_ps / 1e12) == pytest.approx(46.6, abs=0.1)
    products = ops.unit_flop[ComputeUnit.MATRIX_BF16].sum()  # elsewhere other work has no FLOPs
    assert products / as_before == pytest.approx(55.8, abs=0.1)
    assert 1 - profile.op_time_ps / profile.time_ps == pytest.approx(0.863, abs=0.001)


# ------------------------------------------------------------------- norms, activations, rotations


def test_results_that_are_arguments_count_once() -> None:
    out, data, weight = ([8, 64], HALF), ([8, 64], HALF), ([64], HALF)
    for operator in ("_C::rms_norm", "sgl_kernel::rmsnorm", "aiter::rmsnorm"):
        assert call(operator, out, data, weight).moved_bytes == 2 * (2 * 8 * 64 + 64)
    assert call("_C::silu_and_mul", out, ([8, 128], HALF)).moved_bytes == 2 * 3 * 8 * 64
    assert call("_C::static_scaled_fp8_quant", ([8, 64], FP8), data, ([1], FP32)).moved_bytes == (
        8 * 64 * 3 + 4
    )


def test_results_in_place_are_read_and_written() -> None:
    data, weight = ([8, 64], HALF), ([64], HALF)
    found = call("_C::fused_add_rms_norm", data, data, weight)
    assert found.moved_bytes == 2 * (4 * 8 * 64 + 64)


def test_results_that_are_returned() -> None:
    assert call("aiter::rms_norm", ([8, 64], HALF), ([64], HALF)).moved_bytes == 2 * (1024 + 64)


def test_only_the_rotated_part_of_heads_moves() -> None:
    """Two heads of 64 for queries and one for keys, of each the first 32 are rotated."""
    tensors = (([10], LONG), ([10, 128], HALF), ([10, 64], HALF), NOTHING, ([4096, 32], HALF))
    values = ["", "", "", "64", "", "True"]
    found = call("_C::rotary_embedding", *tensors, values=values)
    assert found.moved_bytes == 10 * 8 + 2 * 10 * (64 + 32) * 2 + 10 * 32 * 2
    assert call("_C::rotary_embedding", *tensors).moved_bytes is None


# --------------------------------------------------------------------------- quantised and packed


def test_eight_bit_products_write_wider_results() -> None:
    left, right, scale = ([16, 64], FP8), ([64, 32], FP8), ([1], FP32)
    values = [*[""] * 6, "15", "False"]
    found = call("aten::_scaled_mm", left, right, scale, scale, NOTHING, NOTHING, values=values)
    assert found.flop == 2 * 16 * 64 * 32
    assert found.moved_bytes == 16 * 64 + 64 * 32 + 2 * 4 + 16 * 32 * 2
    silent = call("aten::_scaled_mm", left, right, scale, scale)
    assert silent.moved_bytes is None
    into = [*(left, right, scale, scale, NOTHING, NOTHING, NOTHING, NOTHING), ([16, 32], HALF)]
    assert call("aten::_scaled_mm", *into).moved_bytes == found.moved_bytes
    assert (
        call("aten::_int_mm", ([16, 64], "signed char"), ([64, 32], "signed char")).moved_bytes
        == 16 * 64 + 64 * 32 + 16 * 32 * 4
    )


def test_results_of_vllm_come_first() -> None:
    found = call(
        "_C::cutlass_scaled_mm", ([16, 32], HALF), ([16, 64], FP8), ([64, 32], FP8), ([1], FP32)
    )
    assert found.flop == 2 * 16 * 64 * 32
    assert found.dtype == "fp8"
    assert found.moved_bytes == 16 * 32 * 2 + 16 * 64 + 64 * 32 + 4


def test_four_bit_weights_count_as_stored() -> None:
    left = ([16, 64], HALF)
    awq = call("_C::awq_gemm", left, ([64, 16], INT), ([2, 128], HALF), ([2, 16], INT))
    assert awq.flop == 2 * 16 * 64 * 128
    assert awq.moved_bytes == 16 * 64 * 2 + 64 * 16 * 4 + 2 * 128 * 2 + 2 * 16 * 4 + 16 * 128 * 2
    gptq = call("_C::gptq_gemm", left, ([8, 128], INT), ([2, 16], INT), ([2, 128], HALF))
    assert gptq.flop == awq.flop
    packed = ([16, 4, 32, 4], INT)
    tinygemm = call("aten::_weight_int4pack_mm", left, packed, NOTHING, ([2, 128, 2], HALF))
    assert tinygemm.flop == awq.flop
    wide = call("aten::_weight_int8pack_mm", left, ([128, 64], "signed char"), ([128], HALF))
    assert wide.flop == awq.flop
    assert wide.moved_bytes == 16 * 64 * 2 + 128 * 64 + 128 * 2 + 16 * 128 * 2


def test_marlin_states_its_sizes() -> None:
    tensors = (([16, 64], HALF), NOTHING, ([4, 256], INT), ([2, 128], HALF), ([288], INT))
    values = [*[""] * 9, "1125899", "16", "128", "64", "True"]
    found = call("_C::gptq_marlin_gemm", *tensors, values=values)
    assert found.flop == 2 * 16 * 64 * 128
    assert found.moved_bytes == 16 * 64 * 2 + 4 * 256 * 4 + 2 * 128 * 2 + 16 * 128 * 2
    assert call("_C::gptq_marlin_gemm", *tensors).flop is None


def test_two_numbers_in_each_byte() -> None:
    fp4 = "c10::Float4_e2m1fn_x2"
    found = call("aten::_scaled_mm", ([16, 32], fp4), ([32, 8], fp4), values=["", "", "", "15"])
    assert found.flop == 2 * 16 * 64 * 8
    b200 = matrix_precisions("sm_100", "NVIDIA B200", [])
    assert unit_of(found.dtype, "cutlass3x_sm100_bstensorop", b200) is ComputeUnit.MATRIX_FP4
    raw = call("_C::cutlass_scaled_fp4_mm", ([16, 8], HALF), ([16, 32], BYTE), ([8, 32], BYTE))
    assert raw.flop == found.flop
    assert raw.dtype == "fp4"


def test_groups_of_products_do_not_say_which_weights_are_read() -> None:
    found = call("aten::_grouped_mm", ([100, 64], HALF), ([8, 64, 32], HALF), ([8], INT))
    assert found.flop == 2 * 100 * 64 * 32
    assert found.moved_bytes is None
    outer = call("aten::_grouped_mm", ([8, 16, 64], HALF), ([64, 100], HALF), ([8], INT))
    assert outer.flop == 2 * 16 * 64 * 100


def test_weights_of_rocm_are_transposed() -> None:
    for operator in ("vllm::rocm_unquantized_gemm", "aiter::gemm_a16w16"):
        found = call(operator, ([32, 64], HALF), ([128, 64], HALF), values=[""])
        assert found.flop == 2 * 32 * 64 * 128
        assert found.moved_bytes == 2 * (32 * 64 + 128 * 64 + 32 * 128)


# ------------------------------------------------------------------------------------ elementwise


def test_results_have_the_widest_type() -> None:
    assert call("aten::add", ([4], HALF), ([4], FP32)).moved_bytes == 4 * (2 + 4 + 4)
    assert call("aten::add_", ([4], HALF), ([4], FP32)).moved_bytes == 4 * (2 + 4 + 2)
    assert call("aten::mul", ([4], HALF), ([], FP32)).moved_bytes == 4 * (2 + 2) + 4
    found = call("aten::where", ([4], "bool"), ([4], FP32), ([4], FP32))
    assert found.moved_bytes == 4 * (1 + 4 + 4 + 4)


def test_gathered_elements_are_read_and_written() -> None:
    found = call("aten::gather", ([1000, 64], HALF), NOTHING, ([10, 64], LONG))
    assert found.moved_bytes == 640 * (2 + 2 + 8)


def test_fused_optimizers_write_weights_and_moments() -> None:
    """Weights, gradients and two moments are read; all but the gradients are written."""
    found = call("aten::_fused_adamw_", *[([100], FP32)] * 4)
    assert found.moved_bytes == 7 * 400
    lists = signature("aten::_fused_adamw_", [[[100], [50]]] * 4, ["TensorList"] * 4)
    assert lists.moved_bytes is None  # types of tensors in lists are not recorded


@pytest.mark.parametrize("operator", ["aten::copy_", "aten::clone", "aten::fill_", "aten::flip"])
def test_moving_data_is_no_arithmetic(operator: str) -> None:
    assert call(operator, ([4], HALF), ([4], HALF)).flop == 0
    untyped = call(operator, ([4], ""), ([4], ""))
    assert untyped.flop is None  # nothing is known of it


def test_a_convolution_without_its_arguments_has_no_known_result() -> None:
    image, weight = ([4, 3, 16, 16], FP32), ([8, 3, 3, 3], FP32)
    assert call("aten::cudnn_convolution", image, weight).moved_bytes is None
