"""The share of the compute roof of an op whose unit is not known: a sentence with two ends."""

import math

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.undecided import units_of
from roofline.model.compute import ComputeUnit

_WORDS = {
    ComputeUnit.VECTOR_FP32: "fp32",
    ComputeUnit.MATRIX_FP32: "matrix fp32",
    ComputeUnit.MATRIX_TF32: "TF32",
    ComputeUnit.VECTOR_FP64: "vector fp64",
    ComputeUnit.MATRIX_FP64: "matrix fp64",
}


def compute_range(analysis: RooflineAnalysis, op: int) -> str:
    """As in "8 to 64 % of its compute roof: fp32 or TF32 is not known"; empty for other ops."""
    words = [_WORDS[unit] for unit in units_of(analysis.profile.ops, op)]
    measures = analysis.ops.measures
    low, high = float(measures.compute_low_ratio[op]), float(measures.compute_high_ratio[op])
    if not words or math.isnan(low) or math.isnan(high):
        return ""
    return (
        f"{100 * low:.0f} to {100 * high:.0f} % of its compute roof: "
        f"{', '.join(words[:-1])} or {words[-1]} is not known"
    )
