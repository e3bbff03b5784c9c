"""Categories of GPU kernels by the names that libraries and compilers give them."""

import pytest

from roofline.importers.shared.kernel_names import is_communication, kernel_category


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("ampere_h16816gemm_128x128_ldg8_stages_64x3_nn", "matmul"),
        ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32", "matmul"),
        ("void cutlass::Kernel<cutlass_80_tensorop_s1688>", "matmul"),
        ("sm80_xmma_fprop_implicit_gemm_f16", "convolution"),
        ("fmha_cutlassF_f16_aligned_64x64_rf_sm80", "attention"),
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "communication"),
        ("void at::native::reduce_kernel<512, 1>", "reduction"),
        ("void at::native::vectorized_elementwise_kernel<4>", "elementwise"),
        ("vecCopy(double*, double*, double*, int, int)", "copy"),
        ("triton_poi_fused_add_relu_0", "fused (Inductor)"),
        ("my_secret_sauce", "other"),
        ("", "other"),
    ],
)
def test_name_tells_the_category(name: str, category: str) -> None:
    assert kernel_category(name) == category
    assert is_communication(name) is (category == "communication")
