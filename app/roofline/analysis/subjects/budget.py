"""The time of a subject as parts by resource: at and below each roof, waits, what is unknown.

They are the subject's own parts, divided by what binds the ops; their sum is its length.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from roofline.analysis.records import I64, RooflineAnalysis
from roofline.analysis.subjects.records import Kind, OpPart, Subject
from roofline.model.memory import MemoryLevel

AT_ROOF, BELOW_ROOF = "at_roof", "below_roof"
UNKNOWN, IMPOSSIBLE, IDLE = "unknown", "impossible", "idle"
INFEED, HOST = "infeed_outfeed", "exposed_transfer.host"
_ORDER = (AT_ROOF, UNKNOWN, IMPOSSIBLE, BELOW_ROOF, "exposed", "exposed_transfer", INFEED, IDLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """One division of time, in us: `parts` by id ("at_roof.hbm") add up to `total_us`."""

    total_us: float
    floor_us: float
    parts: Mapping[str, float]


def budget_of(analysis: RooflineAnalysis, subject: Subject) -> Budget | None:
    """The parts of a subject by resource; `None` for a host, and without times."""
    if subject.kind is Kind.HOST or subject.floor_us is None or analysis.options.xprof_compat:
        return None
    ops, parts = subject.ops, subject.parts
    bound = np.array(bound_names(analysis), object)[analysis.ops.measures.bound]
    works = np.array([part is OpPart.WORK for part in ops.part], np.bool_)
    found: dict[str, float] = {}
    for name in dict.fromkeys(bound[works].tolist()):
        mine = works & (bound == name)
        needed_us = float(ops.needed_us[mine].sum())
        found[f"{AT_ROOF}.{name}"] = needed_us
        found[f"{BELOW_ROOF}.{name}"] = float(ops.width_us[mine].sum()) - needed_us
    found |= {UNKNOWN: parts.unknown, IMPOSSIBLE: parts.impossible}
    found |= {f"exposed.{link}": us for link, us in parts.links.items()}
    found |= {HOST: parts.transfers, INFEED: parts.input, IDLE: parts.idle}
    known = {name: us for name, us in found.items() if us > 0}
    return Budget(
        total_us=subject.time_us,
        floor_us=subject.floor_us,
        parts=dict(sorted(known.items(), key=lambda one: _ORDER.index(one[0].partition(".")[0]))),
    )


def bound_names(analysis: RooflineAnalysis) -> tuple[str, ...]:
    """The words for each bound code in the name of a part: of busy ops without work "busy"."""
    return ("busy", "compute", *(level.value for level in analysis.levels), "busy")


def owners_of(analysis: RooflineAnalysis, subject: Subject, ops: I64) -> list[str | None]:
    """The part that owns the time of each op; "work.hbm" stands for at and below that roof.

    `None` where the subject has no parts, and for an op without time in it.
    """
    if subject.kind is Kind.HOST or subject.floor_us is None:
        return [None] * len(ops)
    names, idle = bound_names(analysis), len(analysis.profile.ops)
    return [
        IDLE if op == idle else _owner(analysis, subject.ops.part[op], op, names)
        for op in ops.tolist()
    ]


def _owner(analysis: RooflineAnalysis, part: OpPart, op: int, names: tuple[str, ...]) -> str | None:
    match part:
        case OpPart.NONE:
            return None
        case OpPart.WORK:
            return f"work.{names[int(analysis.ops.measures.bound[op])]}"
        case OpPart.LINKS:
            link = analysis.ops.moved.link[op]
            return f"exposed.{UNKNOWN if link is None else link.value}"
        case OpPart.TRANSFERS:
            return HOST
        case OpPart.INPUT:
            return INFEED
    return part.value


_LABELS = {
    UNKNOWN: "cost not known",
    IMPOSSIBLE: "impossible",
    HOST: "waiting for host transfers",
    "exposed.unknown": "waiting for other ranks",
    INFEED: "waiting for input",
    IDLE: "idle",
    "at_roof.compute": "at the compute roof",
    "below_roof.compute": "below the compute roof",
    "at_roof.busy": "busy, as counted",
    "below_roof.busy": "not busy, as counted",
}


def part_label(name: str) -> str:
    """The page's name of a part: "at the HBM roof", "waiting for ICI"."""
    if name in _LABELS:
        return _LABELS[name]
    kind, _, key = name.partition(".")
    level = MemoryLevel(key).label
    if kind == "exposed":
        return f"waiting for {level}"
    return f"{'at' if kind == AT_ROOF else 'below'} the {level} roof"
