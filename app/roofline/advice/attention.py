"""G4: attention whose scores go through the main memory, in PyTorch operators."""

from collections.abc import Iterator

import numpy as np

from roofline.advice.candidates import bytes_per_call, candidate_of
from roofline.advice.findings import Candidate
from roofline.advice.plan import Lever
from roofline.advice.rows import Rows
from roofline.advice.shapes import is_softmax
from roofline.advice.tensors import Product, product_of, tensors_of
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.model.memory import main_level
from roofline.model.op_columns import I64

_INNER = frozenset({"Softmax", "Dropout"})
_PASSED_ON = frozenset({"elementwise", "copy", "reduction", "softmax", "other", "normalisation"})


def score_candidates(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """One candidate per module that computes a softmax over the product of two matrices."""
    main = main_level(analysis.levels).value
    if main not in rows.state.clocks:
        return
    for module, ops in _attention_modules(analysis, rows).items():
        scores = _scores(analysis, ops)
        if scores is None:
            continue
        moved = bytes_per_call(analysis, ops)
        left: Floats = 1 - np.minimum(
            np.array([_score_bytes(analysis, op, scores) for op in ops.tolist()])
            / np.where(moved > 0, moved, np.inf),
            1.0,
        )
        chosen = left < 1
        if not _is_attention(analysis, ops[chosen]):
            continue
        ops, left = ops[chosen], left[chosen]
        clock_us = np.nan_to_num(rows.state.clocks[main][ops])
        yield candidate_of(
            rows,
            "G4",
            ops,
            Lever(rows=ops, scale={main: left}),
            what=module.rpartition("/")[2] or "attention",
            bound=main,
            resource=f"{main}_bytes",
            factor=float((clock_us * left).sum() / (clock_us.sum() or 1.0)),
            term="traffic",
            confidence="medium",
            scores=1.0,
        )


def _attention_modules(analysis: RooflineAnalysis, rows: Rows) -> dict[str, I64]:
    """Ops by the module that calls them, of modules that call a softmax."""
    table, modules = analysis.profile.ops, dict[str, list[int]]()
    for op in np.flatnonzero(rows.state.own_us[: len(table)] > 0).tolist():
        modules.setdefault(_module(table.framework_path[op]), []).append(op)
    return {
        name: np.array(ops, np.int64)
        for name, ops in modules.items()
        if name and any(is_softmax(table.name[op]) for op in ops)
    }


def _module(path: str) -> str:
    """The module around an operator: not the softmax itself."""
    parents = path.split("/")[:-1]
    while parents and parents[-1] in _INNER:
        parents.pop()
    return "/".join(parents)


def _scores(analysis: RooflineAnalysis, ops: I64) -> int | None:
    """How many scores the module's softmax reads; `None` where that is not one number."""
    table = analysis.profile.ops
    sizes = {
        max((one.elements for one in tensors_of(table.operands[op])), default=0)
        for op in ops.tolist()
        if is_softmax(table.name[op])
    }
    return sizes.pop() if len(sizes) == 1 else None


def _score_bytes(analysis: RooflineAnalysis, op: int, scores: int) -> float:
    """Bytes of scores that a call reads and writes."""
    table = analysis.profile.ops
    found, inputs = _product(analysis, op), tensors_of(table.operands[op])
    read = [one for one in inputs if one.elements == scores]
    if found is not None:
        written = found.batch * found.m * found.n == scores
        return sum(one.bytes for one in read) + (
            scores * found.first.element_bytes if written else 0.0
        )
    if not read or not (table.category[op] in _PASSED_ON or is_softmax(table.name[op])):
        return 0.0
    return sum(one.bytes for one in read) + read[0].bytes


def _product(analysis: RooflineAnalysis, op: int) -> Product | None:
    table = analysis.profile.ops
    return product_of(table.name[op], table.operands[op])


def _is_attention(analysis: RooflineAnalysis, ops: I64) -> bool:
    """True where two products have the scores as result, and as input."""
    return sum(_product(analysis, op) is not None for op in ops.tolist()) >= 2
