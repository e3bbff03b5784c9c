"""The compute unit of PyTorch's work: device and element type first, the kernel's name second."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.analysis.above_roof import impossible_share
from roofline.analysis.causes import Cause
from roofline.analysis.records import UNDECIDED
from roofline.analysis.roofline import COMPUTE_BOUND, UNKNOWN_BOUND
from roofline.analysis.subjects.choose import choose
from roofline.analysis.undecided import units_of
from roofline.analysis.utilisation import utilisation_of
from roofline.exports.render import render
from roofline.importers.pytorch.words import matrix_precisions, unit_of, working_kernel
from roofline.model.compute import ComputeUnit, UndecidedUnit
from roofline.model.memory import MemoryLevel
from roofline.presentation.op_details import compute_range, op_details
from tests.builders import analysis_on
from tests.importers.kineto_profiles import needs_shared, profile_of, row, shared_profile
from tests.tools.make_kineto_traces import FP32, KinetoTrace

A100 = {"name": "NVIDIA A100-SXM4-80GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}
VECTOR, TF32 = ComputeUnit.VECTOR_FP32, ComputeUnit.MATRIX_TF32
EITHER = UndecidedUnit.FP32
GEMM = "some_gemm_of_a_library"


@pytest.mark.parametrize(
    ("part", "dtype", "unit"),
    [
        ("sm_60", "fp64", ComputeUnit.VECTOR_FP64),
        ("sm_60", "fp32", VECTOR),
        ("sm_60", "fp16", ComputeUnit.VECTOR_FP16),
        ("sm_70", "fp64", ComputeUnit.VECTOR_FP64),
        ("sm_70", "fp32", VECTOR),
        ("sm_70", "fp16", ComputeUnit.MATRIX_FP16),
        ("sm_70", "bf16", VECTOR),
        ("sm_70", "int8", ComputeUnit.VECTOR_INT8),
        ("sm_70", "fp8", UndecidedUnit.ANY),
        ("sm_75", "fp32", VECTOR),
        ("sm_75", "bf16", VECTOR),
        ("sm_75", "int8", ComputeUnit.MATRIX_INT8),
        ("sm_80", "fp64", UndecidedUnit.FP64),
        ("sm_80", "fp32", EITHER),
        ("sm_80", "bf16", ComputeUnit.MATRIX_BF16),
        ("sm_80", "fp8", UndecidedUnit.ANY),
        ("sm_86", "fp64", ComputeUnit.VECTOR_FP64),
        ("sm_86", "fp32", EITHER),
        ("sm_89", "fp8", ComputeUnit.MATRIX_FP8),
        ("sm_89", "fp64", ComputeUnit.VECTOR_FP64),
        ("sm_90", "fp64", UndecidedUnit.FP64),
        ("sm_90", "fp8", ComputeUnit.MATRIX_FP8),
        ("sm_90", "fp4", UndecidedUnit.ANY),
        ("sm_100", "fp64", UndecidedUnit.FP64),
        ("sm_100", "fp4", ComputeUnit.MATRIX_FP4),
        ("sm_120", "fp64", ComputeUnit.VECTOR_FP64),
        ("sm_120", "fp4", ComputeUnit.MATRIX_FP4),
        ("gfx908", "fp64", ComputeUnit.VECTOR_FP64),
        ("gfx908", "fp32", UndecidedUnit.FP32_OR_MATRIX),
        ("gfx90a", "fp64", UndecidedUnit.FP64),
        ("gfx90a", "fp32", UndecidedUnit.FP32_OR_MATRIX),
        ("gfx90a", "fp8", UndecidedUnit.ANY),
        ("gfx942", "fp32", UndecidedUnit.FP32_OR_XF32),
        ("gfx942", "fp8", ComputeUnit.MATRIX_FP8),
        ("gfx950", "fp32", UndecidedUnit.FP32_OR_MATRIX),
        ("gfx950", "fp4", ComputeUnit.MATRIX_FP4),
        ("", "fp32", UndecidedUnit.FP32_OR_XF32),
        ("", "bf16", ComputeUnit.MATRIX_BF16),
        ("sm_90", "", UndecidedUnit.ANY),
        ("sm_90", "complex64", UndecidedUnit.ANY),
    ],
)
def test_device_and_element_type_decide_first(
    part: str, dtype: str, unit: ComputeUnit | UndecidedUnit
) -> None:
    assert unit_of(dtype, GEMM, matrix_precisions(part, "", [])) is unit


@pytest.mark.parametrize(
    ("part", "dtype", "kernel", "unit"),
    [
        ("sm_80", "fp32", "ampere_sgemm_128x64_tn", VECTOR),
        ("sm_80", "fp32", "cutlass_80_tensorop_s1688gemm_128x64", TF32),
        ("sm_80", "fp32", "cutlass_80_simt_sgemm_128x32_8x5_nn_align1", VECTOR),
        ("sm_80", "fp32", "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n", TF32),
        ("sm_80", "fp32", "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n", VECTOR),
        ("sm_80", "fp32", "gemvNSP_kernel", VECTOR),
        ("sm_80", "fp32", "void dot_kernel<float, 128, 0>", VECTOR),
        ("sm_90", "fp32", "nvjet_sst_64x64", EITHER),
        ("sm_70", "fp32", "volta_s884cudnn_fp32_128x128_ldg1_ldg4_relu", ComputeUnit.MATRIX_FP16),
        ("sm_75", "fp32", "turing_h884gemm_64x128_ldg8_nn", ComputeUnit.MATRIX_FP16),
        ("sm_70", "fp32", "cutlass_tensorop_s1688gemm_128x64", VECTOR),
        ("sm_80", "fp64", "cutlass_80_tensorop_d884gemm", ComputeUnit.MATRIX_FP64),
        ("sm_86", "fp64", "cutlass_80_tensorop_d884gemm", ComputeUnit.VECTOR_FP64),
        ("sm_90", "fp64", "volta_dgemm_64x64_nn", ComputeUnit.VECTOR_FP64),
        ("sm_90", "bf16", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn", ComputeUnit.MATRIX_BF16),
        ("sm_90", "fp16", "gemvNSP_kernel", VECTOR),
        ("sm_90", "bf16", "void at::native::reduce_kernel<512, 1>", VECTOR),
        ("sm_90", "bf16", "void splitKreduce_kernel<32, 16>", ComputeUnit.MATRIX_BF16),
        ("sm_90", "fp16", "cutlass_simt_hgemm_256x128", UndecidedUnit.ANY),
        ("sm_90", "fp8", "sm90_xmma_gemm_e4m3bf16_e4m3f32", ComputeUnit.MATRIX_FP8),
        ("sm_70", "", "volta_sgemm_64x64_nt", VECTOR),
        ("gfx90a", "fp32", "Cijk_Alik_Bljk_SB_MT64x16x32_MI16x16x1_SN", ComputeUnit.MATRIX_FP32),
        ("gfx90a", "fp32", "Cijk_Alik_Bljk_SB_MT64x16x32_SN", VECTOR),
        ("gfx942", "fp32", "Cijk_Alik_Bljk_S_MX_B_Bias_MT64x16x32_MI16x16x1_SN", TF32),
        ("gfx942", "fp16", "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8", ComputeUnit.MATRIX_FP16),
        ("gfx942", "int8", "Cijk_Alik_Bljk_I8II_BH_MI16x16x64", ComputeUnit.MATRIX_INT8),
        ("gfx942", "fp16", "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32", UndecidedUnit.ANY),
        ("gfx942", "fp16", "Cijk_Ailk_Bljk_Z9_MT128x128x32", UndecidedUnit.ANY),
    ],
)
def test_where_two_units_remain_the_name_of_the_kernel_decides(
    part: str, dtype: str, kernel: str, unit: ComputeUnit | UndecidedUnit
) -> None:
    assert unit_of(dtype, kernel, matrix_precisions(part, "", [])) is unit


def test_a_program_that_forbids_tf32_runs_on_the_vector_unit() -> None:
    assert unit_of("fp32", GEMM, matrix_precisions("sm_80", "", []), tf32=False) is VECTOR


def test_amds_part_follows_from_the_devices_name_or_from_tensiles() -> None:
    of_name = matrix_precisions("", "AMD Instinct MI300X VF", [])
    kernel = "Cijk_Alik_Bljk_SB_Bias_MT64x16x32_MI16x16x1_EPS0_ISA90a_IU1"
    of_kernel = matrix_precisions("", "AMD Radeon Graphics", ["copy", kernel])
    assert of_name == matrix_precisions("gfx942", "", [])
    assert of_kernel == matrix_precisions("gfx90a", "", [])


def test_a_kernel_that_only_helps_does_not_tell_the_unit() -> None:
    kernels = {"splitKreduce_kernel": (1, 900), "ampere_sgemm": (1, 300), "copy": (1, 100)}
    assert working_kernel(kernels) == "ampere_sgemm"
    assert working_kernel({}) == ""


def range_trace() -> KinetoTrace:
    """Products in fp32 on an A100, by a kernel whose name tells nothing.

    At fp32's 19.5 TFLOP/s, TF32's 156 and 2,039 GB/s they reach, in this order: 64, 8 and 1 %;
    16, 2 and 38 %; 80, 10 and 39 %.
    """
    trace = KinetoTrace(device=A100)
    for (m, k), lasts_us in (((4096, 4096), 11_013.0), ((8192, 8), 344.0), ((8192, 40), 344.0)):
        trace.call("aten::mm", [((m, k), FP32), ((k, m), FP32)], (GEMM, lasts_us))
    return trace


def test_undecided_work_has_a_range(tmp_path: Path) -> None:
    analysis = analysis_on(profile_of(tmp_path, range_trace()))
    measures, table = analysis.ops.measures, analysis.profile.ops
    large, thin, middle = (row(analysis.profile, f"aten::mm [{m}]") for m in SIZES)
    ends = np.stack([measures.compute_low_ratio, measures.compute_high_ratio], axis=1)
    assert ends[large] == pytest.approx([0.08, 0.64], rel=1e-3)
    assert ends[thin] == pytest.approx([0.02, 0.16], rel=1e-2)
    assert ends[middle] == pytest.approx([0.1, 0.8], rel=1e-2)
    assert units_of(table, large) == (VECTOR, TF32)
    words = "8 to 64 % of its compute roof: fp32 or TF32 is not known"
    assert compute_range(analysis, large) == words
    assert words in b"".join(op_details(analysis)).decode()
    # The same bound at both ends: the low end counts.
    assert measures.bound[large] == COMPUTE_BOUND
    assert measures.compute_efficiency_ratio[large] == pytest.approx(0.08, rel=1e-3)
    assert analysis.level_of(int(measures.bound[thin])) is MemoryLevel.HBM
    # Another one at each end: the use of compute is not known, that of the memory is.
    assert measures.bound[middle] == UNKNOWN_BOUND
    assert np.isnan(measures.compute_efficiency_ratio[middle])
    assert measures.unit[middle] == UNDECIDED
    (note,) = (one for one in analysis.diagnostics if one.code == "unit-undecided")
    assert note.message.startswith("The compute unit of 3 ops is not known (Matrix tf32, Vector")
    assert note.message.endswith("For 1 the bound depends on it and is unknown.")
    assert measures.utilisation_ratio[MemoryLevel.HBM][middle] == pytest.approx(0.386, rel=0.01)


SIZES = ("4096x4096, 4096x4096", "8192x8, 8x8192", "8192x40, 40x8192")


def test_a_program_of_undecided_bound_says_so_and_has_no_mfu(tmp_path: Path) -> None:
    trace = KinetoTrace(device=A100)
    trace.call("aten::mm", [((8192, 40), FP32), ((40, 8192), FP32)], (GEMM, 344.0))
    analysis = analysis_on(profile_of(tmp_path, trace))
    view = analysis.with_infeed
    assert utilisation_of(analysis, view).hfu_ratio is None
    assert view.program.measures.bound[0] == UNKNOWN_BOUND
    assert choose(analysis).parts.unknown == pytest.approx(344.0)
    assert "vector_fp32 or matrix_tf32" in render(analysis, "json", infeed=True).decode()


def test_an_argument_that_forbids_tf32_leaves_no_range(tmp_path: Path) -> None:
    tensors = [((8, 64, 56, 56), FP32), ((64, 64, 3, 3), FP32)]
    values = ["", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False"]
    for allowed, is_known in (("False", True), ("True", False)):
        trace = KinetoTrace(device=A100)
        trace.call("aten::cudnn_convolution", tensors, (GEMM, 900.0), values=[*values, allowed])
        profile = profile_of(tmp_path, trace)
        flop = profile.ops.unit_flop if is_known else profile.ops.undecided_flop
        assert int(sum(column.sum() for column in flop.values())) == int(profile.ops.flop.sum()) > 0


def test_winograd_is_no_doubt(tmp_path: Path) -> None:
    """Half of the time at 2.2 times the peak: a convolution that multiplies less than counted."""
    tensors = [((32, 64, 56, 56), FP32), ((64, 64, 3, 3), FP32)]
    values = ["", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False", "False"]
    kernels = ("ampere_sgemm_32x128_nt", 150.0), ("winogradForwardOutput4x4<float>", 20.0)
    trace = KinetoTrace(device=A100)
    trace.call("aten::cudnn_convolution", tensors, *kernels, values=values)
    analysis = analysis_on(profile_of(tmp_path, trace))
    assert analysis.ops.measures.roofline_efficiency_ratio[0] == pytest.approx(2.232, rel=1e-3)
    assert analysis.ops.above_roof[0] is Cause.FEWER_MULTIPLICATIONS
    assert impossible_share(analysis, analysis.with_infeed) == 0
    assert "above-compute-peak" not in {note.code for note in analysis.diagnostics}


@needs_shared
def test_fp32_on_a_v100_is_the_vector_units(tmp_path: Path) -> None:
    """Convolutions in fp32 were held against 125 TFLOP/s of the tensor cores: memory seemed nearer.

    Its cuDNN kernels have no unit in their names (`dgrad_engine<float, …>`).
    """
    analysis = analysis_on(shared_profile("v100_kineto_2021_four_workers", tmp_path))
    measures, table = analysis.ops.measures, analysis.profile.ops
    count = len(table)
    busy = table.self_time_ps / table.self_time_ps.sum()

    def held(shares: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Any:
        return np.clip(np.nan_to_num(shares[:count]), 0, 1) * busy

    compute = held(measures.compute_efficiency_ratio)
    products = np.isin(table.category, ["convolution", "matmul"])
    assert compute[products].sum() == pytest.approx(0.284, abs=0.005)
    assert compute[~products].max() < 0.001
    assert held(measures.utilisation_ratio[MemoryLevel.HBM]).sum() == pytest.approx(
        0.222, abs=0.001
    )
    assert analysis.units == (VECTOR,)
    assert set(measures.unit[:count][table.flop > 0].tolist()) == {0}
    assert not any(column.any() for column in table.undecided_flop.values())
    assert measures.bound[np.argmax(table.flop)] == COMPUTE_BOUND
    assert analysis.with_infeed.program.measures.bound[0] == COMPUTE_BOUND
    assert Cause.FEWER_MULTIPLICATIONS in analysis.ops.above_roof
