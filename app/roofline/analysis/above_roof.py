"""Ops above a roof: no op can be faster than the hardware, so each has a cause outside of it."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.causes import EXPLAINED, Cause
from roofline.analysis.context import Context
from roofline.analysis.records import Bools, Measures, RooflineAnalysis, View
from roofline.model.categories import is_vector
from roofline.model.device import DeviceKind
from roofline.model.op_columns import OpColumns
from roofline.model.profile import OpTable, Provenance
from roofline.model.tensors import tensors_of

IMPOSSIBLE = 1.03
"""Above this share of its roof an op is not explained by rounding or by the peak's tolerance."""


def impossible_share(analysis: RooflineAnalysis, view: View) -> float:
    """Share of the time (0 to 1) in ops that seem to run above their roof.

    Ops whose cause is `EXPLAINED` do not count.
    """
    rows = view.every.op
    above = np.nan_to_num(analysis.ops.measures.roofline_efficiency_ratio[rows]) > IMPOSSIBLE
    causes = [analysis.ops.above_roof[op] for op in rows.tolist()]
    above &= np.array([cause not in EXPLAINED for cause in causes], np.bool_)
    return float(np.nan_to_num(view.every.self_share_ratio[above]).sum())


# A share of the roof up to here is 100 % and rounding.
OVER = 1.0005
# Of a launch this short, the clock's own steps are a large part.
_SHORT_PS = 50_000
_FEWER = re.compile("winograd|fft", re.IGNORECASE)
_HALVES = ("-start", "-done")
_MOST_FLOP = 50  # for each number that an op without products writes
# Of such an op of a TPU (a Pallas kernel) the work is what its author says it is. On GPUs they are
# mostly calls of libraries, whose work the compiler knows.
_CUSTOM_CALL = "custom-call"


class Causes(NamedTuple):
    """The likely cause of each op above a compute roof, and above a memory roof."""

    compute: tuple[Cause, ...]
    memory: tuple[Cause, ...]


def causes_above_roof(context: Context, work: OpColumns) -> Causes:
    """Causes of the rows of `work`: the profile's ops, and IDLE behind them."""
    table = context.profile.ops
    launches = np.maximum(work.occurrences, 1).astype(np.float64)
    short = work.self_time_ps.astype(np.float64) < launches * _SHORT_PS
    halves = halves_of(table).tolist()
    fewer = _multiplies_less(context)
    kinds = list(
        zip((*table.category, ""), short.tolist(), (*halves, False), (*fewer, False), strict=True)
    )
    of_kind = {kind: _compute_cause(context, *kind[:2], kind[3]) for kind in set(kinds)}
    compute = [of_kind[kind] for kind in kinds]
    for op in _vector_ops(table, compute):
        compute[op] = _count_cause(work, op, table.results[op])
    memory = {kind: _memory_cause(context, *kind[:3]) for kind in set(kinds)}
    return Causes(tuple(compute), tuple(memory[kind] for kind in kinds))


def _vector_ops(table: OpTable, causes: Sequence[Cause]) -> list[int]:
    """Ops without products that a faster precision was to explain: no vector unit is that fast."""
    every = zip(table.category, causes, strict=False)
    return [
        op
        for op, (kind, cause) in enumerate(every)
        if cause is Cause.FASTER_PRECISION and is_vector(kind)
    ]


def _count_cause(work: OpColumns, op: int, results: str) -> Cause:
    written = sum(tensor.elements for tensor in tensors_of(results)) * int(work.occurrences[op])
    is_high = written and float(work.flop[op]) > _MOST_FLOP * written
    return Cause.COMPILER_COUNT if is_high else Cause.NOT_FOUND


def halves_of(table: OpTable) -> Bools:
    """Starts and ends of asynchronous transfers, which are ops of their own in XLA."""
    rows = zip(table.name, table.category, strict=True)
    found = [c.endswith(_HALVES) or n.partition(".")[0].endswith(_HALVES) for n, c in rows]
    return np.array(found, np.bool_)


def _multiplies_less(context: Context) -> list[bool]:
    """Which ops ran a kernel that needs fewer multiplications than were counted from shapes.

    Winograd's need 1 in 2.25 or 4 (Lavin and Gray, CVPR 2016). Of traces the long name lists the
    kernels of an op; one that is a kernel has its name.
    """
    table = context.profile.ops
    if context.profile.flop_provenance is not Provenance.ESTIMATED:
        return [False] * len(table)
    texts = zip(table.name, table.long_name, strict=True)
    return [_FEWER.search(f"{name} {kernels}") is not None for name, kernels in texts]


def _is_own(context: Context, category: str) -> bool:
    return category == _CUSTOM_CALL and context.profile.device.kind is DeviceKind.TPU


def _compute_cause(context: Context, category: str, is_short: bool, multiplies_less: bool) -> Cause:
    """Why an op seems to do more FLOPs than the peak allows."""
    match context.profile.flop_provenance:
        case Provenance.MEASURED:
            return Cause.OTHER_RUN
        case Provenance.STATED:
            return Cause.STATED
        case Provenance.ESTIMATED if multiplies_less:
            return Cause.FEWER_MULTIPLICATIONS
        case Provenance.ESTIMATED:
            return Cause.MASKED if category == "attention" else Cause.FASTER_PRECISION
    if _is_own(context, category):
        return Cause.OWN_ESTIMATE
    return Cause.SHORT if is_short else Cause.FASTER_PRECISION


def _memory_cause(context: Context, category: str, is_short: bool, is_half: bool) -> Cause:
    """Why an op seems to move more bytes than the memory can."""
    match context.profile.bytes_provenance:
        case Provenance.MEASURED:
            return Cause.OTHER_RUN
        case Provenance.STATED:
            return Cause.STATED
        case Provenance.ESTIMATED:
            return Cause.CACHED
    if is_half:
        return Cause.ASYNCHRONOUS
    if _is_own(context, category):
        return Cause.OWN_ESTIMATE
    if is_short:
        return Cause.SHORT
    return Cause.COMPILER_ESTIMATE if context.profile.ops.traffic_known.any() else Cause.ON_CHIP


def above_roof(measures: Measures, causes: Causes, moves: Bools) -> tuple[Cause | None, ...]:
    """The cause where a row's share of its roof is above 100 %, `None` elsewhere.

    Rows of `moves` are bound by a link; their traffic in memories is held against these all the
    same.
    """
    of_link = np.nan_to_num(measures.roofline_efficiency_ratio) > OVER
    of_memory = np.nan_to_num(measures.memory_utilisation_ratio) > OVER
    over: Bools = of_link | (moves & of_memory)
    is_compute = measures.bound == roofline.COMPUTE_BOUND
    kinds = np.select([~over, of_link & moves, is_compute], [0, 1, 2], default=3)
    rows = zip(kinds.tolist(), causes.compute, causes.memory, strict=True)
    return tuple((None, Cause.LINK, compute, memory)[kind] for kind, compute, memory in rows)
