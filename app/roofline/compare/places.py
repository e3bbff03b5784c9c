"""Where two runs differ: a part for each module, else for each category.

A group that has over half of both runs is split into the modules in it, until none has or nothing
is inside: a model's root and its layers say nothing, the parts of a layer do. So is a group with a
module that only one run has and that is worth a row; such a module stays whole. Instances
(`Block_3`) count as their class. A pair of operations belongs to the module of B's operation, but
counts on each side where only one run has nearly all of a module; to a category belong the
operations of each side that have it.
Parts add up to the change; those of time, the waits among them, are rows of a comparison.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from roofline.analysis.paths import FORWARD, op_path
from roofline.compare.changes import (
    CATEGORY,
    CODE,
    MODULE,
    OPERATION,
    UNNAMED,
    WAIT,
    Place,
    PlaceChange,
    Side,
)
from roofline.compare.statistics import noise_us
from roofline.model.plain_data import alike

Scope = tuple[str, ...]

_ALTERNATIVES = ";"  # a fused op may have several paths: the first is its own
_BACKWARD = "backward"
_INSTANCE = re.compile(r"(?<=.)[._]\d+$")
_NO_KIND = ("other", "")
_ASYNCHRONOUS = re.compile(r"(.+)-(?:start|done)")
_MOST = 0.5
_WORTH = 0.1  # of all changes together
_NEARLY_ALL = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Operations that belong together: their amounts in A and in B, and the user's line.

    `path`, `category`, `name` and `shapes` are of the operation that names them; they are in the
    first `depth` modules of the path, without it in all. `was` is a pair as A alone has it.
    """

    path: str
    category: str
    name: str
    before: float
    after: float
    source: str
    library: str
    shapes: str = ""
    a: tuple[Side, ...] = ()
    b: tuple[Side, ...] = ()
    depth: int | None = None
    was: "Entry | None" = None

    @property
    def scope(self) -> Scope:
        """The modules around it, by class."""
        return scope_of(self.path)[: self.depth]

    @property
    def change(self) -> float:
        """B less A."""
        return self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Entries of one place; the fields are those of `PlaceChange`."""

    kind: str
    name: str
    entries: tuple[Entry, ...]
    is_itself: bool = False
    phase: str = ""
    around: str = ""
    copies: int = 1

    @property
    def change(self) -> float:
        """B less A."""
        return sum(one.change for one in self.entries)

    @property
    def is_new(self) -> bool:
        """True for code that A does not have."""
        return self.kind in CODE and not any(one.before for one in self.entries)

    @property
    def named_by(self) -> Entry:
        """The entry that changed most: its line is the place's line. A category is everywhere, so
        it has a line only where most of its change is there."""
        lines: dict[str, float] = defaultdict(float)
        for one in self.entries:
            lines[one.source] += one.change
        line = max(lines, key=lambda each: (bool(each), abs(lines[each])))
        of_line = [one for one in self.entries if one.source == line]
        found = max(of_line, key=lambda one: abs(one.change))
        if self.kind == CATEGORY and abs(lines[line]) < _MOST * sum(map(abs, lines.values())):
            return replace(found, source="", library="")
        return found


def place_changes(
    entries: Sequence[Entry], waits: Iterable[tuple[str, Sequence[float], Sequence[float]]]
) -> tuple[PlaceChange, ...]:
    """The rows of `entries` and of `waits`: what is most beyond its noise first.

    A wait has its term, and for A and for B its time in us, then that in each capture.
    """
    rows = [_row(one) for one in parts_of(entries)]
    rows += [
        PlaceChange(
            kind=WAIT,
            name=name,
            a=Place(time_us=a[0]),
            b=Place(time_us=b[0]),
            noise_us=noise_us(a[1:], b[1:]),
        )
        for name, a, b in waits
        if a[0] or b[0]
    ]
    return tuple(
        sorted(
            rows, key=lambda one: (-one.beyond_us, -abs(one.change_us), -one.a.time_us, one.name)
        )
    )


def parts_of(entries: Sequence[Entry]) -> list[Part]:
    """Each place with its entries: modules, where at least half is in one, else categories, else
    operations where all are of one category."""
    if have_modules(entries):
        return _by_module(entries)
    found = _by_category([each for one in entries for each in _apart(one)])
    says_nothing = any(
        one.name in _NO_KIND and _both(one.entries) > _MOST * _both(entries) for one in found
    )
    return found if len(found) > 1 and not says_nothing else operations_of(entries)


def operations_of(entries: Sequence[Entry]) -> list[Part]:
    """Each entry as a place of its own."""
    return [Part(kind=OPERATION, name=one.name, entries=(one,)) for one in entries]


def scope_of(path: str) -> Scope:
    """The modules around an operation, each without the number of its instance."""
    return tuple(_INSTANCE.sub("", name) for name in raw_scope(path))


def raw_scope(path: str) -> Scope:
    """The same with the numbers of instances."""
    found = op_path(path.partition(_ALTERNATIVES)[0])
    inside = found.modules if found else ()
    return inside[1:] if inside[:1] == (_BACKWARD,) else inside


def shared_place(paths: Sequence[str], amounts: Sequence[float]) -> tuple[int, int]:
    """The operation that names a mixed group, and in how many of its modules the group is: the
    deepest module with nearly all of `amounts`, and the largest operation in it."""
    order = sorted(range(len(paths)), key=lambda one: -amounts[one])
    scopes = [scope_of(path) for path in paths]
    for depth in range(max(map(len, scopes)), 0, -1):
        inside: dict[Scope, float] = defaultdict(float)
        for scope, amount in zip(scopes, amounts, strict=True):
            inside[scope[:depth]] += amount
        most = max(inside, key=lambda one: inside[one])
        if len(most) == depth and inside[most] >= _NEARLY_ALL * sum(amounts):
            return next(one for one in order if scopes[one][:depth] == most), depth
    return order[0], 0


def short_module(name: str, root: str) -> str:
    """A class without the family that it shares with its model: `Qwen2RMSNorm` is `RMSNorm`."""
    same = next((at for at, two in enumerate(zip(name, root, strict=False)) if two[0] != two[1]), 0)
    ends = [at for at in range(same, 0, -1) if name[at].isupper() and root[at].isupper()]
    return name[ends[0] :] if ends else name


def have_modules(entries: Sequence[Entry]) -> bool:
    """True where at least half of both sides is in a module."""
    placed = _both(one for one in entries if one.scope)
    return placed > 0 and placed >= _MOST * _both(entries)


def _both(entries: Iterable[Entry]) -> float:
    return sum(one.before + one.after for one in entries)


def _apart(one: Entry) -> list[Entry]:
    """Each operation of each side on its own: a category has its own operations, whatever they
    became, so that its times are those of each run's own groups."""
    if not one.a and not one.b:
        return [one]
    before = [replace(_of_side(one, side), before=side.time_us, a=(side,)) for side in one.a]
    return before + [replace(_of_side(one, side), after=side.time_us, b=(side,)) for side in one.b]


def _of_side(one: Entry, side: Side) -> Entry:
    return replace(
        one,
        path=side.path,
        category=side.category,
        name=side.names[0],
        depth=None,
        before=0.0,
        after=0.0,
        source=side.source,
        library=side.library,
        a=(),
        b=(),
    )


def _by_category(entries: Sequence[Entry]) -> list[Part]:
    groups: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for one in entries:
        # What XLA splits in two, as a copy, is one thing.
        name = _ASYNCHRONOUS.sub(r"\1-start/done", one.category)
        groups[name, _phase(one.path)].append(one)
    return [
        Part(kind=CATEGORY, name=name, phase=phase, entries=tuple(members))
        for (name, phase), members in groups.items()
    ]


def _phase(path: str) -> str:
    """The phase of an operation, where its path says more than "forward"."""
    found = op_path(path.partition(_ALTERNATIVES)[0])
    if found is None:
        return ""
    if found.modules[:1] == (_BACKWARD,):
        return _BACKWARD
    return "" if found.direction == FORWARD else found.direction


def _by_module(entries: Sequence[Entry]) -> list[Part]:
    entries = _without_strays(entries)
    split = _Split(entries)
    groups = split.parts([one for one in entries if one.scope], ())
    names = [key[-1] for key, _, _ in groups]
    found = []
    for key, members, is_itself in groups:
        name = short_module(key[-1], key[0])
        if names.count(key[-1]) > 1 + is_itself and len(key) > 1:
            name = f"{short_module(key[-2], key[0])}/{name}"
        around = {raw_scope(one.path)[: len(key) - 1] for one in members}
        found.append(
            Part(
                kind=MODULE,
                name=name,
                entries=tuple(members),
                is_itself=is_itself,
                around=short_module(key[-2], key[0]) if len(key) > 1 else "",
                copies=len(around),
            )
        )
    rest = tuple(one for one in entries if not one.scope)
    return found + ([Part(kind=UNNAMED, name="", entries=rest)] if rest else [])


def _without_strays(entries: Sequence[Entry]) -> list[Entry]:
    """Few pairs in a module that only one run has are not pairs.

    A row of PyTorch stands for calls in several modules, or the layer that was added has an
    operation of the same name.
    """
    sides = [(one.was or one, one) for one in entries]
    of_a = _modules([was.scope for was, one in sides if one.before])
    of_b = _modules([one.scope for one in entries if one.after])
    new = [_first_outside(one.scope, of_a) if one.after else () for one in entries]
    gone = [_first_outside(was.scope, of_b) if one.before else () for was, one in sides]
    amounts = defaultdict[Scope, float](float)  # of the run that has the module, less the other's
    for one, here, there in zip(entries, new, gone, strict=True):
        amounts[here] += (1 - _NEARLY_ALL) * one.after - one.before
        amounts[there] += (1 - _NEARLY_ALL) * one.before - one.after
    found: list[Entry] = []
    for one, *modules in zip(entries, new, gone, strict=True):
        if one.was and any(module and amounts[module] > 0 for module in modules):
            found.append(replace(one.was, before=one.before, a=one.a))
            found.append(replace(one, before=0.0, a=()))
        else:
            found.append(one)
    return found


def _modules(scopes: Iterable[Scope]) -> set[Scope]:
    return {scope[:level] for scope in scopes for level in range(1, len(scope) + 1)}


def _first_outside(scope: Scope, known: set[Scope]) -> Scope:
    """The outermost module around a place that is not among the known ones."""
    around = (scope[:level] for level in range(1, len(scope) + 1))
    return next((one for one in around if one not in known), ())


class _Split:
    """Groups entries by module, and splits what says nothing as a whole."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._all = _both(entries)
        self._changes = sum(abs(one.change) for one in entries)
        self._has_pairs = any(one.before and one.after for one in entries)

    def parts(
        self, entries: Sequence[Entry], above: Scope
    ) -> list[tuple[Scope, list[Entry], bool]]:
        """The modules below `above`; what lies in `above` alone is the last."""
        inside = _inside(entries, len(above))
        itself = inside.pop(above, [])
        found: list[tuple[Scope, list[Entry], bool]] = []
        for key, members in inside.items():
            if self._says_nothing(key, members):
                found += self.parts(members, key)
            else:
                found.append((key, members, False))
        return found + ([(above, itself, True)] if itself else [])

    def _says_nothing(self, key: Scope, members: Sequence[Entry]) -> bool:
        inner = _inside(members, len(key))
        inner.pop(key, None)
        before, after = sum(one.before for one in members), sum(one.after for one in members)
        is_on_both = bool(before and after) or not self._has_pairs
        if not inner or not is_on_both:
            return False
        if before + after > _MOST * self._all:
            return True
        return any(
            not (sum(one.before for one in each) and sum(one.after for one in each))
            and abs(sum(one.change for one in each)) > _WORTH * self._changes
            for each in inner.values()
        )


def _inside(entries: Sequence[Entry], level: int) -> dict[Scope, list[Entry]]:
    found: dict[Scope, list[Entry]] = defaultdict(list)
    for one in entries:
        found[one.scope[: level + 1]].append(one)
    return found


def _row(part: Part) -> PlaceChange:
    sides_a = [side for one in part.entries for side in one.a]
    sides_b = [side for one in part.entries for side in one.b]
    line = part.named_by
    return alike(
        PlaceChange,
        part,
        a=_place(sides_a),
        b=_place(sides_b),
        source=line.source,
        library=line.library,
        noise_us=noise_us(_captures(sides_a), _captures(sides_b)),
    )


def _captures(sides: Sequence[Side]) -> list[float]:
    """The time of all of `sides` in each capture; empty where there is one capture."""
    return [sum(times) for times in zip(*(one.captures_us for one in sides), strict=True)]


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
