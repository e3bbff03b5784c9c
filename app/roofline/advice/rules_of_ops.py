"""Findings about ops: latency, overlap, memory and compute, grouped by category."""

from collections.abc import Callable, Collection, Iterator

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.candidates import bytes_per_call, candidate_of
from roofline.advice.filling import filled
from roofline.advice.findings import Candidate
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
_CLOSED = ("L2", "O1", "M1", "K1", "K2")
_UNFILLED = ("K1", "L2", "O1")
_LAUNCH_KEEPS = 0.5
"""L1: the launches that are left where two calls become one."""


def op_candidates(
    analysis: RooflineAnalysis,
    rows: Rows,
    without: Collection[int] = (),
    told: Collection[int] = (),
) -> Iterator[Candidate]:
    """One candidate per rule, bound and category of the ops that took time, but `without`.

    Of the ops `told` it is said already which of their bytes can go.
    """
    for (rule, bound, category), ops in _groups(analysis, rows, without).items():
        chosen = np.array(ops, np.int64)
        if rule in _CLOSED:
            yield _closed(analysis, rows, rule, bound, category, chosen)
        elif rule == "L1":
            yield _merged(analysis, rows, bound, category, chosen)
        wider = list(wider_formats(analysis, rows, rule, bound, category, chosen))
        yield from wider
        # Products leave the vector unit before their work on it is halved.
        if rule == "K3" and not any(one.lever for one in wider):
            yield _less_work(analysis, rows, rule, bound, category, chosen)
        if rule in {"M1", "M2", "L2"}:
            smaller = [
                *_weights(analysis, rows, bound, category, chosen),
                *_cached(analysis, rows, bound, category, chosen),
            ]
            yield from smaller
            known = {*told, *(op for one in smaller for op in one.ops)}
            rest = np.array([op for op in ops if op not in known], np.int64)
            if rule == "M2" and len(rest):
                yield _less_work(analysis, rows, rule, bound, category, rest)
        if rule in _UNFILLED:
            yield from _filling(analysis, rows, bound, category, chosen)
        if rule in {"K1", "K2"}:
            yield from faster_formats(analysis, rows, bound, category, chosen)


def _groups(
    analysis: RooflineAnalysis, rows: Rows, without: Collection[int]
) -> dict[tuple[str, str, str], list[int]]:
    found, table = rows.diagnoses, analysis.profile.ops
    groups: dict[tuple[str, str, str], list[int]] = {}
    for op in np.flatnonzero(rows.state.own_us[: len(table)] > 0).tolist():
        bound = found.bound[op]
        if op in without:
            continue
        if bound is not None and found.rule[op] in {*_CLOSED, "L1", "K3", "M2"}:
            key = found.rule[op], bound, table.category[op]
            groups.setdefault(key, []).append(op)
    return groups


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
    """The same work nearer to its roof."""
    target = target_of(analysis, bound, rows.target)
    return candidate_of(
        rows,
        rule,
        ops,
        Lever(rows=ops, target=np.full(len(ops), target)),
        what=category,
        bound=bound,
        resource="closeness",
        factor=None,
        term="closeness",
        confidence="low",
        target=target,
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
        call_us=float(busy_us.sum()) / calls if calls else 0.0,
    )


def _less_work(
    analysis: RooflineAnalysis, rows: Rows, rule: str, bound: str, category: str, ops: I64
) -> Candidate:
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
        confidence="medium" if is_memory else "low",
    )


def _weights(
    analysis: RooflineAnalysis, rows: Rows, bound: str, category: str, ops: I64
) -> Iterator[Candidate]:
    """G2: weights stored in one byte, where they are most of what a matrix product reads."""
    yield from _halved(analysis, rows, "G2", weight_share, bound, category, ops)


def _cached(
    analysis: RooflineAnalysis, rows: Rows, bound: str, category: str, ops: I64
) -> Iterator[Candidate]:
    """G4: keys and values stored in one byte, where they are most of what attention reads."""
    yield from _halved(analysis, rows, "G4", cache_share, bound, category, ops)


def _halved(
    analysis: RooflineAnalysis,
    rows: Rows,
    rule: str,
    share_of: Callable[[str, str, float], float],
    bound: str,
    category: str,
    ops: I64,
) -> Iterator[Candidate]:
    table = analysis.profile.ops
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
        what=category,
        bound=bound,
        resource=f"{bound}_bytes",
        factor=float(factors.mean()),
        term="traffic",
        confidence="high" if is_counted else "medium",
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
