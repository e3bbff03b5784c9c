"""Which rule an op falls under: the first that holds, and others beside it.

Order: validity, stop, communication, busy units and waste, latency, overlap, memory and compute;
the ridge is added. A rule holds only where what it is about was measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from roofline.advice import thresholds as limit
from roofline.analysis.roofline import Floats
from roofline.model.op_columns import Bools

NO_RULE = ""
# Times are quotients: exactly 0.60 may come out as 0.6000000000000001 or as 0.5999999999999999.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """What counters say of each op, and what kind of op it is.

    `is_counted`: the profiler counted how busy its units were. `is_latency`: no unit is near.
    `is_full`: its nearest unit is as good as always at useful work. `is_piped`: a pipe or the issue
    slots are its nearest ceiling. `is_wasted`: its nearest unit is busy with more than the work.
    `is_moved`: a copy, which does no arithmetic. `is_repeated`: a call that is made again.
    """

    is_counted: Bools
    is_latency: Bools
    is_full: Bools
    is_piped: Bools
    is_wasted: Bools
    is_moved: Bools
    is_repeated: Bools


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clocks:
    """One row per op: its time and the clocks of its work, all in one unit; NaN where unknown.

    `clocks` has a column per resource, in the order in which ties are decided. `call_us` is the
    time of one call. `matrix`, `vector`, `on_chip` and `links` name the resources of those kinds;
    all others are main memories.
    """

    time: Floats
    call_us: Floats
    clocks: Mapping[str, Floats]
    vector: frozenset[str]
    matrix: frozenset[str]
    on_chip: frozenset[str]
    links: frozenset[str]
    is_async: Bools
    measured: Measured


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diagnoses:
    """Per op: rule, bound (a resource), share of the roof, and rules that hold beside it."""

    rule: tuple[str, ...]
    bound: tuple[str | None, ...]
    e: Floats
    also: tuple[tuple[str, ...], ...]


def diagnose_all(ops: Clocks) -> Diagnoses:
    """The diagnosis of each op; times are compared with a tolerance of rounding alone."""
    names = [*ops.clocks]
    stacked = np.stack([np.nan_to_num(ops.clocks[name]) for name in names])
    longest, which = stacked.max(axis=0), stacked.argmax(axis=0)
    known = (longest > 0) & (ops.time > 0)
    e = np.where(known, longest / np.where(known, ops.time, 1.0), np.nan)

    def of_kind(kind: frozenset[str]) -> Bools:
        of_names = np.array([name in kind for name in names], np.bool_)
        found: Bools = of_names[which] & known
        return found

    linked, on_chip = of_kind(ops.links), of_kind(ops.on_chip)
    vector, matrix = of_kind(ops.vector), of_kind(ops.matrix)
    flags = {
        **_rules(ops, e, linked, _is_serial(ops, names, stacked)),
        **_of_work(ops.measured, e, known & ~(vector | matrix | linked), vector, matrix),
    }
    flags["V7"] = ~known & ~ops.measured.is_counted
    rule = np.select([*flags.values()], [*flags], default=NO_RULE)
    near = _at_ridge(ops, names, stacked) & ~np.isin(rule, ("V1", "S1", "V6", "V7"))
    beside = {"M3": on_chip & np.isin(rule, ("M1", "M2")), "B1": near}
    return Diagnoses(
        rule=tuple(rule.tolist()),
        bound=tuple(
            names[k] if is_known else None
            for k, is_known in zip(which.tolist(), known.tolist(), strict=True)
        ),
        e=e,
        also=tuple(
            tuple(name for name, holds in beside.items() if holds[row]) for row in range(len(e))
        ),
    )


def _rules(ops: Clocks, e: Floats, linked: Bools, serial: Bools) -> dict[str, Bools]:
    """Rules that come before those of memory and compute, in their order."""
    by = ops.measured
    far = np.where(by.is_counted, by.is_latency, _below(e, limit.FAR))
    is_late = by.is_latency & ~by.is_moved
    short = _below(ops.call_us, limit.LAUNCH_US) & by.is_repeated & ~by.is_moved
    return {
        "V6": ops.is_async,
        "V1": _above(e, limit.IMPOSSIBLE),
        "S1": np.where(by.is_counted, by.is_full, _from(e, limit.STOP)),
        "C1": linked,
        "P1": by.is_piped,
        "W2": by.is_wasted,
        "L1": far & short,
        "L2": is_late,
        "O1": serial,
    }


def _of_work(
    by: Measured, e: Floats, memory: Bools, vector: Bools, matrix: Bools
) -> dict[str, Bools]:
    """Rules of memory and compute: below `GOOD` of a roof, and from it on.

    With counters W2 and P1 say what keeps an op from its roof.
    """
    near = _from(e, limit.GOOD)
    far = ~by.is_counted & _below(e, limit.GOOD)
    return {
        "M1": memory & far,
        "M2": memory & near,
        "K3": vector & near,
        "K1": (matrix | vector) & far,
        "K2": matrix & near,
    }


def _is_serial(ops: Clocks, names: list[str], stacked: Floats) -> Bools:
    """Rows that take as long as their clocks one after the other, of memory and of compute."""
    low, high = limit.SERIAL
    total, longest = stacked.sum(axis=0), stacked.max(axis=0)
    is_compute = np.array([name in ops.matrix | ops.vector for name in names], np.bool_)
    both = (stacked[is_compute] > 0).any(axis=0) & (stacked[~is_compute] > 0).any(axis=0)
    found: Bools = _from(ops.time, low * total) & ~_above(ops.time, high * total) & both
    return found & _from(total, limit.SERIAL_GAIN * longest)


def _at_ridge(ops: Clocks, names: list[str], stacked: Floats) -> Bools:
    """Rows whose longest compute clock is about as long as their longest memory clock."""
    is_compute = np.array([name in ops.matrix | ops.vector for name in names], np.bool_)
    is_memory = ~is_compute & np.array([name not in ops.links for name in names], np.bool_)
    if not is_compute.any() or not is_memory.any():
        return np.zeros(stacked.shape[1], np.bool_)
    compute, memory = stacked[is_compute].max(axis=0), stacked[is_memory].max(axis=0)
    low, high = limit.RIDGE
    near: Bools = (memory > 0) & (compute >= low * memory) & (compute <= high * memory)
    return near


def _from(value: Floats, least: Floats | float) -> Bools:
    """`value` >= `least`; false where unknown."""
    holds: Bools = value >= np.multiply(least, 1 - _ROUNDING)
    return holds


def _below(value: Floats, most: float) -> Bools:
    holds: Bools = value < most * (1 - _ROUNDING)
    return holds


def _above(value: Floats, most: Floats | float) -> Bools:
    holds: Bools = value > np.multiply(most, 1 + _ROUNDING)
    return holds
