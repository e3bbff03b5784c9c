"""L1, L2, O1, M1, M2: ops below their roof because of latency, missing overlap or memory; and the
labels S1, M3 and B1, which have no finding."""

from collections.abc import Callable, Iterator

import numpy as np

from roofline.advice.diagnosis import Label, OpFacts, above, at_least, below
from roofline.advice.formula import (
    CLOSER,
    CLOSER_CASES,
    FAR,
    GOOD,
    LESS_WORK,
    LESS_WORK_CASES,
    STOP,
    TARGET,
    Case,
    Formula,
    Threshold,
    closer_us,
)
from roofline.advice.plan import Lever
from roofline.advice.rule import BOOK, BRRR, GUIDE, Cure, Form, Found, Group, Rule, Run
from roofline.analysis.nearest import empty_call_us
from roofline.analysis.roofline import Floats
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import I64, Bools

LAUNCH_US = Threshold("LAUNCH_US", 10.0, "time of a call, in us, below which its launch binds it")
LAUNCHES_KEPT = Threshold("LAUNCHES_KEPT", 0.5, "launches left where two calls become one")
SERIAL_LEAST = Threshold("SERIAL_LEAST", 0.9, "time over all clocks one after the other, least")
SERIAL_MOST = Threshold("SERIAL_MOST", 1.1, "time over all clocks one after the other, at most")
SERIAL_GAIN = Threshold("SERIAL_GAIN", 1.3, "least T max ÷ T min")
RIDGE_LEAST = Threshold("RIDGE_LEAST", 0.8, "compute time over memory time, least")
RIDGE_MOST = Threshold("RIDGE_MOST", 1.25, "compute time over memory time, at most")
TARGET_MXU = Threshold("TARGET_MXU", 0.95, "TARGET of a TPU's matrix unit")
TARGET_GPU = Threshold("TARGET_GPU_MATRIX", 0.85, "TARGET of a GPU's matrix unit")
TARGETS = (TARGET, TARGET_MXU, TARGET_GPU)

LEVELS = frozenset(level.value for level in MemoryLevel)


def target_of(run: Run, bound: str) -> float:
    """The share that tuning reaches of the roof `bound`; that of the reader goes first."""
    device = run.analysis.device
    if run.target is not None:
        return run.target
    if bound in LEVELS or bound.startswith("vector_"):
        return TARGET.value
    sustained = next((row.sustained for row in device.compute if row.id == bound), None)
    if sustained is not None:
        return sustained.ratio
    kinds = {DeviceKind.TPU: TARGET_MXU, DeviceKind.GPU: TARGET_GPU}
    return kinds.get(device.kind, TARGET).value


def reason_of(run: Run, ops: I64) -> str:
    """The measured reason in words, where all of these ops have the same one; else ""."""
    words = {run.analysis.nearest.why_words[op] for op in ops.tolist()}
    return words.pop() if len(words) == 1 else ""


def _busy_share(run: Run, ops: I64) -> float:
    """The share of the time of these ops in which the unit that is nearest for each was busy."""
    return float(np.average(np.nan_to_num(run.nearness.share[ops]), weights=run.state.busy_us[ops]))


def closer(rule: str) -> Callable[[Run], Iterator[Found]]:
    """Findings on the groups of `rule`: the same work nearer to its roof."""

    def finds(run: Run) -> Iterator[Found]:
        for group in run.groups_of(rule):
            yield _closer(run, group)

    return finds


def _closer(run: Run, group: Group) -> Found:
    """With counters until the nearest unit is full; no call gets shorter than an empty one."""
    ops, target = group.ops, target_of(run, group.bound)
    lever = Lever(rows=ops, target=np.full(len(ops), target))
    share = run.nearness.fullest[ops]
    is_counted = run.analysis.nearest.is_busy_known[ops]
    if is_counted.any():
        empty_us = run.calls[ops] * empty_call_us(run.analysis.device.kind)
        full_us = np.where(is_counted, np.maximum(run.state.busy_us[ops] * share, empty_us), 0.0)
        lever = Lever(rows=ops, time_us=np.maximum(full_us, run.state.roof_us()[ops] / target))
    reason = reason_of(run, ops)
    forms = list[str]()
    if group.rule == "L2":
        forms += ["not_measured_counted"] * bool(is_counted.any() and group.kind == "not_measured")
        forms += ["counted"] * bool(reason or not group.bound)
    return run.of_group(
        group,
        ops,
        lever,
        resource="closeness",
        forms=tuple(forms),
        facts={"target": target, "reason": reason, "busy": _busy_share(run, ops)},
    )


def less_work(run: Run, group: Group, ops: I64, resource: str) -> Found:
    """Half of the work of the resource that binds."""
    lever = Lever(rows=ops, scale={group.bound: np.full(len(ops), 0.5)})
    return run.of_group(group, ops, lever, resource=f"{group.bound}_{resource}", factor=0.5)


S1 = Rule(
    id="S1",
    when="e ≥ {STOP}; with counters busy and useful ≥ {STOP}: only less work helps, as the summary "
    "says",
    thresholds=(STOP,),
    label=Label(
        3,
        lambda ops: np.where(
            ops.is_counted,
            (ops.near.share >= STOP.value) & (ops.near.useful >= STOP.value),
            at_least(ops.e, STOP.value),
        ),
    ),
)


def _is_short(ops: OpFacts) -> Bools:
    far = np.where(ops.is_counted, ops.is_latency, below(ops.e, FAR.value))
    short: Bools = below(ops.call_us, LAUNCH_US.value) & ops.is_mergeable & ~ops.is_moved
    return far & short


def _merged_us(calls: float, launch_us: Floats, work_us: Floats) -> Floats:
    return calls * LAUNCHES_KEPT.value * launch_us + work_us


def _merged(run: Run) -> Iterator[Found]:
    """Two calls as one: half of the overhead goes, the work stays."""
    for group in run.groups_of("L1"):
        ops = group.ops
        roof_us, busy_us = run.state.roof_us()[ops], run.state.busy_us[ops]
        after_us = _merged_us(1.0, busy_us - roof_us, roof_us)  # all of the launches at once
        calls = float(run.calls[ops].sum())
        if calls < 2:
            continue
        yield run.of_group(
            group,
            ops,
            Lever(rows=ops, time_us=after_us),
            resource="calls",
            factor=LAUNCHES_KEPT.value,
            forms=() if group.bound else ("counted",),
            facts={
                "call_us": float(busy_us.sum()) / calls,
                "busy": _busy_share(run, ops),
            },
        )


L1 = Rule(
    id="L1",
    when="e < {FAR} (with counters: latency), a kernel of at least two calls under {LAUNCH_US} µs, "
    "or several that are as short as an empty one (2 µs)",
    source=BRRR,
    formula=Formula("T' = n ÷ 2 × t0 + W", _merged_us),
    cases=(Case({"n": 1000.0, "t0": 7.0, "W": 1000.0}, 4500.0),),
    thresholds=(FAR, LAUNCH_US, LAUNCHES_KEPT),
    label=Label(7, _is_short),
    finds=_merged,
    lever="calls",
    condition="two calls became one",
    title="Merge the short calls of {names}",
    why="{calls} calls take {call_us} each and {count|reach|reach} {efficiency} of the {roof} "
    "roof. A call shorter than 10 µs is bound by its start.",
    cure=Cure("Fuse or batch them, or use a persistent kernel."),
    forms={
        "counted": Form(
            why="{calls} calls take {call_us} each, and the nearest unit is busy {busy} of the "
            "time. A call shorter than 10 µs is bound by its start."
        ),
    },
)

L2 = Rule(
    id="L2",
    when="latency: no unit is near (e < 0.20; with counters all busy shares < 0.60), not of copies",
    source=GUIDE,
    formula=Formula(f"{CLOSER.text}; with counters T' ≥ T × nearest", closer_us),
    cases=CLOSER_CASES,
    thresholds=TARGETS,
    label=Label(8, lambda ops: ops.is_latency & ~ops.is_moved),
    finds=closer("L2"),
    lever="closeness",
    title="Fill the chip in {names}",
    why="{count|It reaches|They reach} {efficiency} of the {roof} roof, the nearest one, and a "
    "call is not short.",
    cure=Cure("More work in flight: larger tiles, more independent work per thread."),
    forms={
        "counted": Form(
            why="No unit is near its ceiling: the nearest one is busy {busy} of the time. {reason}"
        ),
        "not_measured_counted": Form(title="Find what {names} {count|waits|wait} for"),
        "attention": Form(
            title="Use a faster attention kernel",
        ),
        "attention_paged": Form(title="Use a faster paged attention kernel"),
        "attention_cpu": Form(title="More threads for attention"),
        "few_blocks": Form(
            title="Give more blocks to {names}",
        ),
        "launch": Form(title="Make the calls of {names} longer"),
        "tail": Form(title="Fill the last wave of {names}"),
        "imbalance": Form(title="Spread the work of {names} evenly"),
        "low_occupancy": Form(title="Keep more warps resident in {names}"),
        "barrier": Form(title="Wait less at barriers in {names}"),
        "dependency:long_scoreboard": Form(title="Keep more loads under way in {names}"),
        "dependency:short_scoreboard": Form(title="Use shared memory less in {names}"),
        "dependency:mio_throttle": Form(title="Use shared memory less in {names}"),
        "dependency:wait": Form(title="Give more independent instructions to {names}"),
        "dependency:math_pipe_throttle": Form(
            title="Give more independent instructions to {names}"
        ),
    },
)


def _is_serial(ops: OpFacts) -> Bools:
    """Ops that take as long as their clocks one after the other, of memory and of compute."""
    both = (ops.compute_us > 0) & (ops.other_us > 0)
    lasts = at_least(ops.time_us, SERIAL_LEAST.value * ops.sum_us) & both
    ends = ~above(ops.time_us, SERIAL_MOST.value * ops.sum_us)
    return lasts & ends & at_least(ops.sum_us, SERIAL_GAIN.value * ops.longest_us)


O1 = Rule(
    id="O1",
    when="{SERIAL_LEAST} T max ≤ T ≤ {SERIAL_MOST} T max, T max ≥ {SERIAL_GAIN} T min, clocks of "
    "memory and of compute",
    source=BOOK + "roofline",
    formula=Formula(
        f"{CLOSER.text}, 0.9 T_max ≤ T ≤ 1.1 T_max", lambda t, rho, eta, _: closer_us(t, rho, eta)
    ),
    cases=(Case({"T": 150.0, "ρ": 90.0, "η": 0.9, "T_max": 155.0}, 100.0),),
    thresholds=(SERIAL_LEAST, SERIAL_MOST, SERIAL_GAIN, *TARGETS),
    label=Label(9, _is_serial),
    finds=closer("O1"),
    lever="closeness",
    title="Overlap memory and compute in {names}",
    why="The time is about the sum of the clocks, so loads and arithmetic run one after the other, "
    "at {efficiency} of the {roof} roof.",
    cure=Cure("Double buffering, pipelined tiles, asynchronous copies."),
)


M1 = Rule(
    id="M1",
    when="a memory binds, e < {GOOD}, no counters",
    source=GUIDE,
    formula=CLOSER,
    cases=CLOSER_CASES,
    thresholds=(GOOD, TARGET),
    label=Label(10, lambda ops: ops.is_memory & ~ops.is_counted & below(ops.e, GOOD.value)),
    finds=closer("M1"),
    lever="closeness",
    title="Improve the access pattern of {names}",
    why="{roof} binds {count|it|them}, yet {count|it reaches|they reach} {efficiency} of that "
    "roof.",
    cure=Cure(
        "Coalesced or wide loads, a layout whose last dimension fills a tile, no gathers and "
        "transposes, fewer spills."
    ),
    forms={
        "copy": Form(
            title="Avoid {names}",
        ),
        "update": Form(
            title="Update the caches in place ({list})",
        ),
        "attention": Form(
            title="Use a faster attention kernel",
        ),
        "attention_paged": Form(title="Use a faster paged attention kernel"),
    },
)


def _fewer_bytes(run: Run) -> Iterator[Found]:
    """Half of the bytes, but of ops of which it is known which bytes can go."""
    known = {op for rule in ("G2", "G4") for found in run.found_by(rule) for op in found.ops}
    for group in run.groups_of("M2"):
        ops = np.array([op for op in group.ops.tolist() if op not in known], np.int64)
        if len(ops):
            yield less_work(run, group, ops, "bytes")


M2 = Rule(
    id="M2",
    when="a memory binds, {GOOD} ≤ e < {STOP}",
    source=BRRR,
    formula=LESS_WORK,
    cases=LESS_WORK_CASES,
    thresholds=(GOOD, STOP),
    label=Label(11, lambda ops: ops.is_memory & at_least(ops.e, GOOD.value)),
    finds=_fewer_bytes,
    lever="traffic",
    condition="half of the bytes went",
    title="Fuse {names} with what comes before or after",
    why="{count|It uses|They use} {efficiency} of {roof}: access is good, only fewer bytes help.",
    cure=Cure("Fusion with a neighbour, a smaller data type, or data that stays on the chip."),
    forms={
        "fusion": Form(
            title="Fuse {names}, or store their results in 16 bits",
        ),
        "copy": Form(
            title="Avoid {names}",
        ),
        "update": Form(
            title="Update the caches in place ({list})",
        ),
        "optimizer": Form(
            title="Take fewer passes in {names}",
        ),
        "stencil": Form(
            title="Compute several steps at once in {names}",
        ),
    },
)
M3 = Rule(
    id="M3",
    when="beside M1 and M2: the memory is on the chip",
    label=Label(None, lambda ops: ops.is_on_chip & np.isin(ops.rule, ("M1", "M2"))),
)


def _is_at_ridge(ops: OpFacts) -> Bools:
    """Ops whose longest compute clock is about as long as their longest memory clock."""
    low, high = RIDGE_LEAST.value * ops.memory_us, RIDGE_MOST.value * ops.memory_us
    is_near = (ops.memory_us > 0) & (ops.compute_us >= low) & (ops.compute_us <= high)
    return is_near & ~np.isin(ops.rule, ("V1", "S1", "V6", "V7"))


B1 = Rule(
    id="B1",
    when="beside any of these: compute and memory clocks within {RIDGE_LEAST} to {RIDGE_MOST}, so "
    "small changes flip the bound",
    thresholds=(RIDGE_LEAST, RIDGE_MOST),
    label=Label(None, _is_at_ridge),
)
