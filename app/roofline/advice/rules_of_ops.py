"""Findings about ops: latency, overlap, memory and compute, grouped by category."""

from collections.abc import Collection, Iterator

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.findings import Candidate, Confidence
from roofline.advice.plan import Lever
from roofline.advice.rows import Rows
from roofline.advice.shapes import weight_share
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import I64
from roofline.model.profile import Provenance

_LEVELS = frozenset(level.value for level in MemoryLevel)
_CLOSED = ("L2", "O1", "M1", "K1")
_LAUNCH_KEEPS = 0.5
"""L1: the launches that are left where two calls become one."""


def op_candidates(
    analysis: RooflineAnalysis, rows: Rows, without: Collection[int] = ()
) -> Iterator[Candidate]:
    """One candidate per rule, bound and category of the ops that took time, but `without`."""
    for (rule, bound, category), ops in _groups(analysis, rows, without).items():
        chosen = np.array(ops, np.int64)
        if rule in _CLOSED:
            yield _closed(analysis, rows, rule, bound, category, chosen)
        elif rule == "L1":
            yield _merged(analysis, rows, bound, category, chosen)
        elif rule == "K2":
            yield _faster_precision(analysis, rows, bound, category, chosen)
        elif rule in {"M2", "K3"}:
            yield _less_work(analysis, rows, rule, bound, category, chosen)
        if rule in {"M1", "M2", "L2"}:
            yield from _weights(analysis, rows, bound, category, chosen)


def _groups(
    analysis: RooflineAnalysis, rows: Rows, without: Collection[int]
) -> dict[tuple[str, str, str], list[int]]:
    found, table = rows.diagnoses, analysis.profile.ops
    groups: dict[tuple[str, str, str], list[int]] = {}
    for op in np.flatnonzero(rows.state.own_us[: len(table)] > 0).tolist():
        bound = found.bound[op]
        if op in without:
            continue
        if bound is not None and found.rule[op] in {*_CLOSED, "L1", "K2", "K3", "M2"}:
            key = found.rule[op], bound, table.category[op]
            groups.setdefault(key, []).append(op)
    return groups


def _candidate(
    rows: Rows,
    rule: str,
    ops: I64,
    lever: Lever | None,
    *,
    what: str,
    bound: str,
    resource: str,
    factor: float | None,
    term: str,
    confidence: Confidence,
    **facts: float | str,
) -> Candidate:
    own_us = rows.state.own_us[ops]
    busy_us = float(rows.state.busy_us[ops].sum())
    order = np.argsort(-own_us, kind="stable")
    beside = {one for op in ops.tolist() for one in rows.diagnoses.also[op]}
    return Candidate(
        rule=rule,
        ops=tuple(ops[order].tolist()),
        what=what,
        resource=resource,
        factor=factor,
        lever=lever,
        term=term,
        confidence=confidence,
        e=float(rows.state.roof_us()[ops].sum()) / busy_us if busy_us else None,
        bound=bound,
        time_us=float(own_us.sum()),
        also=tuple(sorted(beside)),
        facts={"calls": float(rows.calls[ops].sum()), **facts},
    )


def target_of(analysis: RooflineAnalysis, bound: str, target: float | None) -> float:
    """What tuning reaches of the roof `bound`; `target` where the reader chose one."""
    if target is not None:
        return target
    if bound in _LEVELS or bound.startswith("vector_"):
        return limit.TARGET
    kinds = {DeviceKind.TPU: limit.TARGET_MXU, DeviceKind.GPU: limit.TARGET_GPU_MATRIX}
    return kinds.get(analysis.device.kind, limit.TARGET)


def _closed(
    analysis: RooflineAnalysis, rows: Rows, rule: str, bound: str, category: str, ops: I64
) -> Candidate:
    """The same work nearer to its roof."""
    target = target_of(analysis, bound, rows.target)
    return _candidate(
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
    return _candidate(
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
    return _candidate(
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


def _faster_precision(
    analysis: RooflineAnalysis, rows: Rows, bound: str, category: str, ops: I64
) -> Candidate:
    """The same matrix work at the next lower precision of the device, where it has one."""
    now = _peak(analysis, bound)
    lower = [
        peak
        for peak in analysis.device.compute
        if peak.unit is not None
        and peak.unit.is_matrix
        and peak.unit.value in {"matrix_fp8", "matrix_int8"}
        and now
        and peak.gflops > now
        and bound not in {"matrix_fp8", "matrix_int8", "matrix_fp64", "matrix_fp4"}
    ]
    if not lower:
        return _closed(analysis, rows, "K2", bound, category, ops)
    peak = min(lower, key=lambda one: one.gflops)
    ratio = now / peak.gflops
    return _candidate(
        rows,
        "K2",
        ops,
        Lever(rows=ops, scale={bound: np.full(len(ops), ratio)}),
        what=category,
        bound=bound,
        resource="peak",
        factor=ratio,
        term="peaks",
        confidence="medium",
        precision=peak.unit.precision.value if peak.unit else "",
    )


def _peak(analysis: RooflineAnalysis, bound: str) -> float:
    units = {unit.value: gflops for unit, gflops in analysis.peaks.unit_gflops.items()}
    return units.get(bound, analysis.peaks.gflops)


def _weights(
    analysis: RooflineAnalysis, rows: Rows, bound: str, category: str, ops: I64
) -> Iterator[Candidate]:
    """G2: weights stored in one byte, where they are most of what a matrix product reads."""
    table = analysis.profile.ops
    if bound not in _LEVELS or not MemoryLevel(bound).is_main:
        return
    calls = np.maximum(table.occurrences[ops].astype(np.float64), 1)
    shares: Floats = np.array(
        [
            weight_share(table.name[op], table.operands[op], bytes_)
            for op, bytes_ in zip(
                ops.tolist(), (table.bytes_accessed[ops] / calls).tolist(), strict=True
            )
        ]
    )
    chosen = shares > limit.WEIGHTS
    if not chosen.any():
        return
    factors = 1 - shares[chosen] / 2
    is_counted = analysis.profile.bytes_provenance is Provenance.MEASURED
    yield _candidate(
        rows,
        "G2",
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
