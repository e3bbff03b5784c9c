"""How names of operations are shown: tests/golden/names/names.json, for both languages.

After a change of the short forms write it again with `python -m tests.tools.golden_names`, and read
the difference.
"""

import json
from pathlib import Path
from typing import Any

from roofline.analysis.short_names import middle_cut, short_name

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "names" / "names.json"

_ELEMENTWISE = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::{}, std::array<char*, 3ul> >"
    "(int, at::native::{}, std::array<char*, 3ul>)"
)
_FUNCTORS = (
    "CUDAFunctor_add<c10::BFloat16>",
    "BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >",
    "rsqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() "
    "const::{lambda(float)#1}",
    "(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() "
    "const::{lambda(c10::BFloat16)#1}",
)
_EIGEN = (
    "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<"
    "Eigen::TensorMap<Eigen::Tensor<Eigen::half, 1, 1, long>, 16, Eigen::MakePointer>, {}, "
    "Eigen::GpuDevice>, long>(Eigen::half, long)"
)
NAMES = (
    "fusion.1",
    "broadcast_add_fusion.2",
    "IDLE",
    "__amd_rocclr_copyBuffer.kd",
    "aten::mm [8944x1024, 1024x2816] bf16",
    "aten::_flash_attention_forward [16x559x16x64, 16x559x16x64] bf16 causal",
    "aten::cat [2 tensors]",
    "triton_poi_fused__to_copy_1",
    "triton_red_fused_add_mean_mul_pow_rsqrt_12",
    "Memcpy DtoD (Device -> Device)",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256_MI16x16x1_SN_LDSB1_AFC1_AFEM1",
    "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_",
    "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassIDF16b",
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>(P)",
    "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, int)",
    "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
    "julia_bb_4477(CuDeviceArray<Int8x4, (int)1, (int)1>, CuDeviceArray<Int32, (int)1, (int)1>)",
    "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, true, 512>(int, int, int)",
    *(_ELEMENTWISE.format(one, one) for one in _FUNCTORS),
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, "
    "float, float, float>, unsigned int, float, 4> >(at::native::ReduceOp<float>)",
    _EIGEN.format("Eigen::TensorConversionOp<Eigen::half, Eigen::Tensor<float const, 1>>"),
    _EIGEN.format("Eigen::TensorCwiseBinaryOp<Eigen::internal::scalar_product_op<Eigen::half>>"),
    # Not what they look like: these stay as they are.
    "a<b>c(d",
    "x > y (z)",
    "<b>bold</b>",
    "_Z",
    "_ZN99short",
    "שלום_עולם",
)
_CUTS = (
    ("", 8),
    ("short", 8),
    ("exactly8", 8),
    ("vmap_splash_mha_dkv_segmented_block_kv_512_k_layout_1_q_layout_1", 24),
    ("abcdefghij", 3),
    ("𝛼𝛽𝛾𝛿𝜀𝜁𝜂𝜃", 8),
    ("𝛼𝛽𝛾𝛿𝜀𝜁𝜂𝜃𝜄𝜅", 8),
)


def document() -> dict[str, Any]:
    """What the file must hold."""
    found = [(name, short_name(name)) for name in NAMES]
    return {
        "short": [[name, one.text, list(one.chips)] for name, one in found],
        "cut": [[text, width, middle_cut(text, width)] for text, width in _CUTS],
    }


def written() -> str:
    """The file's text."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(written(), "utf-8")
