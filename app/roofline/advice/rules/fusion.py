"""G1: memory-bound ops that hand tensors to each other through the main memory.

Neighbours are known in two cases: a compiled program names the producers of its operands, and ops
that one module of a PyTorch program calls itself run one after the other.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from roofline.advice.formula import LEAST_SAVING, LESS_WORK, LESS_WORK_CASES
from roofline.advice.op_kinds import is_in_main_memory, tensor_bytes
from roofline.advice.plan import Lever
from roofline.advice.rule import BRRR, Cure, Form, Found, Rule, Run
from roofline.analysis.roofline import Floats
from roofline.model.op_columns import I64

_MEMORY_BOUND = frozenset({"M1", "M2", "L1", "L2", "S1"})
_FUSED_AS_ONE = frozenset({"elementwise", "reduction", "copy", "normalization", "norm", "softmax"})
_OPERATOR = "aten::"
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


def fusible(run: Run) -> Iterator[Fusible]:
    """Every chain alone: a module of PyTorch, or connected producers and readers of a program."""
    bound = _memory_bound(run)
    yield from _modules(run, bound)
    saved, pairs = _handed_on(run, bound)
    factors = _factors(run, saved)
    for members in _connected(pairs):
        ops = [op for op in members if op in factors]
        if len(ops) > 1:
            left, what = np.array([factors[op] for op in ops]), run.table.name[ops[-1]]
            yield Fusible(ops=np.array(ops, np.int64), factors=left, what=what, known_by="graph")


def _chains(run: Run) -> Iterator[Found]:
    """Chains of memory-bound ops, one finding per module or program; none under 1 % of the time."""
    bound = _memory_bound(run)
    for chain in _modules(run, bound):
        yield from _fused(run, chain.ops, chain.factors, what=chain.what, forms=("module",))
    factors = _factors(run, _handed_on(run, bound)[0])
    if factors:
        ops, left = np.array(list(factors), np.int64), np.array(list(factors.values()))
        yield from _fused(run, ops, left, what="producer and reader")


def _fused(run: Run, ops: I64, factors: Floats, **rest: Any) -> Iterator[Found]:
    clock_us = run.state.clocks[run.main][ops]
    lever = Lever(rows=ops, scale={run.main: factors})
    if run.is_worth_it(lever):
        yield run.of_ops(
            ops,
            lever,
            resource=f"{run.main}_bytes",
            factor=float((clock_us * factors).sum() / clock_us.sum()),
            bound=run.main,
            also=tuple(sorted({run.diagnoses.rule[op] for op in ops.tolist()})),
            **rest,
        )


def _memory_bound(run: Run) -> set[int]:
    rule, bound = run.diagnoses.rule, run.diagnoses.bound
    if run.main not in run.state.clocks:
        return set()
    return {op for op in run.timed if bound[op] == run.main and rule[op] in _MEMORY_BOUND}


def _modules(run: Run, bound: set[int]) -> Iterator[Fusible]:
    """Ops that one module calls: fused, each call of it moves what its largest op moves."""
    table, modules = run.table, dict[str, list[int]]()
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
        calls, needs_us = run.calls[chosen], run.state.clocks[run.main][chosen]
        per_call_us = needs_us / np.where(calls > 0, calls, np.inf)
        large = per_call_us >= per_call_us.max() / 2
        factor = float(per_call_us.max() * calls[large].min() / needs_us.sum())
        left, what = np.full(len(ops), factor), module.rpartition("/")[2]
        yield Fusible(ops=chosen, factors=left, what=what, known_by="module")


def _only_moves(category: str, operands: str) -> bool:
    """True for copies that keep the number format: they change a layout, which others need."""
    return category == "copy" and len(set(_FORMAT.findall(operands))) < 2


def _handed_on(run: Run, bound: set[int]) -> tuple[dict[int, float], list[tuple[int, int]]]:
    """Bytes per call of results that go from a producer to its only reader, by op, and the pairs.

    Fused, such a result is neither written nor read.
    """
    table = run.table
    saved: dict[int, float] = {}
    pairs = []
    for pair in _only_readers(tuple(table.program_id.tolist()), table.name, table.operand_names):
        producer, reader = pair
        results = table.results[producer]
        if producer in bound and reader in bound and is_in_main_memory(results):
            pairs.append(pair)
            for op in pair:
                saved[op] = saved.get(op, 0.0) + tensor_bytes(results)
    return saved, pairs


@lru_cache(maxsize=4)  # views under other peaks have the same graph
def _only_readers(
    programs: tuple[int, ...], names: tuple[str, ...], operand_names: tuple[str, ...]
) -> tuple[tuple[int, int], ...]:
    """Each op whose result one other op reads, and that op."""
    by_name = {place: op for op, place in enumerate(zip(programs, names, strict=True))}
    readers: dict[int, list[int]] = {}
    for op, operands in enumerate(operand_names):
        for name in filter(None, operands.split("; ")):
            producer = by_name.get((programs[op], name))
            if producer is not None:
                readers.setdefault(producer, []).append(op)
    return tuple((producer, ops[0]) for producer, ops in readers.items() if len(ops) == 1)


def _factors(run: Run, saved: dict[int, float]) -> dict[int, float]:
    """The share of each op's bytes that is left."""
    table = run.table
    moved = {
        op: float(table.bytes_accessed[op]) / max(float(table.occurrences[op]), 1.0) for op in saved
    }
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


G1 = Rule(
    id="G1",
    when="memory-bound operations that hand tensors to each other; their own rules stand beside it",
    source=BRRR,
    formula=LESS_WORK,
    cases=LESS_WORK_CASES,
    thresholds=(LEAST_SAVING,),
    finds=_chains,
    lever="traffic",
    confidence="medium",
    title="Fuse {names}",
    why="They hand tensors to each other through {roof}. Fused, they move {factor} of their bytes.",
    cure=Cure("One kernel, or fusion by the compiler."),
    forms={
        "module": Form(title="Fuse {what}"),
    },
)
