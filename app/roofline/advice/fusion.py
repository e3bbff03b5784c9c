"""G1: memory-bound ops that hand tensors to each other through the main memory.

Neighbours are known in two cases: a compiled program names the producers of its operands, and ops
that one module of a PyTorch program calls itself run one after the other.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
CHAIN = "producer and reader"
"""What a finding on a chain of a program's graph is about: it has no module."""

_FORMAT = re.compile(r"\b([a-z]+\d+)\[")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fusible:
    """Ops that could be one kernel, and what is left of the main memory's bytes of each.

    `known_by` is "graph" (a compiled program names producers) or "module" (of PyTorch).
    """

    ops: I64
    factors: Floats
    what: str
    known_by: str


def fusible(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Fusible]:
    """Every chain alone: a module of PyTorch, or connected producers and readers of a program."""
    main = main_level(analysis.levels)
    if main.value not in rows.state.clocks:
        return
    bound = _memory_bound(analysis, rows, main)
    yield from _modules(analysis, rows, bound, main)
    saved, pairs = _handed_on(analysis, bound)
    factors = _factors(analysis, saved)
    for members in _connected(pairs):
        ops = [op for op in members if op in factors]
        if len(ops) > 1:
            left = np.array([factors[op] for op in ops])
            what = analysis.profile.ops.name[ops[-1]]
            yield Fusible(ops=np.array(ops, np.int64), factors=left, what=what, known_by="graph")


def fusion_candidates(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """Chains of memory-bound ops, one candidate per module or program."""
    main = main_level(analysis.levels)
    if main.value not in rows.state.clocks:
        return
    bound = _memory_bound(analysis, rows, main)
    for one in _modules(analysis, rows, bound, main):
        yield _candidate(rows, one.ops, one.factors, one.what, main)
    saved, _ = _handed_on(analysis, bound)
    factors = _factors(analysis, saved)
    if factors:
        ops, left = np.array(list(factors), np.int64), np.array(list(factors.values()))
        yield _candidate(rows, ops, left, CHAIN, main)


def _memory_bound(analysis: RooflineAnalysis, rows: Rows, main: MemoryLevel) -> set[int]:
    found, count = rows.diagnoses, len(analysis.profile.ops)
    return {
        op
        for op in np.flatnonzero(rows.state.own_us[:count] > 0).tolist()
        if found.bound[op] == main.value and found.rule[op] in _MEMORY_BOUND
    }


def _modules(
    analysis: RooflineAnalysis, rows: Rows, bound: set[int], main: MemoryLevel
) -> Iterator[Fusible]:
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
        left, what = np.full(len(ops), factor), module.rpartition("/")[2]
        yield Fusible(ops=chosen, factors=left, what=what, known_by="module")


def _only_moves(category: str, operands: str) -> bool:
    """True for copies that keep the number format: they change a layout, which others need."""
    return category == "copy" and len(set(_FORMAT.findall(operands))) < 2


def _handed_on(
    analysis: RooflineAnalysis, bound: set[int]
) -> tuple[dict[int, float], list[tuple[int, int]]]:
    """Bytes per call of results that go from a producer to its only reader, by op, and the pairs.

    Fused, such a result is neither written nor read.
    """
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
    pairs = []
    for producer, used_by in readers.items():
        if len(used_by) > 1 or producer not in bound or used_by[0] not in bound:
            continue
        if is_in_main_memory(table.results[producer]):
            result_bytes = tensor_bytes(table.results[producer])
            pairs.append((producer, used_by[0]))
            for op in pairs[-1]:
                saved[op] = saved.get(op, 0.0) + result_bytes
    return saved, pairs


def _factors(analysis: RooflineAnalysis, saved: dict[int, float]) -> dict[int, float]:
    """The share of each op's bytes that is left."""
    moved = {op: _bytes_per_call(analysis, op) for op in saved}
    ops = [op for op in saved if saved[op] > 0 and moved[op] > 0]
    return {op: max(1 - saved[op] / moved[op], 0.0) for op in ops}


def _connected(pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Ops by chain: each producer has one reader, so following readers ends at the last op."""
    reader = dict(pairs)
    chains: dict[int, list[int]] = {}
    for op in dict.fromkeys(op for pair in pairs for op in pair):
        last, seen = op, {op}
        while last in reader and reader[last] not in seen:
            last = reader[last]
            seen.add(last)
        chains.setdefault(last, []).append(op)
    return list(chains.values())


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
