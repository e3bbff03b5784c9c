"""How the page draws a part of the time, what it means, and which ops it lists."""

from dataclasses import dataclass

from roofline.analysis.subjects.budget import (
    AT_ROOF,
    BELOW_ROOF,
    HOST,
    IDLE,
    IMPOSSIBLE,
    INFEED,
    UNKNOWN,
)
from roofline.model.memory import MemoryLevel
from roofline.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES, UNKNOWN_STYLE

_WORK = "work"
_UNITS = {"compute", "busy"}


@dataclass(frozen=True, slots=True)
class PartStyle:
    """How a part is drawn: its colour is that of its resource, its texture says what kind it is."""

    texture: str
    token: str


# Solid: at the roof. Hatched: the gap of the same ops. Outlined: waiting. Dotted: unknown.
_TEXTURES = {
    AT_ROOF: "solid",
    BELOW_ROOF: "hatch",
    UNKNOWN: "dots",
    IMPOSSIBLE: "dots",
    IDLE: "idle",
}
_TOKENS = {
    UNKNOWN: UNKNOWN_STYLE.token,
    IMPOSSIBLE: "--warn",
    INFEED: "--wait-infeed",
    IDLE: "--line-2",
    "exposed.unknown": "--warn",
}


def part_style(part: str) -> PartStyle:
    """Texture and colour of a part by its id: "at_roof.hbm", "exposed.ici", "idle"."""
    kind, _, key = part.partition(".")
    texture = _TEXTURES.get(kind, "wait")
    if part in _TOKENS:
        return PartStyle(texture, _TOKENS[part])
    style = COMPUTE_STYLE if key in _UNITS else LEVEL_STYLES[MemoryLevel(key)]
    return PartStyle(texture, style.token)


def part_help(part: str) -> str:
    """The meaning of a part, in a sentence or two."""
    kind = part.partition(".")[0]
    return _HELP.get(part) or _HELP[kind]


_HELP = {
    AT_ROOF: "The time that this work needs at the roof that binds it. It stays.",
    BELOW_ROOF: "What the same operations took beyond their time at the roof. It can go.",
    IMPOSSIBLE: "Operations that report more work than their time allows: their numbers are wrong.",
    UNKNOWN: "Work without known FLOPs, bytes or peak. It counts into the floor, because it is "
    "not known that it can go.",
    "exposed": "Communication over this link while the core did nothing else. It can hide behind "
    "work.",
    "exposed.unknown": "Communication while the core did nothing else. Which link it uses is not "
    "known.",
    HOST: "Copies to and from the host while the core did nothing else. They can hide behind work.",
    INFEED: "The core waited for data, or gave it away, while it did nothing else. It can hide.",
    IDLE: "Nothing ran: the core waited for the host.",
}


def owns(part: str, owner: str | None) -> bool:
    """True if an op of `owner` belongs to `part`, which may be a kind ("at_roof")."""
    kind, _, key = part.partition(".")
    if owner is None:
        return False
    if kind in {AT_ROOF, BELOW_ROOF}:
        return owner == f"{_WORK}.{key}" if key else owner.startswith(f"{_WORK}.")
    return owner == part
