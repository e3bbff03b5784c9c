"""Findings about ops: latency, overlap, memory and compute, grouped by category."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.candidates import bytes_per_call, candidate_of
from roofline.advice.filling import filled
from roofline.advice.findings import Candidate
from roofline.advice.op_groups import OpGroup, op_groups, reason_of
from roofline.advice.op_kinds import ATTENTION, COPY, OPTIMIZER
from roofline.advice.plan import Lever
from roofline.advice.precision import faster_formats, wider_formats
from roofline.advice.rows import Rows
from roofline.advice.shapes import cache_share, weight_share
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import I64
from roofline.model.profile import Provenance

_LEVELS = frozenset(level.value for level in MemoryLevel)
_CLOSED = frozenset({"L2", "O1", "M1", "K1", "K2"})
_OF_OPS = frozenset({*_CLOSED, "L1", "K3", "M2"})
_UNFILLED = frozenset({"K1", "L2", "O1"})
_LAUNCH_KEEPS = 0.5
"""L1: the launches that are left where two calls become one."""


def op_candidates(
    analysis: RooflineAnalysis,
    rows: Rows,
    without: Collection[int] = (),
    told: Collection[int] = (),
) -> Iterator[Candidate]:
    """One candidate per rule, bound and category of the ops that took time, but `without`.

    Of the ops `told` it is said already which of their bytes can go. What several rules say of the
    same ops is one group: their time can be saved once.
    """
    for group, ops in op_groups(analysis, rows, _OF_OPS, without).items():
        found = _of_group(analysis, rows, group, np.array(ops, np.int64), told)
        largest = analysis.profile.ops.name[max(ops, key=lambda op: rows.state.own_us[op])]
        yield from (replace(one, group=f"op:{largest}", kind=group.kind) for one in found)


def _of_group(
    analysis: RooflineAnalysis, rows: Rows, group: OpGroup, ops: I64, told: Collection[int]
) -> Iterator[Candidate]:
    rule, bound, category = group.rule, group.bound, group.category
    if rule in _CLOSED:
        yield _closed(analysis, rows, rule, bound, category, ops)
    elif rule == "L1":
        yield _merged(analysis, rows, bound, category, ops)
    wider = []
    if group.kind != ATTENTION:
        wider = list(wider_formats(analysis, rows, rule, bound, category, ops))
        yield from wider
    # Products leave the vector unit before their work on it is halved.
    if rule == "K3" and group.kind not in {OPTIMIZER, COPY} and not any(one.lever for one in wider):
        yield _less_work(rows, rule, bound, category, ops)
    if rule in {"M1", "M2", "L2"}:
        yield from _fewer_bytes(analysis, rows, group, ops, told)
    if rule in _UNFILLED:
        yield from _filling(analysis, rows, bound, category, ops)
    if rule in {"K1", "K2"} and group.kind != ATTENTION:
        yield from faster_formats(analysis, rows, bound, category, ops)


def _fewer_bytes(
    analysis: RooflineAnalysis, rows: Rows, group: OpGroup, ops: I64, told: Collection[int]
) -> Iterator[Candidate]:
    """G2, G4: bytes that are known to be weights or keys; M2: half of the others."""
    smaller = [
        *_halved(analysis, rows, "G2", weight_share, group, ops),
        *_halved(analysis, rows, "G4", cache_share, group, ops),
    ]
    yield from smaller
    known = {*told, *(op for one in smaller for op in one.ops)}
    rest = np.array([op for op in ops.tolist() if op not in known], np.int64)
    if group.rule == "M2" and len(rest):
        yield _less_work(rows, group.rule, group.bound, group.category, rest)


def target_of(analysis: RooflineAnalysis, bound: str, target: float | None) -> float:
    """The share that tuning reaches of the roof `bound`; `target` where the reader chose one."""
    if target is not None:
        return target
    if bound in _LEVELS or bound.startswith("vector_"):
        return limit.TARGET
    told = next((one.sustained for one in analysis.device.compute if one.id == bound), None)
    if told is not None:
        return told.ratio
    kinds = {DeviceKind.TPU: limit.TARGET_MXU, DeviceKind.GPU: limit.TARGET_GPU_MATRIX}
    return kinds.get(analysis.device.kind, limit.TARGET)


def _closed(
    analysis: RooflineAnalysis, rows: Rows, rule: str, bound: str, category: str, ops: I64
) -> Candidate:
    """The same work nearer to its roof; with counters until its nearest unit is full."""
    target = target_of(analysis, bound, rows.target)
    lever = Lever(rows=ops, target=np.full(len(ops), target))
    share = rows.nearness.share[ops]
    is_counted = analysis.nearest.is_busy_known[ops]
    if is_counted.any():
        busy_us, roof_us = rows.state.busy_us[ops], rows.state.roof_us()[ops]
        full_us = np.where(is_counted, busy_us * share, 0.0)
        lever = Lever(rows=ops, time_us=np.maximum(full_us, roof_us / target))
    return candidate_of(
        rows,
        rule,
        ops,
        lever,
        what=category,
        bound=bound,
        resource="closeness",
        factor=None,
        term="closeness",
        confidence="low",
        target=target,
        reason=reason_of(analysis, ops),
        busy=float(np.nan_to_num(share).mean()),
    )


def _merged(
    analysis: RooflineAnalysis, rows: Rows, bound: str, category: str, ops: I64
) -> Candidate:
    """Two calls as one: half of the overhead goes, the work stays."""
    roof_us, busy_us = rows.state.roof_us()[ops], rows.state.busy_us[ops]
    after_us = roof_us + (busy_us - roof_us) * _LAUNCH_KEEPS
    calls = float(rows.calls[ops].sum())
    return candidate_of(
        rows,
        "L1",
        ops,
        Lever(rows=ops, time_us=after_us),
        what=category,
        bound=bound,
        resource="calls",
        factor=_LAUNCH_KEEPS,
        term="calls",
        confidence="low",
        is_hypothetical=True,
        call_us=float(busy_us.sum()) / calls if calls else 0.0,
    )


def _less_work(rows: Rows, rule: str, bound: str, category: str, ops: I64) -> Candidate:
    """Half of the work of the resource that binds: M2 bytes, K3 vector operations."""
    is_memory = rule == "M2"
    return candidate_of(
        rows,
        rule,
        ops,
        Lever(rows=ops, scale={bound: np.full(len(ops), 0.5)}),
        what=category,
        bound=bound,
        resource=f"{bound}_bytes" if is_memory else f"{bound}_flops",
        factor=0.5,
        term="traffic" if is_memory else "work",
        confidence="low",
        is_hypothetical=True,
    )


def _halved(
    analysis: RooflineAnalysis,
    rows: Rows,
    rule: str,
    share_of: Callable[[str, str, float], float],
    group: OpGroup,
    ops: I64,
) -> Iterator[Candidate]:
    """Weights, or keys and values, stored in one byte where they are most of what an op reads."""
    table, bound = analysis.profile.ops, group.bound
    if bound not in _LEVELS or not MemoryLevel(bound).is_main:
        return
    each = bytes_per_call(analysis, ops).tolist()
    shares: Floats = np.array(
        [
            share_of(table.name[op], table.operands[op], bytes_)
            for op, bytes_ in zip(ops.tolist(), each, strict=True)
        ]
    )
    chosen = shares > limit.WEIGHTS
    if not chosen.any():
        return
    factors = 1 - shares[chosen] / 2
    is_counted = analysis.profile.bytes_provenance is Provenance.MEASURED
    yield candidate_of(
        rows,
        rule,
        ops[chosen],
        Lever(rows=ops[chosen], scale={bound: factors}),
        what=group.category,
        bound=bound,
        resource=f"{bound}_bytes",
        factor=float(factors.mean()),
        term="traffic",
        confidence="high" if is_counted else "medium",
        changes_results=True,
        weights=float(shares[chosen].mean()),
    )


def _filling(
    analysis: RooflineAnalysis, rows: Rows, bound: str, category: str, ops: I64
) -> Iterator[Candidate]:
    """K1: tiles and waves that are not full, where kernel and sizes are known."""
    if not bound.startswith("matrix_"):
        return
    table, processors = analysis.profile.ops, analysis.profile.device.traits.processor_count
    shares = np.array(
        [
            filled(table.name[op], table.operands[op], table.long_name[op], processors) or 1.0
            for op in ops.tolist()
        ]
    )
    chosen = shares < limit.FILLED
    if not chosen.any():
        return
    yield candidate_of(
        rows,
        "K1",
        ops[chosen],
        Lever(rows=ops[chosen], time_us=rows.state.busy_us[ops[chosen]] * shares[chosen]),
        what=category,
        bound=bound,
        resource="tiles",
        factor=float(shares[chosen].mean()),
        term="closeness",
        confidence="high",
        filled=float(shares[chosen].mean()),
    )
