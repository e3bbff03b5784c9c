"""Where the time of two runs changed: a row for each module, else for each category.

A group that has over half of the time of both runs is split into the modules in it, until none has
or nothing is inside: a model's root and its layers say nothing, the parts of a layer do. Instances
(`Block_3`) count as their class. A pair of operations belongs to the module of B's operation. Rows,
the waits among them, add up to the change.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from roofline.analysis.paths import op_path
from roofline.compare.changes import (
    CATEGORY,
    MODULE,
    UNNAMED,
    WAIT,
    OnlyOp,
    Place,
    PlaceChange,
    Side,
)

Scope = tuple[str, ...]

_ALTERNATIVES = ";"  # a fused op may have several paths: the first is its own
_BACKWARD = "backward"
_INSTANCE = re.compile(r"(?<=.)[._]\d+$")
_MOST = 0.5


@dataclass(frozen=True, slots=True)
class Entry:
    """Operations that belong together, on both sides."""

    scope: Scope
    category: str
    a: tuple[Side, ...] = ()
    b: tuple[Side, ...] = ()

    @property
    def both_us(self) -> float:
        """The time of both sides."""
        return sum(side.time_us for side in (*self.a, *self.b))


def place_changes(
    entries: Sequence[Entry], waits: Iterable[tuple[str, float, float]]
) -> tuple[PlaceChange, ...]:
    """The rows of `entries` and of `waits` (term, us of A, us of B), the largest change first."""
    rows = _by_module(entries) if _have_modules(entries) else _by_category(entries)
    rows += [
        PlaceChange(kind=WAIT, name=name, a=Place(time_us=a), b=Place(time_us=b))
        for name, a, b in waits
        if a or b
    ]
    return tuple(sorted(rows, key=lambda one: (-abs(one.change_us), -one.a.time_us, one.name)))


def scope_of(path: str) -> Scope:
    """The modules around an operation, each without the number of its instance."""
    return tuple(_INSTANCE.sub("", name) for name in raw_scope(path))


def raw_scope(path: str) -> Scope:
    """The same with the numbers of instances."""
    found = op_path(path.partition(_ALTERNATIVES)[0])
    inside = found.modules if found else ()
    return inside[1:] if inside[:1] == (_BACKWARD,) else inside


def modules_of(only: Sequence[OnlyOp]) -> dict[Scope, list[OnlyOp]]:
    """Operations that one run alone has, by their whole scope."""
    found: dict[Scope, list[OnlyOp]] = defaultdict(list)
    for one in only:
        found[scope_of(one.path)].append(one)
    return found


def short_module(name: str, root: str) -> str:
    """A class without the family that it shares with its model: `Qwen2RMSNorm` is `RMSNorm`."""
    same = next((at for at, two in enumerate(zip(name, root, strict=False)) if two[0] != two[1]), 0)
    ends = [at for at in range(same, 0, -1) if name[at].isupper() and root[at].isupper()]
    return name[ends[0] :] if ends else name


def _have_modules(entries: Sequence[Entry]) -> bool:
    placed = sum(one.both_us for one in entries if one.scope)
    return placed > 0 and placed >= _MOST * sum(one.both_us for one in entries)


def _by_category(entries: Sequence[Entry]) -> list[PlaceChange]:
    groups: dict[str, list[Entry]] = defaultdict(list)
    for one in entries:
        groups[one.category].append(one)
    return [_change(CATEGORY, name, members) for name, members in groups.items()]


def _by_module(entries: Sequence[Entry]) -> list[PlaceChange]:
    total = sum(one.both_us for one in entries)
    groups = _split([one for one in entries if one.scope], (), total)
    names = [key[-1] for key, _, _ in groups]
    rows = []
    for key, members, is_itself in groups:
        name = short_module(key[-1], key[0])
        if names.count(key[-1]) > 1 + is_itself and len(key) > 1:
            name = f"{short_module(key[-2], key[0])}/{name}"
        rows.append(_change(MODULE, name, members, is_itself=is_itself))
    rest = [one for one in entries if not one.scope]
    return rows + ([_change(UNNAMED, "", rest)] if rest else [])


def _split(
    entries: Sequence[Entry], above: Scope, total: float
) -> list[tuple[Scope, list[Entry], bool]]:
    """The modules below `above`; what lies in `above` alone is the last."""
    level = len(above)
    inside: dict[Scope, list[Entry]] = defaultdict(list)
    for one in entries:
        inside[one.scope[: level + 1]].append(one)
    itself = inside.pop(above, [])
    found: list[tuple[Scope, list[Entry], bool]] = []
    for key, members in inside.items():
        is_large = sum(one.both_us for one in members) > _MOST * total
        if is_large and any(len(one.scope) > level + 1 for one in members):
            found += _split(members, key, total)
        else:
            found.append((key, members, False))
    return found + ([(above, itself, True)] if itself else [])


def _change(
    kind: str, name: str, entries: Sequence[Entry], *, is_itself: bool = False
) -> PlaceChange:
    a = _place([side for one in entries for side in one.a])
    b = _place([side for one in entries for side in one.b])
    return PlaceChange(kind=kind, name=name, a=a, b=b, is_itself=is_itself)


def _place(sides: Sequence[Side]) -> Place:
    bounds: dict[str, float] = defaultdict(float)
    for side in sides:
        if side.bound:
            bounds[side.bound] += side.time_us
    return Place(
        time_us=sum(side.time_us for side in sides),
        needed_us=sum(side.needed_us for side in sides),
        judged_us=sum(side.judged_us for side in sides),
        bounds=dict(bounds),
    )
