"""Paths and kernel names in the form that two builds share."""

import pytest

from roofline.analysis.kernel_names import natural_order, stem
from roofline.analysis.paths import OpPath, op_path


@pytest.mark.parametrize(
    ("text", "scope", "leaf", "direction"),
    [
        ("jit(step)/jit(main)/jvp(Block_0)/Mlp/dot_general", "Block_0/Mlp", "dot_general", "f"),
        ("jit(step)/transpose(jvp(Block_0))/Mlp/dot_general", "Block_0/Mlp", "dot_general", "b"),
        ("jit(step)/vmap(jvp(Mlp))/tanh", "Mlp", "tanh", "f"),
        ("jit(step)/jvp(Mlp)/jit(gelu)/mul", "Mlp/gelu", "mul", "f"),
        ("jit(f)/jvp()/checkpoint/Mlp/dot", "Mlp", "dot", "f"),
        ("jit(f)/transpose(jvp())/checkpoint/rematted_computation/Mlp/dot", "Mlp", "dot", "r"),
        (
            "jit(f)/Mlp/dot_general[dimension_numbers=(((1,), (0,)), ((), ()))]",
            "Mlp",
            "dot_general",
            "f",
        ),
        ("jit(f)/while/body/add", "while/body", "add", "f"),
        ("layers.3/self_attn/aten::mm", "layers.3/self_attn", "aten::mm", "f"),
        ("aten::mm", "", "aten::mm", "f"),
    ],
)
def test_a_path_keeps_scopes_and_direction(
    text: str, scope: str, leaf: str, direction: str
) -> None:
    found = op_path(text)
    assert found is not None
    assert "/".join(found.scope) == scope
    assert found.leaf == leaf
    assert found.direction[0] == direction


def test_modules_are_the_scope_without_functions_that_were_compiled_apart() -> None:
    assert op_path("jit(f)/Mlp/jit(silu)/mul") == OpPath(
        ("Mlp", "silu"), ("Mlp",), "mul", "forward"
    )


@pytest.mark.parametrize("text", ["", "jit(step)", "jit(step)/jit(main)", "/"])
def test_the_program_alone_is_not_a_path(text: str) -> None:
    assert op_path(text) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fusion.12", "fusion.9"),
        ("fusion.12.remat2", "fusion"),
        ("loop_add_fusion_3", "loop_add_fusion"),
        ("triton_poi_fused_add_12", "triton_poi_fused_add_7"),
        ("gemm_kernel_128x64x32_stages_3", "gemm_kernel_64x64x64_stages_4"),
        ("attn_fwd_num_warps_8", "attn_fwd_num_warps_4"),
        ("kernel_1a2b3c4d5e6f7a8b", "kernel_99bb3c4d5e6f7a8b"),
        ("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", "nvjet_tst_64x8_64x16_4x1_h_bz_coopA_TNT"),
        (
            "Cijk_Alik_Bljk_BBS_BH_MT128x224x64_MI16x16x1_SN",
            "Cijk_Alik_Bljk_BBS_BH_MT256x128x64_MI16x16x1_SN",
        ),
        ("void scan<float, 4>(int)", "void scan<float, 8>(int)"),
        ("aten::mm [64x64, 64x64] bf16", "aten::mm [128x64, 64x64] bf16"),
    ],
)
def test_a_stem_leaves_out_what_a_build_chose_anew(one: str, other: str) -> None:
    assert stem(one) == stem(other)


_ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::{}<float>>(int)"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fusion.12", "copy.12"),
        (_ELEMENTWISE.format("CUDAFunctor_add"), _ELEMENTWISE.format("AUnaryFunctor")),
        (
            "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn>(P)",
            "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_nn>(P)",
        ),
        ("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT"),
        ("Cijk_Alik_Bljk_BBS_BH_MT128x224x64", "Cijk_Ailk_Bljk_BBS_BH_MT128x224x64"),
        ("sm90_gemm_bf16bf16_f32", "sm90_gemm_f16f16_f32"),
    ],
)
def test_a_stem_keeps_what_says_which_kernel_it_is(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize("name", ["", "<", ")(", "_", "12", "a<b", ">>>", "\ud800", "()"])
def test_hostile_names_have_a_stem(name: str) -> None:
    assert isinstance(stem(name), str)


def test_numbers_in_names_sort_as_numbers() -> None:
    assert sorted(["f.10", "f.9", "f"], key=natural_order) == ["f", "f.9", "f.10"]
