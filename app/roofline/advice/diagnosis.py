"""Which rule an op falls under: the first that holds, and others beside it.

Order: validity, stop, communication, latency, overlap, memory and compute; the ridge is added.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from roofline.advice import thresholds as limit
from roofline.analysis.roofline import Floats
from roofline.model.op_columns import Bools
from roofline.model.units import US_PER_S

COMPUTE, VECTOR, MEMORY, COMM = "compute", "vector", "memory", "comm"
NO_RULE = ""
# Times are quotients: exactly 0.60 may come out as 0.6000000000000001 or as 0.5999999999999999.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clocks:
    """One row per op: its time and the clocks of its work, all in one unit; NaN where unknown.

    `clocks` has a column per resource, in the order in which ties are decided. `call_us` is the
    time of one call. `matrix`, `vector`, `on_chip` and `links` name the resources of those kinds;
    all others are main memories. `exposed` is exposed communication in the time of the op.
    """

    time: Floats
    call_us: Floats
    clocks: Mapping[str, Floats]
    vector: frozenset[str] = frozenset({VECTOR})
    matrix: frozenset[str] = frozenset({COMPUTE})
    on_chip: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset({COMM})
    is_async: Bools | None = None
    is_opaque: Bools | None = None
    exposed: Floats | None = None
    exposed_limit: float = limit.EXPOSED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diagnoses:
    """Per op: rule, bound (a resource), share of the roof, and rules that hold beside it."""

    rule: tuple[str, ...]
    bound: tuple[str | None, ...]
    e: Floats
    also: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """One op by its work, SI units, for `diagnose`."""

    time: float
    peak: float
    bw: float
    f_mat: float = 0.0
    f_vec: float = 0.0
    bytes_: float = 0.0
    vec_peak: float = float("nan")
    comm_bytes: float = 0.0
    link: float = float("nan")
    exposed_comm_s: float = 0.0
    async_op: bool = False
    opaque: bool = False
    unit: str = ""
    roof_unit: str = ""
    dtype: str = ""
    roof_dtype: str = ""
    counter_bytes: float = 0.0
    counter_flops: float = 0.0
    levels: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def diagnose(op: Single) -> Diagnoses:
    """The diagnosis of one op; V2 to V5 stand beside its rule."""
    levels = {name: _needs(work, peak) for name, (work, peak) in op.levels.items()}
    clocks = {
        COMPUTE: _needs(op.f_mat, op.peak),
        VECTOR: _needs(op.f_vec, op.vec_peak),
        MEMORY: _needs(op.bytes_, op.bw),
        **levels,
        COMM: _needs(op.comm_bytes, op.link),
    }
    found = diagnose_all(
        Clocks(
            time=np.array([op.time]),
            call_us=np.array([op.time * US_PER_S]),
            clocks={name: np.array([clock]) for name, clock in clocks.items()},
            on_chip=frozenset(levels),
            is_async=np.array([op.async_op]),
            is_opaque=np.array([op.opaque]),
            exposed=np.array([op.exposed_comm_s]),
        )
    )
    flops = op.f_mat + op.f_vec
    flags = {
        "V2": op.bytes_ > 0 and op.counter_bytes > limit.MISMATCH * op.bytes_,
        "V3": flops > 0 and op.counter_flops > limit.MISMATCH * flops,
        "V4": bool(op.unit and op.roof_unit) and op.unit != op.roof_unit,
        "V5": bool(op.dtype and op.roof_dtype) and op.dtype != op.roof_dtype,
    }
    also = (*(rule for rule, holds in flags.items() if holds), *found.also[0])
    return Diagnoses(rule=found.rule, bound=found.bound, e=found.e, also=(also,))


def _needs(work: float, peak: float) -> float:
    return work / peak if work else float("nan")


def diagnose_all(ops: Clocks) -> Diagnoses:
    """The diagnosis of each op; times are compared with a tolerance of rounding alone."""
    names = [*ops.clocks]
    stacked = np.stack([np.nan_to_num(ops.clocks[name]) for name in names])
    longest, total = stacked.max(axis=0), stacked.sum(axis=0)
    which = stacked.argmax(axis=0)
    known = (longest > 0) & (ops.time > 0)
    e = np.where(known, longest / np.where(known, ops.time, 1.0), np.nan)
    exposed = np.zeros(len(e)) if ops.exposed is None else ops.exposed / ops.time

    def of_kind(kind: frozenset[str]) -> Bools:
        of_names = np.array([name in kind for name in names], np.bool_)
        found: Bools = of_names[which] & known
        return found

    linked, vector, matrix = of_kind(ops.links), of_kind(ops.vector), of_kind(ops.matrix)
    on_chip = of_kind(ops.on_chip)
    flags = _rules(ops, e, longest, total, linked | _from(exposed, ops.exposed_limit))
    memory = ~(vector | matrix | linked)
    flags["M1"], flags["M2"] = memory & _below(e, limit.GOOD), memory
    flags["K3"], flags["K1"], flags["K2"] = vector, matrix & _below(e, limit.GOOD), matrix
    flags["V7"] |= ~known & ~flags["C1"]
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


def _rules(
    ops: Clocks, e: Floats, longest: Floats, total: Floats, communicates: Bools
) -> dict[str, Bools]:
    """Rules that come before those of memory and compute, in their order."""
    nobody = np.zeros(len(e), np.bool_)
    low, high = limit.SERIAL
    far = _below(e, limit.FAR)
    short = _below(ops.call_us, limit.LAUNCH_US)
    serial = _from(ops.time, low * total) & ~_above(ops.time, high * total)
    return {
        "V6": nobody if ops.is_async is None else ops.is_async,
        "V7": nobody if ops.is_opaque is None else ops.is_opaque.copy(),
        "V1": _above(e, limit.IMPOSSIBLE),
        "S1": _from(e, limit.STOP),
        "C1": communicates,
        "L1": far & short,
        "L2": far,
        "O1": serial & _from(total, limit.SERIAL_GAIN * longest) & (longest > 0),
    }


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
