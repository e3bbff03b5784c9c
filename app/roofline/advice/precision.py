"""V5 and G5: matrix products in a number format for which the device has a higher peak."""

from collections.abc import Iterator

import numpy as np

from roofline.advice.candidates import candidate_of
from roofline.advice.findings import Candidate
from roofline.advice.plan import Lever
from roofline.advice.rows import Rows
from roofline.advice.tensors import tensors_of
from roofline.analysis.op_clocks import MAIN
from roofline.analysis.records import RooflineAnalysis
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind
from roofline.model.op_columns import I64

_WIDE = frozenset({"vector_fp32", "matrix_fp32"})
_LOWER = {
    ComputeUnit.MATRIX_BF16: (ComputeUnit.MATRIX_FP8, ComputeUnit.MATRIX_INT8),
    ComputeUnit.MATRIX_FP16: (ComputeUnit.MATRIX_FP8, ComputeUnit.MATRIX_INT8),
    ComputeUnit.MATRIX_TF32: (ComputeUnit.MATRIX_BF16, ComputeUnit.MATRIX_FP16),
}
_IN_ONE_PASS = (ComputeUnit.MATRIX_TF32, ComputeUnit.MATRIX_BF16)
_PRODUCTS = frozenset({"matmul", "convolution", "dot"})
_NARROW = frozenset({"bf16", "fp16", "fp8", "int8", "fp4", "int4"})


def faster_formats(
    analysis: RooflineAnalysis, rows: Rows, bound: str, category: str, ops: I64
) -> Iterator[Candidate]:
    """G5: the work of a matrix unit in the next smaller format, where it is faster there."""
    unit = _unit(analysis, bound)
    if unit in _LOWER:
        yield from _in_format(analysis, rows, "G5", bound, category, ops, _LOWER[unit])


def wider_formats(
    analysis: RooflineAnalysis, rows: Rows, rule: str, bound: str, category: str, ops: I64
) -> Iterator[Candidate]:
    """V5: products of fp32 on a unit without tensor cores; and fp32 tensors under a narrow roof.

    The second is a GPU's alone: a TPU multiplies fp32 tensors in bf16 unless told otherwise.
    """
    if category not in _PRODUCTS:
        return
    if bound in _WIDE and rule != "L1":
        yield from _in_format(analysis, rows, "V5", bound, category, ops, _IN_ONE_PASS)
        return
    unit = _unit(analysis, bound)
    if analysis.device.kind is not DeviceKind.GPU or unit is None:
        return
    operands = analysis.profile.ops.operands
    wide = [op for op in ops.tolist() if {one.dtype for one in tensors_of(operands[op])} == {"f32"}]
    if wide and unit.is_matrix and unit.precision.value in _NARROW:
        yield candidate_of(
            rows,
            "V5",
            np.array(wide, np.int64),
            None,
            what=category,
            bound=bound,
            resource="",
            factor=None,
            term="",
            confidence="medium",
        )


def _in_format(
    analysis: RooflineAnalysis,
    rows: Rows,
    rule: str,
    bound: str,
    category: str,
    ops: I64,
    others: tuple[ComputeUnit, ...],
) -> Iterator[Candidate]:
    now = _peak(analysis, bound)
    peaks = [(analysis.device.unit_gflops(unit) or 0.0, unit) for unit in others]
    faster = [(gflops, unit) for gflops, unit in peaks if now and gflops > now]
    if not faster:
        return
    gflops, unit = min(faster, key=lambda one: one[0])
    ratio = now / gflops
    yield candidate_of(
        rows,
        rule,
        ops,
        Lever(rows=ops, scale={bound: np.full(len(ops), ratio)}),
        what=category,
        bound=bound,
        resource="peak",
        factor=ratio,
        term="peaks",  # as many FLOPs by another unit
        confidence="medium",
        changes_results=True,
        precision=unit.precision.value,
    )


def _unit(analysis: RooflineAnalysis, bound: str) -> ComputeUnit | None:
    """The unit behind a compute clock; `None` for a main peak without a known precision."""
    found = next((unit for unit in ComputeUnit if unit.value == bound), None)
    if found is not None or bound != MAIN or not analysis.device.compute:
        return found
    main, is_tpu = analysis.device.compute[0], analysis.device.kind is DeviceKind.TPU
    covered = main.covers if is_tpu else ()
    return main.unit or next((unit for unit in covered if unit in _LOWER), None)


def _peak(analysis: RooflineAnalysis, bound: str) -> float:
    units = {unit.value: gflops for unit, gflops in analysis.peaks.unit_gflops.items()}
    return units.get(bound, analysis.peaks.gflops)
