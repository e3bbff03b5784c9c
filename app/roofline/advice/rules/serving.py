"""L3, G3 and G6 as options: another batch, several tokens per step.

They do more work in the same time, so they are outside the plan. A server's steps say their
phase, batch and bytes; of other profiles the sizes of matrix products do.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import log2

import numpy as np

from roofline.advice.formula import FAR, LEAST_SAVING, OPTION, WEIGHTS, Case, Formula, Threshold
from roofline.advice.op_kinds import weight_share
from roofline.advice.rule import BOOK, BRRR, Cure, Form, Found, Rule, Run
from roofline.analysis.roofline import Floats
from roofline.analysis.serving_records import ServingGroup
from roofline.model.op_columns import I64
from roofline.model.tensors import product_of

ACCEPTED = Threshold("ACCEPTED", 0.8, "chance that a draft is accepted")
DRAFTS = Threshold("DRAFTS", 4, "drafts per step")
DRAFT_COST = Threshold("DRAFT_COST", 0.1, "cost of a draft, relative to the model")


def _decodes(run: Run) -> list[ServingGroup]:
    serving = run.analysis.serving
    return [group for group in serving.groups if group.phase == "decode"] if serving else []


def decode_steps(run: Run) -> ServingGroup | None:
    """The batch in whose decode steps most time goes, if it is known that memory binds them.

    Its shares of the peaks are clocks over the time of a step.
    """
    largest = max(_decodes(run), key=lambda group: group.steps * group.time_us, default=None)
    if largest is None or largest.bandwidth_ratio is None or largest.flop_ratio is None:
        return None
    return largest if largest.bandwidth_ratio > largest.flop_ratio > 0 else None


def option(group: ServingGroup, gain: float, **facts: float) -> Found:
    """An option of the decode steps of a batch."""
    return Found(
        what="decode steps",
        resource="batch",
        time_us=group.steps * group.time_us,
        gain=gain,
        facts=facts,
    )


def _per_time(batch_ratio: float, time_ratio: float) -> float:
    return batch_ratio / time_ratio


def _no_longer(run: Run) -> Iterator[Found]:
    """Steps of a batch at least twice as large take less than a tenth longer per doubling."""
    sized = sorted(
        ((group.sequences, group) for group in _decodes(run) if group.sequences),
        key=lambda pair: pair[0],
    )
    for (small, before), (large, behind) in pairwise(sized):
        doublings, longer = log2(large / small), behind.time_us / before.time_us
        # Steps near the roof of the memory explain that the batch costs no time.
        is_near = behind.bandwidth_ratio is not None and behind.bandwidth_ratio >= FAR.value
        if doublings >= 1 and longer < OPTION.value**doublings and not is_near:
            gain = _per_time(large / small, longer)
            yield option(before, gain, small=small, large=large, longer=longer)
            return


L3 = Rule(
    id="L3",
    when="decode steps of twice the batch take less than {OPTION} times as long, and the memory is "
    "not the reason",
    source=BRRR,
    formula=Formula("batch ratio ÷ time ratio, time ratio < 1.10 per doubling", _per_time),
    cases=(Case({"batch ratio": 2.0, "time ratio": 1.09}, 2 / 1.09),),
    thresholds=(OPTION, FAR),
    finds=_no_longer,
    confidence="medium",
    changes_results=True,
    title="Larger batches",
    why="Steps of {large} sequences take {longer} times as long as those of {small}, so overhead "
    "sets the time and not the work.",
    cure=Cure("Larger batches, fewer and larger kernels."),
)


def _doubled(memory: Floats, compute: Floats, weights: Floats) -> Floats:
    """The time of twice the rows: weights are read once."""
    longest: Floats = np.maximum(2 * compute, memory * (2 - weights))
    return longest


def _larger_batch(run: Run) -> Iterator[Found]:
    """Decode steps of a server, or products of few rows, that mostly read their weights."""
    group = decode_steps(run)
    if group is None:
        yield from _more_rows(run)
        return
    memory, compute = group.bandwidth_ratio or 0.0, group.flop_ratio or 0.0
    weights = group.weight_ratio or 0.0
    if weights > WEIGHTS.value * memory:
        gain = 2 * memory / max(2 * compute, 2 * memory - weights)
        if gain >= OPTION.value:
            yield replace(
                option(group, gain, small=group.sequences or 0.0, share=weights / memory),
                forms=("steps",),
            )


def _more_rows(run: Run) -> Iterator[Found]:
    if run.main not in run.state.clocks:
        return
    binding, rule = run.diagnoses.bound, run.diagnoses.rule
    read = [
        op for op in run.timed if binding[op] == run.main and rule[op] in {"M1", "M2", "L2", "S1"}
    ]
    ops = np.array(read, np.int64)
    shares = _weights(run, ops)
    memory_us, compute_us = run.state.clocks[run.main][ops], _compute_us(run, ops)
    mostly = (shares > WEIGHTS.value) & (compute_us > 0)
    ops, shares = ops[mostly], shares[mostly]
    memory_us, compute_us = memory_us[mostly], compute_us[mostly]
    if not len(ops):
        return
    gain = float(2 * memory_us.sum() / _doubled(memory_us, compute_us, shares).sum())
    if gain < OPTION.value or run.own_us[ops].sum() < LEAST_SAVING.value * run.total_us:
        return
    products = [product_of(run.table.name[op], run.table.operands[op]) for op in ops.tolist()]
    sizes = np.array([row.m if row is not None else 0 for row in products], np.float64)
    yield run.of_ops(
        ops,
        None,
        what="matmul",
        bound=run.main,
        resource="batch",
        gain=gain,
        facts={
            "small": float(np.median(sizes)),
            "large": float(np.median(sizes * shares * memory_us / compute_us)),
            "weights": float(shares.mean()),
        },
    )


def _weights(run: Run, ops: I64) -> Floats:
    table, moved = run.table, run.bytes_per_call(ops).tolist()
    return np.array(
        [
            weight_share(table.name[op], table.operands[op], op_bytes)
            for op, op_bytes in zip(ops.tolist(), moved, strict=True)
        ],
        np.float64,
    )


def _compute_us(run: Run, ops: I64) -> Floats:
    """The longest clock of a compute unit; 0 where none is known."""
    compute = [
        np.nan_to_num(column[ops])
        for name, column in run.state.clocks.items()
        if name == "compute" or name.startswith(("matrix_", "vector_"))
    ]
    longest: Floats = np.max(compute, axis=0) if compute else np.zeros(len(ops))
    return longest


G3 = Rule(
    id="G3",
    when="weights are over {WEIGHTS} of the bytes of a product, or of a server's decode step, and "
    "twice the rows are {OPTION} times as fast or more",
    source=BOOK + "inference",
    formula=Formula(
        "2 T_m ÷ max(2 T_c, (2 - weights) T_m)",
        lambda memory, compute, weights: 2 * memory / float(_doubled(memory, compute, weights)),
    ),
    cases=(
        Case({"T_m": 40.0, "T_c": 5.0, "weights": 0.9}, 80 / 44),
        Case({"T_m": 40.0, "T_c": 30.0, "weights": 0.9}, 80 / 60),
    ),
    thresholds=(WEIGHTS, OPTION, LEAST_SAVING),
    finds=_larger_batch,
    confidence="medium",
    changes_results=True,
    title="More rows for {names}",
    why="{weights} of the bytes are weights, read for {small} rows at a time; from about {large} "
    "rows on compute binds. Twice the rows take hardly longer.",
    cure=Cure("A larger batch, or continuous batching on a server."),
    forms={
        "steps": Form(
            title="Larger batches",
            why="{share} of the bytes of a step are weights, read for {small} sequences at a time. "
            "Twice the sequences take hardly longer.",
        )
    },
)


def _speculated(accepted: float, drafts: float, cost: float) -> float:
    """Tokens per step of the model and its drafts, each accepted with that chance."""
    tokens: float = (1 - accepted ** (drafts + 1)) / (1 - accepted)
    return tokens / (1 + drafts * cost)


def _drafts(run: Run) -> Iterator[Found]:
    group = decode_steps(run)
    if group is None:
        return
    memory, weights = group.bandwidth_ratio or 0.0, group.weight_ratio or 0.0
    has_room = memory >= (DRAFTS.value + 1) * (group.flop_ratio or 0.0)
    if weights > WEIGHTS.value * memory and has_room:
        gain = _speculated(ACCEPTED.value, DRAFTS.value, DRAFT_COST.value)
        yield option(group, gain, share=weights / memory)


G6 = Rule(
    id="G6",
    when="a server's decode steps mostly read weights, and memory needs at least 5 times as long "
    "as compute",
    source="https://arxiv.org/abs/2211.17192",
    formula=Formula("(1 - a^(k+1)) ÷ (1 - a) ÷ (1 + k d), a 0.8, k 4, d 0.1", _speculated),
    cases=(Case({"a": 0.8, "k": 4, "d": 0.1}, 2.4011428571428572),),
    thresholds=(WEIGHTS, ACCEPTED, DRAFTS, DRAFT_COST),
    finds=_drafts,
    changes_results=True,
    title="Verify several tokens per decode step",
    why="{share} of the bytes of a step are weights, and compute has room for five times the "
    "tokens. The gain takes four drafts per step at a tenth of the cost of the model, of which "
    "80 % are accepted.",
    cure=Cure(
        "Speculative decoding with a small draft model, or heads that draft.",
        'vllm serve … --speculative-config \'{"model": "DRAFT", "num_speculative_tokens": 4}\'',
    ),
)
