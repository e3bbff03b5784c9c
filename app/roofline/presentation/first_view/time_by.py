"""The list "Time by …" as the page opens: layers where the paths have them, else categories.

As `static/js/state/time-by.js` and `static/js/page/time-by.js`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from roofline.presentation.first_view.numbers import ColumnScale, column_scale
from roofline.presentation.first_view.summary import counted
from roofline.presentation.first_view.table import shown_category
from roofline.presentation.page_rows import EFFICIENCY, Rows
from roofline.presentation.quantities import percent

FEWEST_TWINS = 4
STANDS_OUT = 1.3
_FACTORS = {"s": 1e6, "ms": 1e3, "µs": 1.0}
_LEAST = 0.001  # of the list's unit: shorter times have no digits to compare
_NUMBER = re.compile(r"\d+")

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeEntry:
    """A group: its texts, and bar and tick in percent of the list's longest.

    `symbol` and `token` are those of a category. `tick` is the median of its twins, `None` without.
    """

    name: str
    title: str
    time: str
    efficiency: str
    saving: str
    bar: str
    tick: str | None
    is_odd: bool
    has_groups: bool
    symbol: str = ""
    token: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeBy:
    """The list: `by` is its grouping, `unit` that of its times, `has_ticks` where twins are."""

    by: str
    unit: str
    entries: tuple[TimeEntry, ...]
    has_ticks: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    path: Path
    ops: tuple[int, ...]
    time: float
    has_groups: bool
    is_rest: bool
    median: float | None = None


def time_by(rows: Rows) -> TimeBy:
    """The groups of the default view, the longest first, twins together."""
    layers = _listed(_outermost(rows, _paths(rows), ()))
    if any(one.median is not None for one in layers):
        return _list(rows, "layer", layers)
    names = [(one["name"],) for one in rows.categories]
    return _list(rows, "category", _listed(_groups(rows, names, ())))


def _paths(rows: Rows) -> list[Path]:
    groups = rows.page["ops"]["groups"]
    places: Sequence[Sequence[int]] = groups["layer"]
    return [tuple(groups["names"][place] for place in places[op]) for op in rows.ops]


def _groups(rows: Rows, keys: Sequence[Path], above: Path) -> list[_Group]:
    level = len(above)
    members: dict[Path, list[int]] = defaultdict(list)
    for number, key in enumerate(keys):
        if key[:level] == above:
            members[(*above, key[level] if len(key) > level else "")].append(number)
    times, costs = rows.numbers("self_time_per_core_us"), rows.column("cost")
    found = [
        _Group(
            path=path,
            ops=tuple(ops),
            time=sum(times[op] for op in ops),
            has_groups=bool(path[-1]) and any(len(keys[op]) > level + 1 for op in ops),
            is_rest=not path[-1] or all(costs[op] == "idle" for op in ops),
        )
        for path, ops in members.items()
    ]
    return sorted(found, key=lambda one: (-one.time, one.path[-1]))


def _outermost(rows: Rows, keys: Sequence[Path], above: Path) -> list[_Group]:
    """A single module around all others gives way to those in it."""
    found = _groups(rows, keys, above)
    inner = [one for one in found if one.has_groups]
    others = [one for one in found if not one.has_groups]
    if len(inner) != 1 or not all(one.is_rest for one in others):
        return found
    return [*_outermost(rows, keys, inner[0].path), *others]


def _listed(groups: Sequence[_Group]) -> list[_Group]:
    families: dict[object, list[_Group]] = defaultdict(list)
    for one in groups:
        name = one.path[-1]
        families[_NUMBER.sub("#", name) if _NUMBER.search(name) else one.path].append(one)
    blocks: list[list[_Group]] = []
    for family in families.values():
        is_alike = len(family) >= FEWEST_TWINS
        blocks += [_twins(family)] if is_alike else [[one] for one in family]
    blocks.sort(key=lambda block: -sum(one.time for one in block))
    return [one for block in blocks for one in block]


def _twins(family: Sequence[_Group]) -> list[_Group]:
    usual = median(one.time for one in family)
    return [
        _Group(
            path=one.path,
            ops=one.ops,
            time=one.time,
            has_groups=one.has_groups,
            is_rest=one.is_rest,
            median=usual,
        )
        for one in sorted(family, key=_natural)
    ]


def _natural(one: _Group) -> list[tuple[int, str, int]]:
    pieces = re.split(r"(\d+)", one.path[-1])
    return [(1, "", int(text)) if text.isdigit() else (0, text, 0) for text in pieces]


def _list(rows: Rows, by: str, groups: Sequence[_Group]) -> TimeBy:
    longest = max((one.time for one in groups), default=0.0)
    scale = column_scale("time_us", longest)
    return TimeBy(
        by=by,
        unit=scale.unit,
        entries=tuple(_entries(rows, by, groups, scale, longest or 1.0)),
        has_ticks=any(one.median is not None for one in groups),
    )


def _entries(
    rows: Rows, by: str, groups: Sequence[_Group], scale: ColumnScale, longest: float
) -> Iterator[TimeEntry]:
    times, shares = rows.numbers("self_time_per_core_us"), rows.shares
    reached, savings = rows.column(EFFICIENCY), rows.column("saving_per_core_us")
    looks = {one["name"]: one for one in rows.page["categories"]} if by == "category" else {}
    is_timed = any(one.time for one in groups)  # else no time was measured, which is not zero
    for one in groups:
        placed = [op for op in one.ops if reached[op] is not None]
        time = sum(times[op] for op in placed)
        efficiency = (
            sum(times[op] * min(1.0, reached[op]) for op in placed) / time if time else None
        )
        known = [savings[op] for op in one.ops if savings[op] is not None]
        name = shown_category(one.path[-1]) or ("(here)" if len(one.path) > 1 else "(not known)")
        share = percent(sum(shares[op] for op in one.ops))
        look = looks.get(one.path[-1], {"symbol": "", "token": ""})
        yield TimeEntry(
            name=name,
            title=f"{' / '.join(one.path) or name}: {counted(len(one.ops), 'op')}, {share}",
            time=_amount(scale, one.time if is_timed else None),
            efficiency=percent(efficiency, 0),
            saving=_amount(scale, sum(known) if known else None),
            bar=f"{min(100.0, 100 * one.time / longest):.1f}",
            tick=None if one.median is None else f"{min(100.0, 100 * one.median / longest):.1f}",
            is_odd=one.median is not None and one.time > STANDS_OUT * one.median,
            has_groups=one.has_groups,
            symbol=look["symbol"],
            token=look["token"],
        )


def _amount(scale: ColumnScale, us: float | None) -> str:
    """A time in the unit of the list."""
    if us is not None and 0 < us < _LEAST * _FACTORS[scale.unit]:
        return f"<{_LEAST}"
    return scale.text(us)
