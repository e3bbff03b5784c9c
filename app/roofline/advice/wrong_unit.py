"""V4: work of the vector unit that is held against the matrix unit's peak."""

from collections.abc import Iterator

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.findings import Candidate
from roofline.advice.rows import Rows
from roofline.analysis.op_clocks import MAIN
from roofline.analysis.records import RooflineAnalysis
from roofline.devices.catalogue import part as part_of
from roofline.model.compute import ComputeUnit

# A matrix product is never in a fusion of these kinds.
_VECTOR = frozenset(
    {
        "elementwise",
        "reduction",
        "normalisation",
        "normalization",
        "softmax",
        "loop fusion",
        "input fusion",
        "non-fusion elementwise",
        "reduce",
    }
)


def wrong_unit(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """Vector work whose own roof is nearer than the roof that the profile's peak gives it."""
    matrix, vector = _matrix_gflops(analysis), vector_gflops(analysis)
    clock_us = rows.state.clocks.get(MAIN)
    if not matrix or not vector or clock_us is None:
        return
    count = len(rows.calls)
    is_vector = np.array([one in _VECTOR for one in analysis.profile.ops.category], np.bool_)
    busy_us, roof_us = rows.state.busy_us[:count], rows.state.roof_us()[:count]
    needs_us = np.nan_to_num(clock_us[:count]) * matrix / vector
    ops = np.flatnonzero(
        is_vector & (needs_us > roof_us) & (needs_us <= limit.IMPOSSIBLE * busy_us) & (busy_us > 0)
    )
    own_us = rows.state.own_us[ops]
    if not own_us.sum() >= limit.LEAST_SAVING * rows.total_us > 0:
        return
    whole_us = float(busy_us[ops].sum())
    yield Candidate(
        rule="V4",
        ops=tuple(ops[np.argsort(-own_us, kind="stable")].tolist()),
        what="vector unit",
        resource="",
        factor=None,
        lever=None,
        term="",
        confidence="high",
        e=float(roof_us[ops].sum()) / whole_us,
        time_us=float(own_us.sum()),
        facts={"ratio": float(needs_us[ops].sum()) / whole_us},
    )


def _matrix_gflops(analysis: RooflineAnalysis) -> float:
    """The main peak, where it is that of a matrix unit."""
    main = analysis.device.compute[0] if analysis.device.compute else None
    units = [] if main is None else [*([main.unit] if main.unit else main.covers)]
    return main.gflops if main is not None and any(unit.is_matrix for unit in units) else 0.0


def vector_gflops(analysis: RooflineAnalysis) -> float:
    """The vector unit's peak at fp32, of the device or its part; 0 where it is not known."""
    own = analysis.device.unit_gflops(ComputeUnit.VECTOR_FP32)
    part = part_of(analysis.device.part_id or "")
    published = [] if part is None else part.compute()
    return own or next(
        (peak.gflops for peak in published if peak.unit is ComputeUnit.VECTOR_FP32), 0.0
    )
