"""Chains of memory-bound ops that could be one kernel: bytes, time, and the roof that ends it.

A fused chain moves what its members leave of the main memory's traffic (`fusion`), does all of
their arithmetic, and keeps their closeness to the roof. The arithmetic is held against the vector
unit too, whatever roof the ops were held against: T' = max(all clocks, F / vector peak) / e.
"""

from collections.abc import Iterator

import numpy as np

from roofline.advice.findings import Chain
from roofline.advice.formula import IMPOSSIBLE
from roofline.advice.rule import Run
from roofline.advice.rules.fusion import Fusible, fusible
from roofline.advice.rules.validity import vector_gflops
from roofline.model.op_columns import F64, I64, U64
from roofline.model.tensors import tensors_of
from roofline.model.units import GIGA, US_PER_S

VECTOR = "vector unit"
_LEAST = 0.001  # of the time
_MOST = 50


def chains_of(run: Run) -> tuple[Chain, ...]:
    """The chains that save at least 0.1 % of the time, the largest saving first."""
    chains = [chain for members in fusible(run) for chain in _fused(run, members)]
    worth = [chain for chain in chains if chain.saving_us > _LEAST * run.total_us]
    return tuple(sorted(worth, key=lambda chain: -chain.saving_us)[:_MOST])


def _fused(run: Run, members: Fusible) -> Iterator[Chain]:
    """The chain as one kernel; nothing where its ops are above their roof."""
    ops, state = members.ops, run.state.at(members.ops)
    busy_us, own_us = float(state.busy_us.sum()), float(state.own_us.sum())
    needs = float(state.roof_us().sum())
    if not 0 < needs <= IMPOSSIBLE.value * busy_us:
        return
    clocks = {name: float(np.nansum(column)) for name, column in state.clocks.items()}
    clocks[run.main] = float((state.clocks[run.main] * members.factors).sum())
    flop, is_estimate = _flop(run, ops)
    peak = vector_gflops(run.analysis) * GIGA / US_PER_S
    if peak:
        clocks[VECTOR] = flop / peak
    longest = max(clocks, key=lambda name: clocks[name])
    then_us = min(max(clocks[longest] * busy_us / needs, clocks[longest]), busy_us)
    moved = _per_unit(run, ops, run.table.bytes_accessed)
    yield Chain(
        ops=tuple(ops.tolist()),
        what=members.what,
        known_by=members.known_by,
        calls=float(run.calls[ops].max()),
        now_us=own_us,
        after_us=own_us * then_us / busy_us,
        bytes_now=float(moved.sum()),
        bytes_after=float((moved * members.factors).sum()),
        flop=flop,
        is_flop_estimated=is_estimate,
        limited_by=longest,
    )


def _flop(run: Run, ops: I64) -> tuple[float, bool]:
    """FLOPs of the ops, and whether shapes stand in: one FLOP per element of the largest tensor.

    Profilers count few elementwise operators. What the profile says of an op goes first.
    """
    table = run.table
    counted = np.nan_to_num(_per_unit(run, ops, table.flop))
    tensors = [tensors_of(f"{table.operands[op]}; {table.results[op]}") for op in ops.tolist()]
    largest = np.array([max((t.elements for t in row), default=0) for row in tensors], np.float64)
    by_shapes = largest * run.calls[ops]
    stands_in = (counted <= 0) & (by_shapes > 0)
    return float(np.where(stands_in, by_shapes, counted).sum()), bool(stands_in.any())


def _per_unit(run: Run, ops: I64, column: F64 | U64) -> F64:
    calls = np.maximum(run.table.occurrences[ops].astype(np.float64), 1)
    per_call: F64 = column[ops].astype(np.float64) / calls
    return per_call * run.calls[ops]
