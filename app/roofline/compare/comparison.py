"""Two runs, or several captures of each, against each other: one record of all that changed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.analysis.roofline import Floats
from roofline.compare.attribution import (
    OF_PAIRS,
    Costs,
    add_up,
    attribute,
    regrouped,
    roof_us,
)
from roofline.compare.features import digest, ops_of
from roofline.compare.matching import Group, Match, Matching, match_ops
from roofline.compare.run import UNITS, Run
from roofline.compare.statistics import Tested, capture_median, mann_whitney
from roofline.errors import BadViewError
from roofline.model.memory import MemoryLevel

FEWEST_CAPTURES = 3
"""With fewer captures on a side there is no verdict on time."""

ONLY = "only"
_LEAST_MATCHED = 0.5
_ABOVE_ROOF = 1.03
_VISIBLE = 0.01
_EXPOSED = "communication"
MEMORIES = frozenset(level.value for level in MemoryLevel)
"""Resources that are memories or links; all others are compute units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a change: names of its operations, time, calls and work in a unit.

    `flop`, `bytes` and `main_bytes` (those of the main memory) are per call, `efficiency` is the
    share of the roof, `bound` the resource at the lowest roof; `None` is unknown. `compute_us` and
    `memory_us` are the longest clocks of either kind over all calls, `serial_us` is the sum of all
    clocks; NaN without known cost. `operands` and `results` are tensors in XLA's notation.
    """

    names: tuple[str, ...]
    time_us: float
    calls: float
    flop: float | None
    bytes: float | None
    main_bytes: float | None
    efficiency: float | None
    bound: str | None
    source: str
    compute_us: float
    memory_us: float
    serial_us: float
    operands: str
    results: str

    @property
    def is_known(self) -> bool:
        """True where time and cost are known."""
        return self.time_us > 0 and max(self.compute_us, self.memory_us) > 0

    @property
    def roof_us(self) -> float:
        """The longest clock: T min."""
        return max(self.compute_us, self.memory_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpChange:
    """What became of an operation, or of a class of equal twins; `terms` add up to the change."""

    a: Side
    b: Side
    tier: int
    category: str
    path: str
    change_us: float
    terms: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """Operations under one scope that became others together."""

    scope: str
    a: tuple[Side, ...]
    b: tuple[Side, ...]
    category: str
    change_us: float
    terms: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyOp:
    """An operation that only one run has."""

    side: Side
    category: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A fact of the captures on both sides."""

    name: str
    a: str
    b: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Captures:
    """The time of each capture of one side in the unit, in us, and which one stands for all."""

    labels: tuple[str, ...]
    time_us: tuple[float, ...]
    chosen: int
    spread_us: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All that changed from A to B, in us per unit and core. `terms` add up to `change_us`.

    `matched` are shares of the time in operations of both runs, by tier, with `only` for what has
    no partner. `notes` say what limits the comparison; `is_comparable` is false where no headline
    should be made of it. `tested` is there from three captures a side on. `exposed_us` is the
    exposed communication of A and of B.
    """

    unit: str
    a_us: float
    b_us: float
    change_us: float
    terms: Mapping[str, float]
    matched: Mapping[str, float]
    ops: tuple[OpChange, ...]
    only_a: tuple[OnlyOp, ...]
    only_b: tuple[OnlyOp, ...]
    groups: tuple[GroupChange, ...]
    captures_a: Captures
    captures_b: Captures
    tested: Tested | None
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    is_comparable: bool
    main_memory: str
    peaks: tuple[Mapping[str, float], Mapping[str, float]]
    exposed_us: tuple[float, float]

    @property
    def sides(self) -> tuple[tuple[Side, ...], tuple[Side, ...]]:
        """All operations of A, and all of B."""
        a = [one.a for one in self.ops] + [one.side for one in self.only_a]
        b = [one.b for one in self.ops] + [one.side for one in self.only_b]
        a += [side for group in self.groups for side in group.a]
        b += [side for group in self.groups for side in group.b]
        return tuple(a), tuple(b)


def compare(a: Sequence[Run], b: Sequence[Run], unit: str | None = None) -> Comparison:
    """The captures `b` against the captures `a`; each list has one program.

    `unit` is `step`, `execution` or `capture`; without one it is the best that all captures have.
    Raises `BadViewError` for a unit that a capture does not have.
    """
    unit = _unit(a, b, unit)
    captures_a, captures_b = _captures(a, unit), _captures(b, unit)
    return _compared(a[captures_a.chosen], b[captures_b.chosen], unit, captures_a, captures_b)


def common_unit(runs: Sequence[Run]) -> str:
    """The best unit that all captures have."""
    return common_units(runs)[0]


def common_units(runs: Sequence[Run]) -> list[str]:
    """The units that all captures have, the best first."""
    return [unit for unit in UNITS if all(unit in run.units for run in runs)]


def _unit(a: Sequence[Run], b: Sequence[Run], wanted: str | None) -> str:
    if wanted is None:
        return common_unit((*a, *b))
    common = common_units((*a, *b))
    if wanted not in common:
        raise BadViewError(
            f"Not every capture has times per {wanted}.",
            remedy=f"These units are in all of them: {', '.join(common)}.",
        )
    return wanted


def _captures(runs: Sequence[Run], unit: str) -> Captures:
    """The capture in the middle stands for its side: terms of one capture add up."""
    times = [run.units[unit] for run in runs]
    medians = [capture_median(one.samples_us, one.total_us) for one in times]
    order = sorted(range(len(runs)), key=lambda k: (medians[k], runs[k].label))
    chosen = order[(len(order) - 1) // 2]
    samples = times[chosen].samples_us
    spread = None
    if len(samples) > 1:
        low, high = np.quantile(samples, [0.25, 0.75]).tolist()
        spread = (float(low), float(high))
    return Captures(
        labels=tuple(run.label for run in runs),
        time_us=tuple(medians),
        chosen=chosen,
        spread_us=spread,
    )


def match_runs(a: Run, b: Run, unit: str) -> Matching:
    """The matching of two runs; it does not matter which of them comes first."""
    if digest(a, unit) > digest(b, unit):
        return match_runs(b, a, unit).swapped()
    by_category = a.facts.get("Device", "") != b.facts.get("Device", "")
    return match_ops(ops_of(a, unit), ops_of(b, unit), by_category=by_category)


def compare_matched(a: Run, b: Run, unit: str, matching: Matching) -> Comparison:
    """One capture of each side, with operations matched by the caller."""
    return _of_matching(a, b, unit, matching, (_captures([a], unit), _captures([b], unit)))


def _compared(a: Run, b: Run, unit: str, of_a: Captures, of_b: Captures) -> Comparison:
    return _of_matching(a, b, unit, match_runs(a, b, unit), (of_a, of_b))


def _of_matching(
    a: Run, b: Run, unit: str, matching: Matching, captures: tuple[Captures, Captures]
) -> Comparison:
    of_a, of_b = captures
    time_a, time_b = a.units[unit], b.units[unit]
    ops = _op_changes(a, b, unit, matching.matches)
    groups = _group_changes(a, b, unit, matching.groups)
    only_a = _only(a, unit, matching.only_a)
    only_b = _only(b, unit, matching.only_b)
    parts = {
        name: time_b.parts.get(name, 0.0) - time_a.parts.get(name, 0.0)
        for name in ("idle", "communication", "transfers", "unknown")
    }
    parts["new"] = sum(one.side.time_us for one in only_b)
    parts["gone"] = -sum(one.side.time_us for one in only_a)
    terms = add_up(parts)
    for of_one in [*(one.terms for one in ops), *(one.terms for one in groups)]:
        for name, value in of_one.items():
            terms[name] += value
    matched = _matched(ops, groups, only_a, only_b)
    notes = (*_notes(a, b, of_a, of_b, matched), *_above_roof(ops))
    return Comparison(
        unit=unit,
        a_us=time_a.total_us,
        b_us=time_b.total_us,
        change_us=time_b.total_us - time_a.total_us,
        terms=terms,
        matched=matched,
        ops=ops,
        only_a=only_a,
        only_b=only_b,
        groups=groups,
        captures_a=of_a,
        captures_b=of_b,
        tested=_tested(of_a, of_b),
        differences=_differences(a, b),
        notes=notes,
        is_comparable=not set(notes) & {"no-time", "little-matched"},
        main_memory=a.main_memory,
        peaks=(a.peaks, b.peaks),
        exposed_us=(time_a.parts.get(_EXPOSED, 0.0), time_b.parts.get(_EXPOSED, 0.0)),
    )


def _tested(a: Captures, b: Captures) -> Tested | None:
    if min(len(a.time_us), len(b.time_us)) < FEWEST_CAPTURES:
        return None
    if min(*a.time_us, *b.time_us) <= 0:
        return None
    return mann_whitney(a.time_us, b.time_us)


# --------------------------------------------------------------------------------------- terms


def _op_changes(a: Run, b: Run, unit: str, matches: Sequence[Match]) -> tuple[OpChange, ...]:
    if not matches:
        return ()
    costs_a = _costs(a, b, unit, [one.a for one in matches])
    costs_b = _costs(b, a, unit, [one.b for one in matches])
    costs_a, costs_b = _alike(a, b, costs_a, costs_b, matches)
    terms = attribute(costs_a, costs_b)
    columns = list(zip(*(terms[name].tolist() for name in OF_PAIRS), strict=True))
    sides_a = _sides(a, costs_a, [one.a for one in matches])
    sides_b = _sides(b, costs_b, [one.b for one in matches])
    changes = [
        OpChange(
            a=side_a,
            b=side_b,
            tier=match.tier,
            category=b.text("category")[match.b[0]],
            path=b.text("path")[match.b[0]],
            change_us=side_b.time_us - side_a.time_us,
            terms=dict(zip(OF_PAIRS, values, strict=True)),
        )
        for match, side_a, side_b, values in zip(matches, sides_a, sides_b, columns, strict=True)
    ]
    return tuple(sorted(changes, key=lambda one: -abs(one.change_us)))


def _alike(
    a: Run, b: Run, costs_a: Costs, costs_b: Costs, matches: Sequence[Match]
) -> tuple[Costs, Costs]:
    """Costs that count where both sides know the same: otherwise only time is compared."""
    first_a = np.array([one.a[0] for one in matches])
    first_b = np.array([one.b[0] for one in matches])
    same = np.isnan(a.flop[first_a]) == np.isnan(b.flop[first_b])
    same &= np.isnan(a.bytes[first_a]) == np.isnan(b.bytes[first_b])
    same &= a.provenance == b.provenance
    return _known_where(costs_a, same), _known_where(costs_b, same)


def _known_where(costs: Costs, same: Floats) -> Costs:
    return Costs(
        calls=costs.calls,
        time_us=costs.time_us,
        flop=costs.flop,
        bytes=costs.bytes,
        flop_peaks=costs.flop_peaks,
        bytes_peaks=costs.bytes_peaks,
        is_known=costs.is_known & same.astype(np.bool_),
    )


def _costs(run: Run, other: Run, unit: str, rows: Sequence[tuple[int, ...]]) -> Costs:
    """One row per entry of `rows`: calls and time of all its members, work of the first one."""
    resources = list(dict.fromkeys((*run.work, *other.work)))
    if run.work.keys() != other.work.keys():
        resources.sort()  # the same order for both sides
    units = [name for name in resources if name not in MEMORIES]
    levels = [name for name in resources if name in MEMORIES]
    first = np.array([members[0] for members in rows])
    flop, flop_peaks = _work_of(run, units, first)
    moved, bytes_peaks = _work_of(run, levels, first)
    times = run.units[unit]
    calls, time_us = _sums(times.calls, rows), _sums(times.time_us, rows)
    return Costs(
        calls=calls,
        time_us=time_us,
        flop=flop,
        bytes=moved,
        flop_peaks=flop_peaks,
        bytes_peaks=bytes_peaks,
        is_known=(run.is_placed[first] > 0) & (calls > 0),
    )


def _sums(column: Floats, rows: Sequence[tuple[int, ...]]) -> Floats:
    flat = np.array([row for members in rows for row in members])
    starts = np.cumsum([0, *(len(members) for members in rows)])[:-1]
    return np.asarray(np.add.reduceat(column[flat], starts))


def _work_of(run: Run, resources: Sequence[str], first: Floats) -> tuple[Floats, Floats]:
    """Work per call by resource, and the peak it is held against: an op's own, or the device's."""
    work, peaks = np.zeros((len(first), len(resources))), np.zeros((len(first), len(resources)))
    for number, name in enumerate(resources):
        device_peak = run.peaks.get(name, 0.0)
        if name not in run.work:
            peaks[:, number] = device_peak
            continue
        done, needs = run.work[name][first], run.roof_us[name][first]
        has_own = (np.nan_to_num(done) > 0) & (np.nan_to_num(needs) > 0)
        own = np.where(has_own, done / np.where(has_own, needs, 1.0), 0.0)
        work[:, number] = np.nan_to_num(done)
        peaks[:, number] = np.where(np.nan_to_num(done) > 0, own, device_peak)
    return work, peaks


def _sides(run: Run, costs: Costs, rows: Sequence[tuple[int, ...]]) -> list[Side]:
    names, per_call = run.text("name"), roof_us(costs)
    operands, results = run.text("operands"), run.text("results")
    clocks = _clocks(costs)
    allowed = per_call * costs.calls
    known = costs.is_known & (per_call > 0)
    shown = known & (costs.time_us > 0)
    efficiency = np.where(shown, allowed / np.where(shown, costs.time_us, 1.0), np.nan)
    return [
        Side(
            names=tuple(names[row] for row in members),
            time_us=time_us,
            calls=calls,
            flop=_number(run.flop[members[0]]),
            bytes=_number(run.bytes[members[0]]),
            main_bytes=_main_bytes(run, members[0]),
            efficiency=_number(share),
            bound=_bound(run, members[0]) if is_known else None,
            source=run.source(members[0]),
            compute_us=compute_us,
            memory_us=memory_us,
            serial_us=serial_us,
            operands=operands[members[0]],
            results=results[members[0]],
        )
        for members, time_us, calls, share, is_known, (compute_us, memory_us, serial_us) in zip(
            rows,
            costs.time_us.tolist(),
            costs.calls.tolist(),
            efficiency.tolist(),
            known.tolist(),
            clocks,
            strict=True,
        )
    ]


def _main_bytes(run: Run, row: int) -> float | None:
    column = run.work.get(run.main_memory)
    return None if column is None else _number(column[row])


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _clocks(costs: Costs) -> list[tuple[float, float, float]]:
    """Longest compute clock, longest memory clock and the sum of all, over all calls; NaN unknown.

    Work without a peak has no clock.
    """
    flop_us, bytes_us = (
        np.where(peaks > 0, work / np.where(peaks > 0, peaks, 1.0), 0.0)
        for work, peaks in ((costs.flop, costs.flop_peaks), (costs.bytes, costs.bytes_peaks))
    )
    columns = (
        flop_us.max(axis=1, initial=0.0),
        bytes_us.max(axis=1, initial=0.0),
        flop_us.sum(axis=1) + bytes_us.sum(axis=1),
    )
    known = [np.where(costs.is_known, one * costs.calls, np.nan).tolist() for one in columns]
    return list(zip(*known, strict=True))


def _bound(run: Run, row: int) -> str | None:
    """The resource that needs the longest time at its peak."""
    needs = {name: float(np.nan_to_num(column[row])) for name, column in run.roof_us.items()}
    best = max(needs, key=lambda name: needs[name], default=None)
    return best if best is not None and needs[best] > 0 else None


def _group_changes(a: Run, b: Run, unit: str, groups: Sequence[Group]) -> tuple[GroupChange, ...]:
    changes = [_group_change(a, b, unit, group) for group in groups]
    return tuple(sorted(changes, key=lambda one: -abs(one.change_us)))


def _group_change(a: Run, b: Run, unit: str, group: Group) -> GroupChange:
    rows_a, rows_b = [(row,) for row in group.a], [(row,) for row in group.b]
    costs_a, costs_b = _costs(a, b, unit, rows_a), _costs(b, a, unit, rows_b)
    times = float(costs_a.time_us.sum()), float(costs_b.time_us.sum())
    roofs = _roof_sum(costs_a), _roof_sum(costs_b)
    if a.provenance != b.provenance:
        roofs = float("nan"), float("nan")
    largest = group.b[int(costs_b.time_us.argmax())]
    return GroupChange(
        scope=group.scope,
        a=tuple(_sides(a, costs_a, rows_a)),
        b=tuple(_sides(b, costs_b, rows_b)),
        category=b.text("category")[largest],
        change_us=times[1] - times[0],
        terms=regrouped(times, roofs),
    )


def _roof_sum(costs: Costs) -> float:
    """Sum of n rho; NaN where one of them is not known."""
    per_call = roof_us(costs)
    known = costs.is_known & (per_call > 0)
    return float((per_call * costs.calls).sum()) if known.all() else float("nan")


def _only(run: Run, unit: str, rows: Sequence[int]) -> tuple[OnlyOp, ...]:
    if not rows:
        return ()
    members = [(row,) for row in rows]
    sides = _sides(run, _costs(run, run, unit, members), members)
    found = [
        OnlyOp(side=side, category=run.text("category")[row], path=run.text("path")[row])
        for row, side in zip(rows, sides, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: -one.side.time_us))


# ------------------------------------------------------------------------------------ how sure


def _matched(
    ops: Sequence[OpChange],
    groups: Sequence[GroupChange],
    only_a: Sequence[OnlyOp],
    only_b: Sequence[OnlyOp],
) -> dict[str, float]:
    """Shares of the time in operations of both runs together, by tier."""
    times: dict[str, float] = {}
    for one in ops:
        tier = str(one.tier)
        times[tier] = times.get(tier, 0.0) + one.a.time_us + one.b.time_us
    in_groups = sum(side.time_us for group in groups for side in (*group.a, *group.b))
    alone = sum(one.side.time_us for one in (*only_a, *only_b))
    times = dict(sorted(times.items())) | {"9": in_groups, ONLY: alone}
    total = sum(times.values())
    return {name: value / total for name, value in times.items() if value > 0}


def _notes(
    a: Run, b: Run, of_a: Captures, of_b: Captures, matched: Mapping[str, float]
) -> tuple[str, ...]:
    """What limits this comparison, by code; `presentation` has the words."""
    notes = []
    if not matched:
        notes.append("no-time")
    elif 1 - matched.get(ONLY, 0.0) < _LEAST_MATCHED:
        notes.append("little-matched")
    if a.provenance != b.provenance:
        notes.append("other-provenance")
    if not a.peaks or not b.peaks:
        notes.append("no-peaks")
    if a.facts.get("Device") != b.facts.get("Device"):
        notes.append("other-device")
    if a.facts.get("Cores") != b.facts.get("Cores"):
        notes.append("other-cores")
    if min(len(of_a.time_us), len(of_b.time_us)) < FEWEST_CAPTURES:
        notes.append("few-captures")
    return tuple(notes)


def _above_roof(ops: Sequence[OpChange]) -> Iterator[str]:
    """A note where operations that are above their roof make up a visible part of the time."""
    sides = [side for one in ops for side in (one.a, one.b)]
    above = sum(one.time_us for one in sides if (one.efficiency or 0.0) > _ABOVE_ROOF)
    if above > _VISIBLE * sum(one.time_us for one in sides):
        yield "above-roof"


def _differences(a: Run, b: Run) -> tuple[Difference, ...]:
    """Every fact of both captures; those that differ come first."""
    names = list(dict.fromkeys((*a.facts, *b.facts)))
    found = [
        Difference(name=name, a=a.facts.get(name, ""), b=b.facts.get(name, "")) for name in names
    ]
    return tuple(sorted(found, key=lambda one: one.a == one.b))
