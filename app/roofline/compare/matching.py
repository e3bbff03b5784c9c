"""Which operation of one run is which of the other: in tiers, each on what the last one left.

1  framework path, shapes, name and program      6  no path: stem, shapes, equal work
2  path and shapes                               7  no path: stem and shapes
3  path and result shape                         8  no path: stem
4  path and category (the shape changed)         9  group: a fusion that was split or merged
5  scope and shapes (the leaf was renamed)

Inside a key the cheapest assignment counts: by the logarithms of the ratios of calls, FLOPs and
bytes, then by name and by place among operations of that stem. Measured time is never a feature: it
would pair what hides a change. A pair whose calls, FLOPs and bytes all differ by more than four
times is refused.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from roofline.analysis.kernel_names import is_numbered, natural_order
from roofline.analysis.paths import BACKWARD
from roofline.compare.features import Op, assign

MOST_RATIO = 4.0
"""Quantities of a pair may differ by this factor; beyond it in all of them, it is refused."""

# Categories of kernels whose kind no importer knows: two of these may be anything.
_NO_KIND = frozenset({"other", "kernel", "kernel without HLO"})
_LARGEST_KEY = 200  # above it rows are aligned by sorted work
_NAMES_HOLD = 0.9  # of the pairs
_LOST = 5.0  # the distance of something from nothing
_OTHER_NAME, _OTHER_PROGRAM, _RANK = 0.01, 0.02, 0.05

Key = Hashable


class Evidence(StrEnum):
    """What a match or a group says of whether both sides are one program."""

    ALL = "all"  # a module, equal shapes or equal work
    COMMON = "common"  # a name such as "aten::mm": as much as both sides have
    KIND = "kind"  # a category: the same, where nearly all is matched
    NOTHING = "nothing"  # a number of a compiler, with other work and other numbers; "backward"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Operations of one side and the other that are the same: a pair, or a class of equal twins.

    Rows of the runs. A class has several rows on a side: its members cannot be told apart, and its
    sum is exact whatever the pairing.
    """

    a: tuple[int, ...]
    b: tuple[int, ...]
    tier: int
    shows: Evidence = Evidence.ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Operations left over under one scope: together they became one another."""

    scope: str
    a: tuple[int, ...]
    b: tuple[int, ...]
    shows: Evidence = Evidence.COMMON


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """Every operation of both runs once: matched, in a group, or only in one of them."""

    matches: tuple[Match, ...]
    groups: tuple[Group, ...]
    only_a: tuple[int, ...]
    only_b: tuple[int, ...]

    def surely(self) -> "Matching":
        """The same with what is in groups, or not surely matched, left over."""
        sure = tuple(one for one in self.matches if one.shows is Evidence.ALL)
        unsure: list[Match | Group] = [
            *self.groups,
            *(one for one in self.matches if one.shows is not Evidence.ALL),
        ]
        in_a = (row for one in unsure for row in one.a)
        in_b = (row for one in unsure for row in one.b)
        only_a, only_b = sorted((*self.only_a, *in_a)), sorted((*self.only_b, *in_b))
        return Matching(matches=sure, groups=(), only_a=tuple(only_a), only_b=tuple(only_b))

    def swapped(self) -> "Matching":
        """The same with the sides exchanged."""
        return Matching(
            matches=tuple(replace(one, a=one.b, b=one.a) for one in self.matches),
            groups=tuple(replace(one, a=one.b, b=one.a) for one in self.groups),
            only_a=self.only_b,
            only_b=self.only_a,
        )


def match_ops(a: Sequence[Op], b: Sequence[Op], *, by_category: bool = False) -> Matching:
    """The matching of the operations of two runs.

    With `by_category`, what has no path and is left is grouped by category: kernels of another
    vendor have other names.
    """
    left_a, left_b = list(a), list(b)
    pairs: list[tuple[Op, Op, int]] = []
    has_paths = _has_paths(a) and _has_paths(b)
    for tier, key in _tiers(has_paths=has_paths):
        found = _paired(left_a, left_b, key)
        pairs += [(x, y, _tier_of(tier, x, y)) for x, y in found]
        left_a = _without(left_a, (x for x, _ in found))
        left_b = _without(left_b, (y for _, y in found))
    matches, used = _classes(pairs, left_a, left_b)
    left_a, left_b = _without(left_a, used), _without(left_b, used)
    groups = _groups(left_a, left_b, by_category=by_category)
    grouped_a = {row for group in groups for row in group.a}
    grouped_b = {row for group in groups for row in group.b}
    return Matching(
        matches=tuple(matches),
        groups=tuple(groups),
        only_a=tuple(one.row for one in left_a if one.row not in grouped_a),
        only_b=tuple(one.row for one in left_b if one.row not in grouped_b),
    )


def _has_paths(ops: Iterable[Op]) -> bool:
    return any(one.path is not None for one in ops)


def _without(ops: list[Op], gone: Iterable[Op]) -> list[Op]:
    rows = {id(one) for one in gone}
    return [one for one in ops if id(one) not in rows]


# ------------------------------------------------------------------------------------------- tiers


def _tiers(*, has_paths: bool) -> list[tuple[int, Callable[[Op], Key | None]]]:
    """Each tier with its key; `None` for operations that it does not match."""

    def pathless(key: Callable[[Op], Key]) -> Callable[[Op], Key | None]:
        return lambda op: None if has_paths and op.path is not None else key(op)

    return [
        (2, lambda op: op.path and (op.path.scope, op.path.leaf, op.path.direction, _io(op))),
        (3, lambda op: _with(op, op.results)),
        (4, lambda op: _with(op, op.category)),
        (5, _scope_key),
        (6, pathless(lambda op: (op.stem, op.category, _io(op), op.work))),
        (7, pathless(lambda op: (op.stem, op.category, _io(op)) if any(_io(op)) else None)),
        (8, pathless(lambda op: (op.stem, op.category))),
    ]


def _io(op: Op) -> tuple[str, str]:
    return op.operands, op.results


def _with(op: Op, also: str) -> Key | None:
    """The whole path and one more text, where both are known."""
    path = op.path
    return (path.scope, path.leaf, path.direction, also) if path is not None and also else None


def _scope_key(op: Op) -> Key | None:
    """A scope that has a name, with shapes and category: only the leaf may be another."""
    path = op.path
    if path is None or not path.modules or not any(_io(op)):
        return None
    return path.modules, path.direction, _io(op), op.category


def _tier_of(tier: int, a: Op, b: Op) -> int:
    """Tier 2 with the same name of operation and program is tier 1."""
    return 1 if tier == 2 and _same_name(a, b) else tier


def _shown_by(a: Op, b: Op, *, names_hold: bool) -> Evidence:
    path = a.path if a.path == b.path else None
    has_module = path is not None and any(name != BACKWARD for name in path.modules)
    has_work = a.work == b.work and max(np.nan_to_num(a.quantities[1:])) > 0
    if has_module or has_work or (any(_io(a)) and _io(a) == _io(b)):
        return Evidence.ALL
    told = [_apart(x, y) for x, y in zip(a.quantities[1:], b.quantities[1:], strict=True)]
    known = [ratio for ratio in told if ratio is not None]
    is_numbers = path is None and is_numbered(a.name) and not names_hold
    is_other = is_numbers and any(known) and all(known)
    return Evidence.NOTHING if is_other else Evidence.COMMON


# ----------------------------------------------------------------------------------- inside a key


def _paired(
    a: Sequence[Op], b: Sequence[Op], key: Callable[[Op], Key | None]
) -> list[tuple[Op, Op]]:
    of_a, of_b = _by_key(a, key), _by_key(b, key)
    pairs: list[tuple[Op, Op]] = []
    for one, ops in of_a.items():
        others = of_b.get(one)
        if others is None:
            continue
        if len(ops) == 1 and len(others) == 1:
            pairs += [(ops[0], others[0])] if not refused(ops[0], others[0]) else []
        else:
            pairs += _assigned(ops, others)
    return pairs


def _by_key(ops: Iterable[Op], key: Callable[[Op], Key | None]) -> Mapping[Key, list[Op]]:
    found: dict[Key, list[Op]] = defaultdict(list)
    for op in ops:
        one = key(op)
        if one is not None:
            found[one].append(op)
    return found


def _assigned(a: list[Op], b: list[Op]) -> list[tuple[Op, Op]]:
    """Pairs of one key: equal work first, which no cheapest assignment contradicts, then the rest.

    The distance is a metric, so an operation with an exact counterpart is part of some cheapest
    assignment together with it.
    """
    pairs = _equal_pairs(a, b)
    left_a = _without(a, (x for x, _ in pairs))
    left_b = _without(b, (y for _, y in pairs))
    if not left_a or not left_b:
        return pairs
    if max(len(left_a), len(left_b)) > _LARGEST_KEY:
        found = _aligned(left_a, left_b)
    else:
        chosen = assign(_costs(left_a, left_b))
        found = [(left_a[row], left_b[column]) for row, column in chosen]
    return pairs + [(x, y) for x, y in found if not refused(x, y)]


def _equal_pairs(a: Iterable[Op], b: Iterable[Op]) -> list[tuple[Op, Op]]:
    of_a, of_b = _by_key(a, lambda op: op.work), _by_key(b, lambda op: op.work)
    pairs = []
    for work, ops in of_a.items():
        others = of_b.get(work, [])
        by_name = _by_key(others, lambda op: (op.name, op.program))
        same = [
            (x, by_name[x.name, x.program].pop(0)) for x in ops if by_name.get((x.name, x.program))
        ]
        pairs += same
        rest_a = _in_order(_without(ops, (x for x, _ in same)))
        rest_b = _in_order(_without(others, (y for _, y in same)))
        pairs += list(zip(rest_a, rest_b, strict=False))
    return pairs


def _in_order(ops: Iterable[Op]) -> list[Op]:
    return sorted(ops, key=lambda op: (op.rank, natural_order(op.name)))


def _costs(a: Sequence[Op], b: Sequence[Op]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The distance of each of `a` from each of `b`; refused pairs are as far as can be."""
    total = np.zeros((len(a), len(b)))
    for number in range(3):
        x = np.array([op.quantities[number] for op in a])[:, None]
        y = np.array([op.quantities[number] for op in b])[None, :]
        both = (x > 0) & (y > 0)
        ratio = np.abs(np.log(np.where(both, x, 1.0) / np.where(both, y, 1.0)))
        unlike = np.nan_to_num(x) != np.nan_to_num(y)
        total += np.where(both, ratio, np.where(unlike, _LOST, 0.0))
    total += _OTHER_NAME * _unlike([op.name for op in a], [op.name for op in b])
    total += _OTHER_PROGRAM * _unlike([op.program for op in a], [op.program for op in b])
    ranks = np.array([op.rank for op in a])[:, None] - np.array([op.rank for op in b])[None, :]
    return np.asarray(total + _RANK * np.abs(ranks))


def _unlike(a: Sequence[str], b: Sequence[str]) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    return np.asarray(np.array(a, object)[:, None] != np.array(b, object)[None, :])


def _aligned(a: Sequence[Op], b: Sequence[Op]) -> list[tuple[Op, Op]]:
    """Many operations of one key: in the order of their work, evenly stretched."""
    x, y = sorted(a, key=_by_work), sorted(b, key=_by_work)
    count = min(len(x), len(y))
    at_x = np.linspace(0, len(x) - 1, count).round().astype(int).tolist()
    at_y = np.linspace(0, len(y) - 1, count).round().astype(int).tolist()
    return [(x[i], y[j]) for i, j in zip(at_x, at_y, strict=True)]


def _by_work(op: Op) -> tuple[float, ...]:
    return (*(-1.0 if math.isnan(value) else value for value in reversed(op.quantities)), op.rank)


def refused(a: Op, b: Op) -> bool:
    """True where calls, FLOPs and bytes, as far as both are known, all differ by more than 4x."""
    told = [_apart(x, y) for x, y in zip(a.quantities, b.quantities, strict=True)]
    known = [ratio for ratio in told if ratio is not None]
    return len(known) > 1 and all(ratio > math.log(MOST_RATIO) for ratio in known)


def _apart(x: float, y: float) -> float | None:
    """The logarithm of the ratio; `None` where it says nothing: unknown, or nothing on both."""
    if math.isnan(x) or math.isnan(y) or (x <= 0 and y <= 0):
        return None
    return abs(math.log(x / y)) if x > 0 and y > 0 else math.inf


# ----------------------------------------------------------------------------------------- classes


def _classes(
    pairs: Sequence[tuple[Op, Op, int]], left_a: Sequence[Op], left_b: Sequence[Op]
) -> tuple[list[Match], list[Op]]:
    """Pairs of equal twins as one match, with the twins that have no partner; and the latter."""
    spare_a, spare_b = _by_key(left_a, _twin_key), _by_key(left_b, _twin_key)
    names_hold = _names_hold(pairs)
    together: dict[Key, list[tuple[Op, Op, int]]] = defaultdict(list)
    for x, y, tier in pairs:
        together[_twin_key(x), _twin_key(y)].append((x, y, tier))
    matches: list[Match] = []
    used: list[Op] = []
    for members in together.values():
        x, y, _ = members[0]
        extra_a = spare_a.get(_twin_key(x), [])
        extra_b = spare_b.get(_twin_key(y), [])
        if extra_a and extra_b:  # both were refused
            extra_a, extra_b = [], []
        extra_a, extra_b = _without(extra_a, used), _without(extra_b, used)
        used += [*extra_a, *extra_b]
        matches += _class(members, extra_a, extra_b, names_hold=names_hold)
    return matches, used


def _names_hold(pairs: Sequence[tuple[Op, Op, int]]) -> bool:
    """True where nearly all pairs have one name: this build was not renumbered."""
    same = sum(_same_name(x, y) for x, y, _ in pairs)
    return same >= _NAMES_HOLD * len(pairs)


def _same_name(a: Op, b: Op) -> bool:
    return (a.name, a.program) == (b.name, b.program)


def _class(
    members: Sequence[tuple[Op, Op, int]],
    extra_a: Sequence[Op],
    extra_b: Sequence[Op],
    *,
    names_hold: bool,
) -> list[Match]:
    """One match, or the single pairs where names say which twin is which."""
    is_alone = len(members) == 1
    same = is_alone or (names_hold and all(_same_name(x, y) for x, y, _ in members))
    if same and not extra_a and not extra_b:
        return [
            Match(a=(x.row,), b=(y.row,), tier=tier, shows=_shown_by(x, y, names_hold=names_hold))
            for x, y, tier in members
        ]
    a = _in_order([*(x for x, _, _ in members), *extra_a])
    b = _in_order([*(y for _, y, _ in members), *extra_b])
    return [
        Match(
            a=tuple(one.row for one in a),
            b=tuple(one.row for one in b),
            tier=max(tier for _, _, tier in members),
            shows=min(
                (_shown_by(x, y, names_hold=names_hold) for x, y, _ in members),
                key=list(Evidence).index,
            ),
        )
    ]


def _twin_key(op: Op) -> Key:
    """The key that equal twins share: path, shapes and work; without a path, the stem."""
    place = op.path if op.path is not None else (op.stem, op.category)
    return place, _io(op), op.work


# ------------------------------------------------------------------------------------------ groups


def _groups(a: Sequence[Op], b: Sequence[Op], *, by_category: bool) -> list[Group]:
    """Leftovers, by the deepest scope that has some of both sides; never the whole program.

    Forward, backward and recomputed operations are apart.
    """
    groups: list[Group] = []
    left_a = [one for one in a if one.path is not None and one.path.scope]
    left_b = [one for one in b if one.path is not None and one.path.scope]
    deepest = max((len(_scope(one)) for one in (*left_a, *left_b)), default=0)
    for depth in range(deepest, 0, -1):
        of_a, of_b = _by_scope(left_a, depth), _by_scope(left_b, depth)
        for key, ops in of_a.items():
            others = of_b.get(key)
            if others is None:
                continue
            scope, direction = key
            shows = Evidence.NOTHING if scope == (BACKWARD,) else Evidence.COMMON
            groups.append(_group("/".join(scope), ops, others, direction, shows))
            left_a, left_b = _without(left_a, ops), _without(left_b, others)
    return groups + (_category_groups(a, b) if by_category else [])


def _scope(op: Op) -> tuple[str, ...]:
    return op.path.scope if op.path is not None else ()


def _by_scope(ops: Iterable[Op], depth: int) -> dict[tuple[tuple[str, ...], str], list[Op]]:
    found: dict[tuple[tuple[str, ...], str], list[Op]] = defaultdict(list)
    for op in ops:
        if op.path is not None and len(op.path.scope) >= depth:
            found[op.path.scope[:depth], op.path.direction].append(op)
    return found


def _category_groups(a: Sequence[Op], b: Sequence[Op]) -> list[Group]:
    def kind_of(op: Op) -> str | None:
        is_told = op.path is None and op.category not in _NO_KIND
        return op.category if is_told and op.category else None

    of_a, of_b = _by_key(a, kind_of), _by_key(b, kind_of)
    return [
        _group(str(key), of_a[key], of_b[key], "", Evidence.KIND) for key in of_a if key in of_b
    ]


def _group(scope: str, a: Sequence[Op], b: Sequence[Op], direction: str, shows: Evidence) -> Group:
    label = f"{scope} ({direction})" if direction not in ("", "forward") else scope
    return Group(scope=label, a=tuple(x.row for x in a), b=tuple(y.row for y in b), shows=shows)
