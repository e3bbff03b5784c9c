"""W2 and P1: units that are busy with more than the work, or with other instructions."""

from collections.abc import Callable, Iterator

import numpy as np

from roofline.advice.diagnosis import Label, OpFacts
from roofline.advice.formula import OF_USE, TARGET, Case, Formula, Threshold
from roofline.advice.plan import Lever
from roofline.advice.rule import GUIDE, Cure, Form, Found, Group, Rule, Run
from roofline.advice.rules.roofs import reason_of, target_of
from roofline.analysis.nearest_records import OpClass
from roofline.analysis.roofline import Floats
from roofline.model.op_columns import Bools

OF_USE_LATENCY = Threshold("OF_USE_LATENCY", 0.70, "OF_USE of a unit that is not near")


def _finds(rule: str, left_of: Callable[[Run, Group], Floats]) -> Callable[[Run], Iterator[Found]]:
    """One finding per unit and named waste; without counters there are none."""

    def finds(run: Run) -> Iterator[Found]:
        for group in run.groups_of(rule):
            yield _found(run, group, left_of(run, group))

    return finds


def _found(run: Run, group: Group, left: Floats) -> Found:
    near, ops, busy_us = run.nearness, group.ops, run.state.busy_us[group.ops]
    weight = busy_us / busy_us.sum()
    largest = int(ops[np.argmax(busy_us)])
    ceiling = run.analysis.nearest.ceiling_of(largest)
    # Tensor cores wait where another pipe is the nearest ceiling of their work.
    feeds_tensor = group.rule == "P1" and group.bound.startswith("matrix_")
    return run.of_group(
        group,
        ops,
        Lever(rows=ops, time_us=busy_us * left),
        bound=group.bound or None,
        resource=ceiling,
        factor=float((left * weight).sum()),
        confidence="medium" if near.factor[largest] else "low",
        group=f"op:{run.table.name[largest]}",
        forms=("tensor",) if feeds_tensor else (),
        facts={
            "reason": reason_of(run, ops),
            "ceiling": ceiling,
            "busy": float((near.share[ops] * weight).sum()),
            "use": float((np.nan_to_num(near.use[ops]) * weight).sum()),
        },
    )


def _useful(use: Floats, following: Floats, nearest: Floats) -> Floats:
    left: Floats = np.fmax(use, following / nearest)
    return left


def _unwasted(run: Run, group: Group) -> Floats:
    """The share of the time that is left where the next ceiling is as near; of latency, where one
    is full."""
    near, ops = run.nearness, group.ops
    is_late = run.analysis.nearest.is_kind(OpClass.LATENCY)[ops]
    useful = _useful(near.left[ops], near.following[ops], near.share[ops])
    return np.clip(np.where(is_late, near.fullest[ops], useful), 0.0, 1.0)


def _is_wasted(ops: OpFacts) -> Bools:
    late = ops.is_counted & ops.is_latency & ops.is_unsaid
    wasted: Bools = (ops.is_bound & (ops.near.left < OF_USE.value)) | (
        late & (ops.near.left < OF_USE_LATENCY.value)
    )
    return wasted


_UNIT = "{ceiling} {are} busy {busy} of the time"

W2 = Rule(
    id="W2",
    when="counters: less than {OF_USE} of a busy unit's time is of use; of latency without a "
    "measured reason, a factor below {OF_USE_LATENCY}",
    source=GUIDE,
    formula=Formula(
        "T' = T × max(use, next ÷ nearest)", lambda t, *shares: t * float(_useful(*shares))
    ),
    cases=(
        Case({"T": 100.0, "use": 0.5, "next": 0.3, "nearest": 0.9}, 50.0),
        Case({"T": 100.0, "use": 0.2, "next": 0.6, "nearest": 0.8}, 75.0),
    ),
    thresholds=(OF_USE, OF_USE_LATENCY),
    label=Label(6, _is_wasted),
    finds=_finds("W2", _unwasted),
    lever="closeness",
    title="Find what else {ceiling} does in {names}",
    why=_UNIT + ", {use} of it with useful work.",
    cure=Cure("The report does not say what else the unit does."),
    forms={
        "sectors": Form(
            title="Load whole sectors in {names}",
            why=_UNIT + ", and {use} of what it moves was asked for.",
        ),
        "bank_conflicts": Form(
            title="Remove the bank conflicts of {names}",
            why=_UNIT + ", and {use} of it would do without bank conflicts.",
        ),
        "lanes": Form(
            title="Fill the warps of {names}",
            why=_UNIT + ", with {use} of the lanes in use.",
        ),
        "multiply_adds": Form(
            title="Join multiplications and additions in {names}",
            why=_UNIT + ", and {use} of what multiply-adds would do.",
        ),
        "replays": Form(
            title="Avoid the replays in {names}",
            why=_UNIT + ", and {use} of what it issues is not issued again.",
        ),
        "few_blocks": Form(
            title="Give more blocks to {names}",
            why=_UNIT + "; the grid fills {use} of a wave.",
        ),
        "last_wave": Form(
            title="Fill the last wave of {names}",
            why=_UNIT + "; the waves of blocks are {use} full.",
        ),
        "equal_sms": Form(
            title="Spread the work of {names} evenly",
            why=_UNIT + "; an SM works for {use} of the time on average.",
        ),
    },
)


def _unpiped(run: Run, group: Group) -> Floats:
    """The share that is left without that pipe: the next unit is full, or the work at its roof."""
    target = target_of(run, group.bound) if group.bound else 1.0
    busy_us, roof_us = run.state.busy_us[group.ops], run.state.roof_us()[group.ops]
    left = _left(
        np.where(busy_us > 0, busy_us, np.inf), run.nearness.following[group.ops], roof_us, target
    )
    return np.clip(left, 0.0, 1.0)


def _left(time_us: Floats, following: Floats, roof_us: Floats, target: float) -> Floats:
    left: Floats = np.maximum(following, roof_us / target / time_us)
    return left


P1 = Rule(
    id="P1",
    when="counters: a pipe of other instructions, or the issue slots, is the nearest ceiling "
    "(≥ 0.60)",
    source=GUIDE,
    formula=Formula(
        "T' = T × max(next, ρ ÷ (η T))",
        lambda t, following, rho, eta: t * float(_left(t, following, rho, eta)),
    ),
    cases=(
        Case({"T": 100.0, "next": 0.5, "ρ": 36.0, "η": 0.9}, 50.0),
        Case({"T": 100.0, "next": 0.1, "ρ": 36.0, "η": 0.9}, 40.0),
    ),
    thresholds=(TARGET,),
    label=Label(5, lambda ops: ops.is_piped),
    finds=_finds("P1", _unpiped),
    lever="closeness",
    title="Issue fewer instructions in {names}",
    why=_UNIT + ", so the arithmetic of the program waits for {it}.",
    cure=Cure("Fewer instructions for the same work."),
    forms={
        "tensor": Form(title="Feed the tensor cores in {names}"),
    },
)
