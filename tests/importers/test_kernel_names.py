"""Categories of GPU kernels by the names that libraries and compilers give them."""

import pytest

from roofline.importers.shared.kernel_names import is_communication, kernel_category

DISTRIBUTION = "distribution_elementwise_grid_stride_kernel<float, 4, normal_and_transform<float>>"
ITERATOR = "thrust::detail::normal_iterator<thrust::device_ptr<float>>"


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
        ("void copyVectorizedKernel<double>(ArrayNWithReducedDivisors<T6>)", "copy"),
        ("vecCopy(double*, double*, double*, int, int)", "copy"),
        ("triton_poi_fused_add_relu_0", "fused (Inductor)"),
        ("matmul_kernel(float*, float*, float*, int)", "matmul"),
        ("void matrix_mult<32>(int)", "matmul"),
        ("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1", "matmul"),
        ("_finalize_matmul_scatter_bf16", "indexing"),
        (f"void at::native::(anonymous namespace)::{DISTRIBUTION}", "random numbers"),
        (f"void at::native::<unnamed>::{DISTRIBUTION}", "random numbers"),
        ("void gen_sequenced<curandStateXORWOW, float>(int)", "other"),
        ("curand_init_kernel(unsigned long)", "random numbers"),
        ("void cuApplyLayerNorm<float>(float*)", "normalisation"),
        ("void l2_normalize<float>(float*)", "normalisation"),
        ("void thrust_kernel<thrust::detail::normal_iterator<float*>>(int)", "other"),
        (f"void cub::DeviceReduceKernel<{ITERATOR}, normalize_op>", "reduction"),
        (f"void cub::DeviceScanKernel<{ITERATOR}>", "reduction"),
        ("void thrust::_kernel_agent<thrust::__reduce::ReduceAgent<copy>>", "reduction"),
        ("void cub::DeviceRadixSortOnesweepKernel<gather>", "sort"),
        ("void cub::DeviceMergeSortBlockSortKernel<index>", "sort"),
        ("void fill<float>(float*, float)", "copy"),
        ("void vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>", "copy"),
        ("void prefill_step(float*)", "other"),
        ("fill_matrix(float*, int)", "other"),
        ("fill_vector(float*, int)", "other"),
        ("my_secret_sauce", "other"),
        ("", "other"),
    ],
)
def test_name_tells_the_category(name: str, category: str) -> None:
    assert kernel_category(name) == category
    assert is_communication(name) is (category == "communication")
