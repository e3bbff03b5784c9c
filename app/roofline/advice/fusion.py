"""G1: memory-bound ops that hand tensors to each other through the main memory.

Neighbours are known in two cases: a compiled program names the producers of its operands, and ops
that one module of a PyTorch program calls itself run one after the other.
"""

import re
from collections.abc import Iterator

import numpy as np

from roofline.advice.findings import Candidate
from roofline.advice.plan import Lever
from roofline.advice.rows import Rows
from roofline.advice.shapes import is_in_main_memory, tensor_bytes
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.model.memory import MemoryLevel, main_level
from roofline.model.op_columns import I64

_MEMORY_BOUND = frozenset({"M1", "M2", "L1", "L2", "S1"})
_FUSED_AS_ONE = frozenset({"elementwise", "reduction", "copy", "normalization", "norm", "softmax"})
_OPERATOR = "aten::"
_FORMAT = re.compile(r"\b([a-z]+\d+)\[")


def fusion_candidates(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """Chains of memory-bound ops, one candidate per module or program."""
    main = main_level(analysis.levels)
    if main.value not in rows.state.clocks:
        return
    found, table = rows.diagnoses, analysis.profile.ops
    bound = {
        op
        for op in np.flatnonzero(rows.state.own_us[: len(table)] > 0).tolist()
        if found.bound[op] == main.value and found.rule[op] in _MEMORY_BOUND
    }
    yield from _of_modules(analysis, rows, bound, main)
    yield from _of_graphs(analysis, rows, bound, main)


def _of_modules(
    analysis: RooflineAnalysis, rows: Rows, bound: set[int], main: MemoryLevel
) -> Iterator[Candidate]:
    """Ops that one module calls: fused, each call of it moves what its largest op moves."""
    table, modules = analysis.profile.ops, dict[str, list[int]]()
    for op in sorted(bound):
        module, _, operator = table.framework_path[op].rpartition("/")
        category = table.category[op]
        fuses = category in _FUSED_AS_ONE and not _only_moves(category, table.operands[op])
        if module and operator.startswith(_OPERATOR) and fuses:
            modules.setdefault(module, []).append(op)
    for module, ops in modules.items():
        if len(ops) < 2:
            continue
        chosen = np.array(ops, np.int64)
        calls, needs_us = rows.calls[chosen], rows.state.clocks[main.value][chosen]
        per_call_us = needs_us / np.where(calls > 0, calls, np.inf)
        large = per_call_us >= per_call_us.max() / 2
        factor = float(per_call_us.max() * calls[large].min() / needs_us.sum())
        yield _candidate(rows, chosen, np.full(len(ops), factor), module.rpartition("/")[2], main)


def _only_moves(category: str, operands: str) -> bool:
    """True for copies that keep the number format: they change a layout, which others need."""
    return category == "copy" and len(set(_FORMAT.findall(operands))) < 2


def _of_graphs(
    analysis: RooflineAnalysis, rows: Rows, bound: set[int], main: MemoryLevel
) -> Iterator[Candidate]:
    """Producers with one reader: fused, their result is neither written nor read."""
    table = analysis.profile.ops
    programs = table.program_id.tolist()
    by_name = {(programs[op], table.name[op]): op for op in range(len(table))}
    readers: dict[int, list[int]] = {}
    for op in range(len(table)):
        for name in filter(None, table.operand_names[op].split("; ")):
            producer = by_name.get((programs[op], name))
            if producer is not None:
                readers.setdefault(producer, []).append(op)
    saved: dict[int, float] = {}
    for producer, used_by in readers.items():
        if len(used_by) > 1 or producer not in bound or used_by[0] not in bound:
            continue
        if is_in_main_memory(table.results[producer]):
            result_bytes = tensor_bytes(table.results[producer])
            for op in (producer, used_by[0]):
                saved[op] = saved.get(op, 0.0) + result_bytes
    moved = {op: _bytes_per_call(analysis, op) for op in saved}
    ops = [op for op in saved if saved[op] > 0 and moved[op] > 0]
    if ops:
        factors = np.array([max(1 - saved[op] / moved[op], 0.0) for op in ops])
        what = "producer and reader"
        yield _candidate(rows, np.array(ops, np.int64), factors, what, main)


def _bytes_per_call(analysis: RooflineAnalysis, op: int) -> float:
    table = analysis.profile.ops
    return float(table.bytes_accessed[op]) / max(float(table.occurrences[op]), 1.0)


def _candidate(rows: Rows, ops: I64, factors: Floats, what: str, main: MemoryLevel) -> Candidate:
    own_us, clock_us = rows.state.own_us[ops], rows.state.clocks[main.value][ops]
    busy_us = float(rows.state.busy_us[ops].sum())
    return Candidate(
        rule="G1",
        ops=tuple(ops[np.argsort(-own_us, kind="stable")].tolist()),
        what=what,
        resource=f"{main.value}_bytes",
        factor=float((clock_us * factors).sum() / clock_us.sum()),
        lever=Lever(rows=ops, scale={main.value: factors}),
        term="traffic",
        confidence="medium",
        e=float(rows.state.roof_us()[ops].sum()) / busy_us if busy_us else None,
        bound=main.value,
        time_us=float(own_us.sum()),
        also=tuple(sorted({rows.diagnoses.rule[op] for op in ops.tolist()})),
        facts={"calls": float(rows.calls[ops].sum())},
    )
