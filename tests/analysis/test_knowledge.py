"""Rates, intensities and bounds use what is known, and say of which share of the time it is."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions, Cost, RooflineAnalysis
from roofline.analysis.roofline import COMPUTE_BOUND, UNKNOWN_BOUND
from roofline.devices.choice import PeakChoice
from roofline.devices.resolve import resolve
from roofline.exports.answering import answer_of
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile, Provenance
from roofline.pipeline import analyse_files
from roofline.presentation.sentences import plain_text
from roofline.presentation.verdict import lines_of
from tests.builders import analysis_on, profile_from_table, reported
from tests.profiles import imported

SHARED = Path(__file__).resolve().parents[3] / "shared"
SAMPLES = SHARED / "samples"
HBM_BOUND = COMPUTE_BOUND + 1
needs_shared = pytest.mark.skipif(not SAMPLES.is_dir(), reason="real files lie in ../shared")

# matmul: both known; conv: bytes unknown; add: FLOPs unknown; secret: neither.
OPS = """
op     | category    | self_us | flop | hbm_bytes
matmul | matmul      | 600     | 3e8  | 6e6
conv   | convolution | 100     | 8e7  | 0
add    | elementwise | 200     | 0    | 1e7
secret | custom-call | 100     | 0    | 0
"""


def partly_known(table: str = OPS, **provenance: Any) -> Profile:
    profile = profile_from_table(table)
    names = np.array(profile.ops.name)
    flop_known, bytes_known = np.isin(names, ["matmul", "conv"]), np.isin(names, ["matmul", "add"])
    ops = replace(
        profile.ops,
        flop_known=flop_known,
        bytes_known=bytes_known,
        cost_known=flop_known | bytes_known,
    )
    return replace(profile, ops=ops, **provenance)


def analysed(profile: Profile, **device: Any) -> RooflineAnalysis:
    described = reported(**device) if device else profile.device
    return analysis_on(profile, resolve(described))


def said(analysis: RooflineAnalysis) -> str:
    lines = lines_of(analysis, answer_of(analysis))
    text = plain_text([*lines.headline, *lines.lead])
    return text.replace("\u202f", " ").replace("\u00a0", " ")


def test_costs_say_what_is_known() -> None:
    assert analysed(partly_known()).ops.cost[:4] == (
        Cost.KNOWN,
        Cost.BYTES_UNKNOWN,
        Cost.FLOPS_UNKNOWN,
        Cost.UNKNOWN,
    )


def test_known_shares_are_of_the_busy_time() -> None:
    known = analysed(partly_known()).with_infeed.known
    assert (known.flop, known.bytes, known.both) == pytest.approx((0.7, 0.8, 0.6))


def test_bytes_alone_place_an_op_where_formulas_are_for_the_operators_that_compute() -> None:
    estimated = {"flop_provenance": Provenance.ESTIMATED, "bytes_provenance": Provenance.ESTIMATED}
    analysis = analysed(partly_known(**estimated))
    assert analysis.with_infeed.known.both == pytest.approx(0.8)
    assert analysis.ops.measures.bound[2] == HBM_BOUND
    assert math.isnan(analysis.ops.measures.flop_rate_gflops[2])


def test_rates_use_all_that_is_known_and_say_that_they_are_lower_bounds() -> None:
    program = analysed(partly_known()).with_infeed.program
    assert program.measures.flop_rate_gflops[0] == pytest.approx(3.8e8 / 1e6)
    assert program.measures.memory_bandwidth_gibs[0] == pytest.approx(1.6e7 / 1e-3 / 2**30)
    assert program.flop_is_least[0]
    assert program.bytes_is_least[0]


def test_intensity_and_bound_use_ops_with_flops_and_bytes() -> None:
    measures = analysed(partly_known()).with_infeed.program.measures
    assert measures.operational_intensity[0] == pytest.approx(3e8 / 6e6)
    assert measures.bound[0] == COMPUTE_BOUND
    assert measures.roofline_efficiency_ratio[0] == pytest.approx(3e8 / 1e6 / 1000)
    # The point is drawn at the rate of these ops: share × attainable.
    height = measures.attainable_gflops[0] * measures.roofline_efficiency_ratio[0]
    assert height == pytest.approx(300)


def test_steps_have_no_place_where_they_do_not_tell_these_ops_apart() -> None:
    placement = analysed(partly_known()).with_infeed.program.placement
    assert placement is not None
    assert placement.flop_rate_gflops[0] == pytest.approx(300)


@pytest.mark.parametrize("known_us", [499, 501])
def test_most_of_the_busy_time_must_be_known_for_a_bound(known_us: int) -> None:
    table = f"op|self_us|flop|hbm_bytes\nk|{known_us}|2e8|1e3\nu|{1000 - known_us}|–|–"
    analysis = analysed(profile_from_table(table, idle_us=100))
    measures = analysis.with_infeed.program.measures
    is_bound = known_us > 500
    assert bool(measures.bound[0] == COMPUTE_BOUND) is is_bound
    assert math.isnan(measures.operational_intensity[0]) is not is_bound
    assert measures.flop_rate_gflops[0] == pytest.approx(2e8 / 1.1e6)
    assert ("compute-bound" if is_bound else "is not known") in said(analysis)


def test_a_lower_bound_of_zero_is_unknown() -> None:
    """A copy beside unknown kernels does not mean that the program does no arithmetic."""
    table = "op|category|self_us|flop|hbm_bytes\ncopy|copy|10|0|1e6\nk|other|90|–|–"
    measures = analysed(profile_from_table(table)).with_infeed.program.measures
    assert math.isnan(measures.flop_rate_gflops[0])
    assert measures.memory_bandwidth_gibs[0] > 0


def test_comparison_mode_knows_all_costs() -> None:
    analysis = analyse(partly_known(), resolve(reported()), AnalysisOptions(xprof_compat=True))
    measures = analysis.with_infeed.program.measures
    assert measures.operational_intensity[0] == pytest.approx(3.8e8 / 1.6e7)
    assert analysis.with_infeed.program.placement is None


# ------------------------------------------------------------------------------------ peaks unknown


def int8_kernel(share: float) -> Profile:
    """A kernel that does `share` of its FLOPs on a unit without a peak, the rest in fp32."""
    profile = profile_from_table("op|self_us|flop|hbm_bytes\nk|1000|1e8|1e6")
    int8 = (profile.ops.flop * share).astype(np.uint64)
    units = {ComputeUnit.MATRIX_INT8: int8, ComputeUnit.VECTOR_FP32: profile.ops.flop - int8}
    device = reported(gflops=None, unit_gflops={ComputeUnit.VECTOR_FP32: 1000.0})
    return replace(profile, ops=replace(profile.ops, unit_flop=units), device=device)


def test_work_on_a_unit_without_a_peak_has_no_bound() -> None:
    analysis = analysed(int8_kernel(0.9))
    measures = analysis.ops.measures
    assert measures.bound[0] == UNKNOWN_BOUND
    assert math.isnan(measures.roofline_efficiency_ratio[0])
    assert math.isnan(measures.compute_efficiency_ratio[0])
    # Its place beside the memory's roof is known all the same.
    assert measures.bottleneck_intensity[0] == pytest.approx(100)
    assert analysis.roof_of_unit(int(measures.unit[0])) is None
    assert said(analysis).startswith("1.00 ms of operation time. Choose the device to see what")


def test_a_small_part_of_such_work_changes_no_bound() -> None:
    analysis = analysed(int8_kernel(0.1))
    assert analysis.ops.measures.bound[0] == COMPUTE_BOUND


def test_no_work_needs_no_peak() -> None:
    table = "op|self_us|flop|hbm_bytes\ncopy|500|0|1e7\nspin|500|1e8|0"
    moving = analysed(profile_from_table(table), gflops=None)
    assert moving.ops.measures.bound[:2].tolist() == [HBM_BOUND, UNKNOWN_BOUND]
    computing = analysed(profile_from_table(table), gibs={})
    assert computing.ops.measures.bound[:2].tolist() == [UNKNOWN_BOUND, COMPUTE_BOUND]


# --------------------------------------------------------------------------------------- real files


def analysed_file(name: str) -> RooflineAnalysis:
    return analyse_files([SAMPLES / name])


@needs_shared
@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("pytorch/a100_no_shapes.json.gz", 0.023),
        ("pytorch/mi300x_sglang_decode.json.gz", 0.010),
        ("minimal/partial_total.json", 0.01),
    ],
)
def test_no_verdict_from_the_copies_alone(name: str, share: float) -> None:
    analysis = analysed_file(name)
    view = analysis.with_infeed
    assert view.known.both == pytest.approx(share, abs=0.001)
    assert view.program.measures.bound[0] == UNKNOWN_BOUND
    assert math.isnan(view.program.measures.flop_rate_gflops[0])
    text = said(analysis)
    assert "-bound" not in text
    assert "is not known." in text


@needs_shared
def test_flops_and_bytes_of_different_ops_make_no_intensity() -> None:
    """FLOPs of convolutions ÷ bytes of copies once were 6,428 FLOP/byte."""
    peaks = PeakChoice(gflops={None: 15_700.0}, gbs={MemoryLevel.HBM: 900.0})
    path = SAMPLES / "pytorch/v100_kineto_2021_resnet.json.gz"
    analysis = analyse_files([path], choice=peaks)
    measures = analysis.with_infeed.program.measures
    assert analysis.with_infeed.known.flop > 0.4
    assert analysis.with_infeed.known.both < 0.1
    assert measures.flop_rate_gflops[0] > 3000
    assert math.isnan(measures.operational_intensity[0])
    assert measures.bound[0] == UNKNOWN_BOUND


@needs_shared
def test_int8_work_is_not_called_memory_bound_where_its_peak_is_unknown() -> None:
    """The A40's int8 kernels stand 4 times above the fp32 roof, the only one that was measured."""
    path = SAMPLES / "nsight_compute/a40_2022.1_imma_indexspaces-74de19f.ncu-rep"
    profile = imported(path)
    alone = analysis_on(profile, resolve(profile.device, catalogue=False))
    measures = alone.with_infeed.program.measures
    assert measures.bound[0] == UNKNOWN_BOUND
    assert math.isnan(measures.roofline_efficiency_ratio[0])
    assert answer_of(alone).verdict.ceiling == "alu"  # its counters say it without that peak


def test_no_flops_in_the_known_part_of_the_time_are_no_rate_of_all_of_it() -> None:
    """A copy of 600 us has none; a custom call of 400 us any number: "≥ 0" says nothing."""
    profile = partly_known("op|category|self_us|flop|hbm_bytes\nmatmul|copy|600|0|6e6\nx|y|400|0|0")
    rates = analysed(profile).with_infeed.program.measures.flop_rate_gflops
    assert np.isnan(rates[0])
