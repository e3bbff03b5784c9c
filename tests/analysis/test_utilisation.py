"""MFU, HFU and memory-bandwidth utilisation, by hand-computed programs."""

from dataclasses import replace

import pytest

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.utilisation import Utilisation, recomputed_share, utilisation_of
from roofline.devices.resolve import resolve
from roofline.exports.answering import answer_of
from roofline.exports.text import describe
from roofline.model.compute import ComputeUnit
from roofline.model.profile import Provenance
from tests.builders import analysis_on, profile_from_table, reported

TABLE = """op|category|self_us|flop|hbm_bytes
a|convolution|600|3e8|1e7
b|convolution|200|1e8|1e7
c|loop fusion|200|0|3e7
"""
FORWARD, AGAIN = "jit(step)/dot_general", "jit(step)/checkpoint/rematted_computation/dot_general"


def analysed(paths: tuple[str, str, str], table: str = TABLE) -> RooflineAnalysis:
    profile = profile_from_table(table)
    profile = replace(profile, ops=replace(profile.ops, framework_path=paths))
    return analysis_on(profile)


def used(paths: tuple[str, str, str], table: str = TABLE) -> Utilisation:
    analysis = analysed(paths, table)
    return utilisation_of(analysis, analysis.with_infeed)


def test_recomputation_counts_for_the_hardware_but_not_for_the_model() -> None:
    found = used((FORWARD, AGAIN, FORWARD))
    assert found.hfu_ratio == pytest.approx(4e8 / 1e-3 / 1e12)
    assert found.recomputed_flop_ratio == pytest.approx(0.25)
    assert found.mfu_ratio == pytest.approx(0.3)
    assert found.memory_bandwidth_ratio == pytest.approx(5e7 / 1e-3 / (100 * 2**30))


def test_without_paths_recomputation_and_mfu_are_unknown() -> None:
    found = used(("", FORWARD, FORWARD))
    assert found.mfu_ratio is None
    assert found.recomputed_flop_ratio is None
    assert found.hfu_ratio == pytest.approx(0.4)


def test_frameworks_that_do_not_name_recomputation_leave_mfu_unknown() -> None:
    profile = analysed((FORWARD, FORWARD, FORWARD)).profile
    assert recomputed_share(profile) == 0
    assert recomputed_share(replace(profile, flop_provenance=Provenance.ESTIMATED)) is None


def test_unknown_work_makes_a_lower_bound() -> None:
    found = used((FORWARD, FORWARD, FORWARD), TABLE.replace("200|1e8|1e7", "200|–|–"))
    assert found.flop_is_least
    assert found.bytes_is_least


def test_a_program_without_flops_has_no_recomputed_share() -> None:
    profile = profile_from_table("op|category|self_us|flop|hbm_bytes\nc|copy|200|0|3e7")
    assert recomputed_share(profile) is None


@pytest.mark.covers(30, 31, 91)
def test_the_report_names_them() -> None:
    analysis = analysed((FORWARD, AGAIN, FORWARD))
    text = describe(analysis, analysis.with_infeed, answer_of(analysis))
    assert (
        "Utilisation of the whole capture: MFU 30.0 %, HFU 40.0 %, memory bandwidth 46.6 %" in text
    )


@pytest.mark.covers(90)
def test_a_program_without_products_is_held_against_the_unit_that_it_uses() -> None:
    """By hand: 2e8 FLOPs of fp64 in 1 ms are 0.2 of 1 TFLOP/s, whatever tensor cores can do."""
    device = reported(
        gflops=None,
        unit_gflops={ComputeUnit.MATRIX_BF16: 1e5, ComputeUnit.VECTOR_FP64: 1000.0},
    )
    profile = profile_from_table(
        "op|category|self_us|flop|hbm_bytes\na|fusion|1000|2e8|1e7", device=device
    )
    flop = profile.ops.flop
    for unit, peak, ratio in (
        (ComputeUnit.VECTOR_FP64, 1000.0, 0.2),
        (ComputeUnit.MATRIX_BF16, 1e5, 0.002),
    ):
        ops = replace(profile.ops, unit_flop={unit: flop})
        counted = replace(profile, ops=ops)
        analysis = analysis_on(counted, resolve(device))
        found = utilisation_of(analysis, analysis.with_infeed)
        assert found.peak_gflops == peak
        assert found.hfu_ratio == pytest.approx(ratio)
