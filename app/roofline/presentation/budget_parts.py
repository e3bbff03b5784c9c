"""Which part of the budget owns each op, and how the page draws a part."""

from dataclasses import dataclass

import numpy as np

from roofline.analysis.records import I64, Cost, RooflineAnalysis
from roofline.model.categories import is_async_copy, is_container, is_infeed_outfeed
from roofline.model.memory import MemoryLevel
from roofline.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES, UNKNOWN_STYLE

AT_ROOF, BELOW_ROOF = "at_roof", "below_roof"
_WORK, _UNKNOWN, _IDLE = "work", "unknown", "idle"
_HOST = "exposed_transfer.host"
_INFEED = "infeed_outfeed"


@dataclass(frozen=True, slots=True)
class PartStyle:
    """How a part is drawn: its colour is that of its resource, its texture says what kind it is."""

    texture: str
    token: str


# Solid: at the roof. Hatched: the gap of the same ops. Outlined: waiting. Dotted: unknown.
_TEXTURES = {AT_ROOF: "solid", BELOW_ROOF: "hatch", _UNKNOWN: "dots", _IDLE: "idle"}
_TOKENS = {
    _UNKNOWN: UNKNOWN_STYLE.token,
    _INFEED: "--wait-infeed",
    "launch_gaps": "--line-2",
    _IDLE: "--line-2",
    "exposed.unknown": "--warn",
}


def part_style(part: str) -> PartStyle:
    """Texture and colour of a part by its id: "at_roof.hbm", "exposed.ici", "idle"."""
    kind, _, key = part.partition(".")
    texture = _TEXTURES.get(kind, "wait")
    if part in _TOKENS:
        return PartStyle(texture, _TOKENS[part])
    style = COMPUTE_STYLE if key == "compute" else LEVEL_STYLES[MemoryLevel(key)]
    return PartStyle(texture, style.token)


def part_help(part: str) -> str:
    """The meaning of a part, in a sentence or two."""
    kind = part.partition(".")[0]
    return _HELP.get(part) or _HELP[kind]


_HELP = {
    AT_ROOF: "The time that this work needs at the roof that binds it. It stays.",
    BELOW_ROOF: "What the same operations took beyond their time at the roof. It can go.",
    _UNKNOWN: "Work without known FLOPs, bytes or peak. It counts into the floor, because it is "
    "not known that it can go.",
    "exposed": "Communication over this link while the core did nothing else. It can hide behind "
    "work.",
    "exposed.unknown": "Communication while the core did nothing else. Which link it uses is not "
    "known.",
    _HOST: "Copies to and from the host while the core did nothing else. They can hide behind "
    "work.",
    _INFEED: "The core fed data in or out while it did nothing else. It counts into the floor.",
    "launch_gaps": "Empty stretches of less than 50 µs between operations.",
    _IDLE: "Nothing ran, for 50 µs or longer.",
}


def owners(analysis: RooflineAnalysis, listed: I64) -> list[str | None]:
    """The part that owns the time of each listed op; "work.hbm" stands for at and below the roof.

    `None` where the profile has no budget.
    """
    if analysis.budgets is None:
        return [None] * len(listed)
    containers = _containers(analysis)
    return [_UNKNOWN if op in containers else _owner(analysis, op) for op in listed.tolist()]


def _containers(analysis: RooflineAnalysis) -> frozenset[int]:
    """Ops whose own time is of unknown cost: those around others, and in a table awaited copies."""
    timeline = analysis.profile.timeline
    if timeline is not None:
        return frozenset(timeline.work.op[~timeline.work.is_work].tolist())
    return frozenset(
        op
        for op, category in enumerate(analysis.ops.category)
        if is_container(category)
        or (is_async_copy(category) and analysis.ops.cost[op] is not Cost.TRANSFER)
    )


def _owner(analysis: RooflineAnalysis, op: int) -> str:
    ops = analysis.ops
    if ops.cost[op] is Cost.IDLE:
        return _IDLE
    if is_infeed_outfeed(ops.category[op]):
        return _INFEED
    if ops.cost[op] is Cost.TRANSFER:
        link = ops.moved.link[op]
        if link is MemoryLevel.HOST:
            return _HOST
        return f"exposed.{_UNKNOWN if link is None else link.value}"
    code = int(ops.measures.bound[op])
    names = [_UNKNOWN, "compute", *(level.value for level in analysis.levels)]
    known = code < len(names) and not np.isnan(ops.measures.roofline_efficiency_ratio[op])
    return f"{_WORK}.{names[code]}" if known and code else _UNKNOWN


def owns(part: str, owner: str | None) -> bool:
    """True if an op of `owner` belongs to `part`, which may be a kind ("at_roof")."""
    kind, _, key = part.partition(".")
    if owner is None:
        return False
    if kind in {AT_ROOF, BELOW_ROOF}:
        return owner == f"{_WORK}.{key}" if key else owner.startswith(f"{_WORK}.")
    return owner == (_IDLE if part == "launch_gaps" else part)
