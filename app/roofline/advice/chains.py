"""Chains of memory-bound ops that could be one kernel: bytes, time, and the roof that ends it.

A fused chain moves what its members leave of the main memory's traffic (`fusion`), does all of
their arithmetic, and keeps their closeness to the roof. The arithmetic is held against the vector
unit too, whatever roof the ops were held against: T' = max(all clocks, F / vector peak) / e.
"""

from collections.abc import Iterator

import numpy as np

from roofline.advice.chain import Chain
from roofline.advice.fusion import Fusible, fusible
from roofline.advice.rows import Rows
from roofline.advice.tensors import tensors_of
from roofline.advice.thresholds import IMPOSSIBLE
from roofline.advice.wrong_unit import vector_gflops
from roofline.analysis.records import RooflineAnalysis
from roofline.model.memory import main_level
from roofline.model.op_columns import F64, I64, U64
from roofline.model.units import GIGA, US_PER_S

VECTOR = "vector unit"
_LEAST = 0.001  # of the time
_MOST = 50


def chains_of(analysis: RooflineAnalysis, rows: Rows) -> tuple[Chain, ...]:
    """The chains that save at least 0.1 % of the time, the largest saving first."""
    found = [one for one in _chains(analysis, rows) if one.saving_us > _LEAST * rows.total_us]
    return tuple(sorted(found, key=lambda one: -one.saving_us)[:_MOST])


def _chains(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Chain]:
    for one in fusible(analysis, rows):
        chain = _fused(analysis, rows, one)
        if chain is not None:
            yield chain


def _fused(analysis: RooflineAnalysis, rows: Rows, one: Fusible) -> Chain | None:
    """The chain as one kernel; `None` where its ops are above their roof."""
    main, table = main_level(analysis.levels).value, analysis.profile.ops
    state, ops = rows.state.at(one.ops), one.ops
    busy_us, own_us = float(state.busy_us.sum()), float(state.own_us.sum())
    needs = float(state.roof_us().sum())
    if not 0 < needs <= IMPOSSIBLE * busy_us:
        return None
    clocks = {name: float(np.nansum(column)) for name, column in state.clocks.items()}
    clocks[main] = float((state.clocks[main] * one.factors).sum())
    flop, is_estimate = _flop(analysis, rows, ops)
    peak = vector_gflops(analysis) * GIGA / US_PER_S
    if peak:
        clocks[VECTOR] = flop / peak
    longest = max(clocks, key=lambda name: clocks[name])
    then_us = min(max(clocks[longest] * busy_us / needs, clocks[longest]), busy_us)
    moved = _per_unit(rows, ops, table.bytes_accessed, table.occurrences)
    return Chain(
        ops=tuple(ops.tolist()),
        what=one.what,
        known_by=one.known_by,
        calls=float(rows.calls[ops].max()),
        now_us=own_us,
        after_us=own_us * then_us / busy_us,
        bytes_now=float(moved.sum()),
        bytes_after=float((moved * one.factors).sum()),
        flop=flop,
        is_flop_estimated=is_estimate,
        limited_by=longest,
    )


def _flop(analysis: RooflineAnalysis, rows: Rows, ops: I64) -> tuple[float, bool]:
    """FLOPs of the ops, and whether shapes stand in: one FLOP per element of the largest tensor.

    Profilers count few elementwise operators. What the profile says of an op goes first.
    """
    table = analysis.profile.ops
    told = np.nan_to_num(_per_unit(rows, ops, table.flop, table.occurrences))
    tensors = [tensors_of(f"{table.operands[op]}; {table.results[op]}") for op in ops.tolist()]
    largest = np.array([max((t.elements for t in one), default=0) for one in tensors], np.float64)
    by_shapes = largest * rows.calls[ops]
    stands_in = (told <= 0) & (by_shapes > 0)
    return float(np.where(stands_in, by_shapes, told).sum()), bool(stands_in.any())


def _per_unit(rows: Rows, ops: I64, column: F64 | U64, occurrences: I64) -> F64:
    calls = np.maximum(occurrences[ops].astype(np.float64), 1)
    per_call: F64 = column[ops].astype(np.float64) / calls
    return per_call * rows.calls[ops]
