"""G2, G4 and G7: bytes of weights, keys and scores that need not be moved, and recomputed work."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from roofline.advice.formula import LESS_WORK, LESS_WORK_CASES, WEIGHTS, Case, Formula, Threshold
from roofline.advice.op_kinds import cache_share, is_softmax, weight_share
from roofline.advice.plan import Lever
from roofline.advice.rule import BOOK, Cure, Form, Found, Group, Rule, Run
from roofline.advice.rules.roofs import LEVELS
from roofline.advice.rules.serving import decode_steps, option
from roofline.analysis.roofline import Floats
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import I64
from roofline.model.profile import Provenance
from roofline.model.tensors import Product, product_of, tensors_of

REMATERIALISED = Threshold("REMATERIALISED", 0.20, "share of the FLOPs that are computed again")


def _halved(run: Run, share_of: Callable[[str, str, float], float]) -> Iterator[Found]:
    """Weights, or keys and values, stored in one byte where they are most of what an op reads."""
    for group in run.groups_of("M1", "M2", "L2"):
        if group.bound in LEVELS and MemoryLevel(group.bound).is_main:
            yield from _halved_of(run, group, share_of)


def _halved_of(
    run: Run, group: Group, share_of: Callable[[str, str, float], float]
) -> Iterator[Found]:
    moved = run.bytes_per_call(group.ops).tolist()
    shares: Floats = np.array(
        [
            share_of(run.table.name[op], run.table.operands[op], op_bytes)
            for op, op_bytes in zip(group.ops.tolist(), moved, strict=True)
        ]
    )
    ops, share = group.ops[shares > WEIGHTS.value], shares[shares > WEIGHTS.value]
    if not len(ops):
        return
    is_counted = run.analysis.profile.bytes_provenance is Provenance.MEASURED
    yield run.of_group(
        group,
        ops,
        Lever(rows=ops, scale={group.bound: 1 - share / 2}),
        resource=f"{group.bound}_bytes",
        factor=float((1 - share / 2).mean()),
        confidence="high" if is_counted else "medium",
        facts={"weights": float(share.mean())},
    )


G2 = Rule(
    id="G2",
    when="16-bit weights are over {WEIGHTS} of the bytes of a memory-bound product",
    source=BOOK + "inference",
    formula=LESS_WORK,
    cases=LESS_WORK_CASES,
    thresholds=(WEIGHTS,),
    finds=lambda run: _halved(run, weight_share),
    lever="traffic",
    changes_results=True,
    title="8-bit weights for {names}",
    why="{weights} of the bytes are 16-bit weights, and {roof} binds.",
    cure=Cure("int8 or fp8 weights, dequantised inside the kernel. Check the accuracy."),
)

_INNER = frozenset({"Softmax", "Dropout"})
_PASSED_ON = frozenset({"elementwise", "copy", "reduction", "softmax", "other", "normalisation"})


def _smaller_cache(run: Run) -> Iterator[Found]:
    yield from _scores(run)
    yield from _halved(run, cache_share)
    group = decode_steps(run)
    if group is None:
        return
    memory, cache = group.bandwidth_ratio or 0.0, group.cache_ratio or 0.0
    if cache > WEIGHTS.value * memory:
        gain = memory / max(group.flop_ratio or 0.0, memory - cache / 2)
        yield replace(option(group, gain, share=cache / memory), forms=("steps",))


def _scores(run: Run) -> Iterator[Found]:
    """Modules that compute a softmax over the product of two matrices in the main memory."""
    if run.main not in run.state.clocks:
        return
    for module, members in _attention_modules(run).items():
        count = _score_count(run, members)
        if count is None:
            continue
        moved = run.bytes_per_call(members)
        score_bytes = np.array([_score_bytes(run, op, count) for op in members.tolist()])
        left: Floats = 1 - np.minimum(score_bytes / np.where(moved > 0, moved, np.inf), 1.0)
        ops, left = members[left < 1], left[left < 1]
        # Two products have the scores as result, and as input.
        if sum(_product(run, op) is not None for op in ops.tolist()) < 2:
            continue
        clock_us = np.nan_to_num(run.state.clocks[run.main][ops])
        yield run.of_ops(
            ops,
            Lever(rows=ops, scale={run.main: left}),
            what=module.rpartition("/")[2] or "attention",
            bound=run.main,
            resource=f"{run.main}_bytes",
            factor=float((clock_us * left).sum() / (clock_us.sum() or 1.0)),
            confidence="medium",
            changes_results=False,
            forms=("scores",),
            facts={"scores": 1.0},
        )


def _attention_modules(run: Run) -> dict[str, I64]:
    """Ops by the module that calls them, of modules that call a softmax."""
    table, modules = run.table, dict[str, list[int]]()
    for op in run.timed:
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


def _score_count(run: Run, ops: I64) -> int | None:
    """How many scores the module's softmax reads; `None` where that is not one number."""
    sizes = {
        max((tensor.elements for tensor in tensors_of(run.table.operands[op])), default=0)
        for op in ops.tolist()
        if is_softmax(run.table.name[op])
    }
    return sizes.pop() if len(sizes) == 1 else None


def _score_bytes(run: Run, op: int, count: int) -> float:
    """Bytes of scores that a call reads and writes."""
    table, product = run.table, _product(run, op)
    read = [tensor for tensor in tensors_of(table.operands[op]) if tensor.elements == count]
    read_bytes = sum(tensor.bytes for tensor in read)
    if product is not None:
        writes = product.batch * product.m * product.n == count
        return read_bytes + (count * product.first.element_bytes if writes else 0.0)
    if not read or not (table.category[op] in _PASSED_ON or is_softmax(table.name[op])):
        return 0.0
    return read_bytes + read[0].bytes


def _product(run: Run, op: int) -> Product | None:
    return product_of(run.table.name[op], run.table.operands[op])


G4 = Rule(
    id="G4",
    when="scores between queries and keys go through the main memory; 16-bit keys and values are "
    "over {WEIGHTS} of the bytes",
    source=BOOK + "inference",
    formula=LESS_WORK,
    cases=LESS_WORK_CASES,
    thresholds=(WEIGHTS,),
    finds=_smaller_cache,
    lever="traffic",
    changes_results=True,
    title="8-bit keys and values for {names}",
    why="{weights} of the bytes are 16-bit keys and values, and {roof} binds.",
    cure=Cure(
        "fp8 or int8 keys and values, fewer key heads (GQA), a sliding window. Check the accuracy."
    ),
    forms={
        "steps": Form(
            title="8-bit keys and values",
            why="{share} of the bytes of a decode step are keys and values.",
        ),
        "scores": Form(
            title="Compute the attention of {what} in one kernel",
            why="The scores between queries and keys go through {roof}, in {count} operations. In "
            "one kernel {factor} of their bytes are left.",
        ),
    },
)

_AGAIN = ("rematted_computation", "checkpoint/remat", "/remat/")


def _recomputed(run: Run) -> Iterator[Found]:
    """Operations that a training step does again, by their names."""
    again = np.array(
        [any(word in path for word in _AGAIN) for path in run.table.framework_path], np.bool_
    )
    flop = run.table.flop.astype(np.float64)
    share = float(flop[again].sum()) / float(flop.sum() or 1.0)
    if share <= REMATERIALISED.value:
        return
    ops = np.flatnonzero(again & (run.own_us > 0))
    nothing = np.zeros(len(ops))
    flag = run.flag(
        ops[np.argsort(-run.own_us[ops], kind="stable")], "recomputed work", share=share
    )
    lever = Lever(rows=ops, scale=dict.fromkeys(run.state.clocks, nothing), time_us=nothing)
    yield replace(flag, resource="calls", factor=0.0, lever=lever)


G7 = Rule(
    id="G7",
    when="over {REMATERIALISED} of the FLOPs are recomputed, by their names",
    source=BOOK + "training",
    formula=Formula("T' = T - T of recomputed work", lambda t, recomputed: t - recomputed),
    cases=(Case({"T": 100.0, "T of recomputed work": 30.0}, 70.0),),
    thresholds=(REMATERIALISED,),
    finds=_recomputed,
    lever="calls",
    title="Recompute less",
    why="{share} of the FLOPs are done again to save memory.",
    cure=Cure("A selective policy for rematerialisation, if memory is left."),
)
