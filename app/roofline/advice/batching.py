"""L3, G3, G4 and G6 as options: another batch, a smaller cache, several tokens per step.

They do more work in the same time, so they are outside the plan. A server's steps say their
phase, batch and bytes; of other profiles the sizes of matrix products tell.
"""

from collections.abc import Iterator
from itertools import pairwise
from math import log2

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.candidates import bytes_per_call, candidate_of
from roofline.advice.findings import Candidate
from roofline.advice.formulas import spec_decode
from roofline.advice.rows import Rows
from roofline.advice.shapes import weight_share
from roofline.advice.tensors import product_of
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.serving_records import ServingGroup
from roofline.model.memory import main_level
from roofline.model.op_columns import I64

_BATCH = "batch"
_DECODE = "decode"


def batch_candidates(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """The options that hold."""
    decodes = [one for one in _groups(analysis) if one.phase == _DECODE]
    yield from _same_time(decodes)
    largest = max(decodes, key=lambda one: one.steps * one.time_us, default=None)
    if largest is not None and _is_memory_bound(largest):
        yield from _of_steps(largest)
    else:
        yield from _of_products(analysis, rows)


def _groups(analysis: RooflineAnalysis) -> tuple[ServingGroup, ...]:
    return analysis.serving.groups if analysis.serving is not None else ()


def _is_memory_bound(group: ServingGroup) -> bool:
    """False where a share is not known."""
    memory, compute = group.bandwidth_ratio, group.flop_ratio
    return memory is not None and compute is not None and memory > compute > 0


def _same_time(decodes: list[ServingGroup]) -> Iterator[Candidate]:
    """L3: steps of a batch at least twice as large take less than a tenth longer per doubling."""
    sized = sorted(
        ((one.sequences, one) for one in decodes if one.sequences), key=lambda pair: pair[0]
    )
    for (small, before), (large, behind) in pairwise(sized):
        doublings, longer = log2(large / small), behind.time_us / before.time_us
        if doublings < 1 or longer >= limit.OPTION**doublings or _uses_memory(behind):
            continue
        yield _option(
            "L3",
            "decode steps",
            large / small / longer,
            before.steps * before.time_us,
            small=small,
            large=large,
            longer=longer,
        )
        return


def _uses_memory(group: ServingGroup) -> bool:
    """True where steps near the roof of the memory explain that the batch costs no time."""
    return group.bandwidth_ratio is not None and group.bandwidth_ratio >= limit.FAR


def _of_steps(group: ServingGroup) -> Iterator[Candidate]:
    """G3, G4, G6 of the steps of one batch; shares of the peaks are clocks over the step's time."""
    memory, compute = group.bandwidth_ratio or 0.0, group.flop_ratio or 0.0
    weights, cache = group.weight_ratio or 0.0, group.cache_ratio or 0.0
    time_us, batch = group.steps * group.time_us, group.sequences or 0.0
    what = "decode steps"
    if weights > limit.WEIGHTS * memory:
        gain = 2 * memory / max(2 * compute, 2 * memory - weights)
        if gain >= limit.OPTION:
            yield _option("G3", what, gain, time_us, small=batch, share=weights / memory)
        verified = limit.DRAFTS + 1
        if memory >= verified * compute:
            gain = spec_decode(alpha=limit.ACCEPTED, k=limit.DRAFTS, draft_ratio=limit.DRAFT_COST)
            yield _option("G6", what, gain, time_us, share=weights / memory)
    if cache > limit.WEIGHTS * memory:
        gain = memory / max(compute, memory - cache / 2)
        yield _option("G4", what, gain, time_us, share=cache / memory)


def _option(rule: str, what: str, gain: float, time_us: float, **facts: float | str) -> Candidate:
    return Candidate(
        rule=rule,
        ops=(),
        what=what,
        resource=_BATCH,
        factor=None,
        lever=None,
        term="",
        confidence="medium" if rule in {"G3", "L3"} else "low",
        time_us=time_us,
        changes_results=True,
        gain=gain,
        facts=facts,
    )


def _of_products(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """G3: products of few rows that mostly read their weights."""
    main = main_level(analysis.levels).value
    if main not in rows.state.clocks:
        return
    found, table = rows.diagnoses, analysis.profile.ops
    ops = np.array(
        [
            op
            for op in np.flatnonzero(rows.state.own_us[: len(table)] > 0).tolist()
            if found.bound[op] == main and found.rule[op] in {"M1", "M2", "L2", "S1"}
        ],
        np.int64,
    )
    shares = _weights(analysis, ops)
    ops, shares = ops[shares > limit.WEIGHTS], shares[shares > limit.WEIGHTS]
    memory_us, compute_us = rows.state.clocks[main][ops], _compute_us(rows, ops)
    known = compute_us > 0
    ops, shares = ops[known], shares[known]
    memory_us, compute_us = memory_us[known], compute_us[known]
    doubled_us = np.maximum(2 * compute_us, memory_us * (2 - shares))
    if not len(ops):
        return
    gain = float(2 * memory_us.sum() / doubled_us.sum())
    if gain < limit.OPTION or rows.state.own_us[ops].sum() < limit.LEAST_SAVING * rows.total_us:
        return
    sizes = np.array([_rows_of(analysis, op) for op in ops.tolist()], np.float64)
    most = sizes * shares * memory_us / compute_us
    yield candidate_of(
        rows,
        "G3",
        ops,
        None,
        what="matmul",
        bound=main,
        resource=_BATCH,
        factor=None,
        term="",
        confidence="medium",
        changes_results=True,
        gain=gain,
        small=float(np.median(sizes)),
        large=float(np.median(most)),
        weights=float(shares.mean()),
    )


def _weights(analysis: RooflineAnalysis, ops: I64) -> Floats:
    table = analysis.profile.ops
    each = bytes_per_call(analysis, ops).tolist()
    return np.array(
        [
            weight_share(table.name[op], table.operands[op], moved)
            for op, moved in zip(ops.tolist(), each, strict=True)
        ],
        np.float64,
    )


def _compute_us(rows: Rows, ops: I64) -> Floats:
    """The longest clock of a compute unit; 0 where none is known."""
    compute = [
        np.nan_to_num(column[ops])
        for name, column in rows.state.clocks.items()
        if name == "compute" or name.startswith(("matrix_", "vector_"))
    ]
    longest: Floats = np.max(compute, axis=0) if compute else np.zeros(len(ops))
    return longest


def _rows_of(analysis: RooflineAnalysis, op: int) -> int:
    table = analysis.profile.ops
    found = product_of(table.name[op], table.operands[op])
    return found.m if found is not None else 0
