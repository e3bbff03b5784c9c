"""The same FLOPs on another compute unit: a change of peaks, named by the units."""

from pathlib import Path

import pytest

from roofline.compare.changes import Comparison
from roofline.compare.comparison import compare
from roofline.compare.from_analysis import run_of
from roofline.compare.run import Run
from roofline.exports.comparison_words import change_verdict, term_label
from roofline.presentation.sentences import plain_text
from tests.builders import analysis_on
from tests.importers.kineto_profiles import profile_of
from tests.tools.make_kineto_traces import FP32, MI300X, KinetoTrace

A100 = {"name": "NVIDIA A100-SXM4-80GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}
FAST, SLOW = "cutlass_80_tensorop_s1688gemm_128x128", "ampere_sgemm_128x128_nn"


def run(folder: Path, kernel: str, lasts_us: float, device: dict[str, object] = A100) -> Run:
    """One product of 4096 x 4096 in fp32."""
    trace = KinetoTrace(device=device)
    trace.call("aten::mm", [((4096, 4096), FP32)] * 2, (kernel, lasts_us))
    profile = profile_of(folder, trace)
    return run_of(analysis_on(profile))


def compared(a: Run, b: Run) -> Comparison:
    return compare([a], [b])


def test_a_slower_unit_is_peaks_and_is_named(tmp_path: Path) -> None:
    found = compared(run(tmp_path, FAST, 1_101.0), run(tmp_path, SLOW, 8_808.0))
    assert found.terms["work"] == 0
    assert found.terms["peaks"] == pytest.approx(7_707, rel=1e-3)
    assert found.terms["closeness"] == pytest.approx(0, abs=1)
    assert term_label(found, "peaks") == "slower units (TF32 tensor cores → fp32)"
    lead = plain_text(change_verdict(found).split).replace("\N{NO-BREAK SPACE}", " ")
    assert "Slower units: +7.71 ms (TF32 tensor cores → fp32). " in lead


def test_a_faster_unit_of_amd_is_a_matrix_core(tmp_path: Path) -> None:
    slow, fast = "Cijk_Alik_Bljk_SB_MT64_SN", "Cijk_Alik_Bljk_S_MX_B_MT64_MI16x16x1_SN"
    found = compared(run(tmp_path, slow, 2_000.0, MI300X), run(tmp_path, fast, 500.0, MI300X))
    assert found.terms["work"] == 0 > found.terms["peaks"]
    assert term_label(found, "peaks") == "faster units (fp32 → TF32 matrix cores)"


def test_undecided_units_on_both_sides_are_no_change_of_units(tmp_path: Path) -> None:
    found = compared(run(tmp_path, "some_gemm", 11_000.0), run(tmp_path, "some_gemm", 12_000.0))
    assert found.terms["closeness"] == pytest.approx(1_000)
    assert found.terms["peaks"] == found.terms["work"] == 0
    assert term_label(found, "peaks") == "peaks"
