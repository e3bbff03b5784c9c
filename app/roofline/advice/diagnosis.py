"""Which rule an op falls under: the first label that holds, and others beside it.

A label holds only where what it is about was measured. Times are quotients: exactly 0.60 may come
out as 0.6000000000000001 or 0.5999999999999999, so labels compare with a tolerance of rounding.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roofline.advice.nearness import Nearness, is_busy_with_a_pipe
from roofline.advice.op_kinds import MOVED, op_kind
from roofline.analysis.diagnose import may_communicate
from roofline.analysis.nearest import empty_call_us
from roofline.analysis.nearest_records import OpClass
from roofline.analysis.records import Cost, RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import Bools

UNKNOWN = "unknown"
_ROUNDING = 1e-9
_LEVELS = {level.value: level for level in MemoryLevel}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpFacts:
    """What labels read, one value per op; times in us per unit of the advice, NaN where unknown.

    `e` is the share of the roof. `call_us` is the time of one call, `sum_us` and `longest_us` are
    all clocks one after the other and at once, `compute_us`, `memory_us` and `other_us` the longest
    clock of compute, of memory, and of memory and links. `is_memory`, `is_vector`, `is_matrix` and
    `is_link` say what binds; `is_on_chip` that it is a memory of the chip.

    Of counters: `is_counted` (the profiler counted how busy units are), `is_bound` and `is_latency`
    (a unit is near, or none is), `is_piped` (the nearest is a pipe or the issue slots), `is_unsaid`
    (a latency without a measured reason), and `near` (shares of the nearest unit). `is_moved`: a
    copy, which does no arithmetic. `is_mergeable`: called at least twice, or as short as a call
    that does nothing. `rule` is the label, for those beside it.
    """

    time_us: Floats
    call_us: Floats
    e: Floats
    sum_us: Floats
    longest_us: Floats
    compute_us: Floats
    memory_us: Floats
    other_us: Floats
    is_known: Bools
    is_memory: Bools
    is_vector: Bools
    is_matrix: Bools
    is_link: Bools
    is_on_chip: Bools
    is_async: Bools
    is_counted: Bools
    is_bound: Bools
    is_latency: Bools
    is_piped: Bools
    is_unsaid: Bools
    is_moved: Bools
    is_mergeable: Bools
    near: Nearness
    bound: tuple[str | None, ...]
    rule: npt.NDArray[np.str_]


class Label(NamedTuple):
    """`holds` says of which ops; of several labels the least `place` counts.

    A label without a place stands beside the others: its `holds` may read `rule`.
    """

    place: int | None
    holds: Callable[[OpFacts], Bools]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diagnoses:
    """Per op: rule, bound (a resource), and rules that hold beside it."""

    rule: tuple[str, ...]
    bound: tuple[str | None, ...]
    also: tuple[tuple[str, ...], ...]


def diagnose(facts: OpFacts, labels: Mapping[str, Label]) -> Diagnoses:
    """The label of each op, "" without one."""
    placed = sorted((label.place, name) for name, label in labels.items() if label.place)
    names = [name for _, name in placed]
    rule = np.select([labels[name].holds(facts) for name in names], names, default="")
    labelled = replace(facts, rule=rule)
    beside = {name: label.holds(labelled) for name, label in labels.items() if label.place is None}
    return Diagnoses(
        rule=tuple(rule.tolist()),
        bound=facts.bound,
        also=tuple(tuple(name for name in beside if beside[name][op]) for op in range(len(rule))),
    )


def facts_of(
    analysis: RooflineAnalysis,
    busy_us: Floats,
    calls: Floats,
    clocks: Mapping[str, Floats],
    nearness: Nearness,
) -> OpFacts:
    """The facts of the ops of a run; `clocks` has a column per resource, in the order of ties."""
    count, near, table = len(busy_us), analysis.nearest, analysis.profile.ops
    names = [*clocks] or [UNKNOWN]
    columns = [np.nan_to_num(column) for column in clocks.values()]
    stacked = np.stack(columns or [np.zeros(count)])
    longest, which = stacked.max(axis=0), stacked.argmax(axis=0)
    is_known = (longest > 0) & (busy_us > 0)
    compute = {name for name in clocks if name not in _LEVELS}
    vector = {name for name in compute if name.startswith("vector_")}
    links = {name for name in names if name in _LEVELS and _LEVELS[name].is_link}
    on_chip = {
        name for name in names if name in _LEVELS and not (name in links or _LEVELS[name].is_main)
    }

    def binds(kind: set[str]) -> Bools:
        is_of_kind = np.array([name in kind for name in names], np.bool_)
        holds: Bools = is_of_kind[which] & is_known
        return holds

    def longest_of(kind: set[str]) -> Floats:
        rows = [row for name, row in zip(names, stacked, strict=True) if name in kind]
        column: Floats = np.max(rows, axis=0) if rows else np.zeros(count)
        return column

    call_us = np.where(calls > 0, busy_us / np.where(calls > 0, calls, 1.0), np.nan)
    is_counted = near.is_busy_known[:count]
    is_bound = near.is_kind(OpClass.BOUND)[:count] & is_counted
    moved = [op_kind(*op) in MOVED for op in zip(table.category, table.name, strict=True)]
    others = {*names} - compute
    return OpFacts(
        time_us=np.where(busy_us > 0, busy_us, np.nan),
        call_us=call_us,
        e=np.where(is_known, longest / np.where(is_known, busy_us, 1.0), np.nan),
        sum_us=stacked.sum(axis=0),
        longest_us=longest,
        compute_us=longest_of(compute),
        memory_us=longest_of(others - links),
        other_us=longest_of(others),
        is_known=is_known,
        is_memory=binds(others - links),
        is_vector=binds(vector),
        is_matrix=binds(compute - vector),
        is_link=binds(links),
        is_on_chip=binds(on_chip),
        is_async=analysis.ops.is_start[:count]
        | np.array(
            [
                cost is Cost.TRANSFER or may_communicate(name, cost)
                for name, cost in zip(table.name, analysis.ops.cost, strict=False)
            ],
            np.bool_,
        ),
        is_counted=is_counted,
        is_bound=is_bound,
        is_latency=near.is_kind(OpClass.LATENCY)[:count],
        is_piped=is_bound & is_busy_with_a_pipe(near)[:count],
        is_unsaid=np.array([why == "not_measured" for why in near.why[:count]], np.bool_),
        is_moved=np.array(moved, np.bool_),
        is_mergeable=(calls >= 2) | below(call_us, empty_call_us(analysis.device.kind)),
        near=nearness,
        bound=tuple(
            names[place] if known else None
            for place, known in zip(which.tolist(), is_known.tolist(), strict=True)
        ),
        rule=np.full(count, ""),
    )


def at_least(value: Floats, least: Floats | float) -> Bools:
    """`value` >= `least`; false where unknown."""
    holds: Bools = value >= np.multiply(least, 1 - _ROUNDING)
    return holds


def below(value: Floats, most: float) -> Bools:
    """`value` < `most`; false where unknown."""
    holds: Bools = value < most * (1 - _ROUNDING)
    return holds


def above(value: Floats, most: Floats | float) -> Bools:
    """`value` > `most`; false where unknown."""
    holds: Bools = value > np.multiply(most, 1 + _ROUNDING)
    return holds
