"""Two runs, or several captures of each, against each other: one record of all that changed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from roofline.analysis.roofline import Floats
from roofline.compare.attribution import OF_PAIRS, Costs, add_up, attribute, regrouped, roof_us
from roofline.compare.changes import (
    Captures,
    Comparison,
    Difference,
    GroupChange,
    OnlyOp,
    OpChange,
    Side,
)
from roofline.compare.features import digest, ops_of
from roofline.compare.matching import Evidence, Group, Match, Matching, match_ops
from roofline.compare.places import Entry, place_changes, shared_place
from roofline.compare.run import HOST_WAIT, UNITS, Run, UnitTimes, with_replicates
from roofline.compare.sides import costs_of, sides_of
from roofline.compare.statistics import FEWEST_CAPTURES, Tested, capture_median, mann_whitney
from roofline.errors import BadViewError

ONLY = "only"
_LEAST_MATCHED, _LEAST_OF_BOTH = 0.5, 0.05
_PROGRAM = 8  # operations that are alike in both show one program, however much is new in it
_ABOVE_ROOF = 1.03
_VISIBLE = 0.01
_EXPOSED = "communication"
_NEARLY_ALL = 0.9


def compare(a: Sequence[Run], b: Sequence[Run], unit: str | None = None) -> Comparison:
    """The captures `b` against the captures `a`; each list has one program.

    `unit` is `step`, `execution` or `capture`; without one it is the best that all captures have.
    Raises `BadViewError` for a unit that a capture does not have.
    """
    unit = _unit(a, b, unit)
    captures_a, captures_b = _captures(a, unit), _captures(b, unit)
    run_a = with_replicates(a[captures_a.chosen], a)
    run_b = with_replicates(b[captures_b.chosen], b)
    matching = match_runs(run_a, run_b, unit)
    return _of_matching(run_a, run_b, unit, matching, (captures_a, captures_b))


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


def _of_matching(
    a: Run, b: Run, unit: str, matching: Matching, captures: tuple[Captures, Captures]
) -> Comparison:
    of_a, of_b = captures
    time_a, time_b = a.units[unit], b.units[unit]
    is_little = _have_little_in_common((time_a.time_us, time_b.time_us), matching)
    if is_little:
        matching = matching.surely()
    ops = op_changes(a, b, unit, matching.matches)
    groups = group_changes(a, b, unit, matching.groups)
    only_a = only_ops(a, unit, matching.only_a)
    only_b = only_ops(b, unit, matching.only_b)
    parts = {name: time_b.parts.get(name, 0.0) - time_a.parts.get(name, 0.0) for name in _WAITS}
    parts["new"] = sum(one.side.time_us for one in only_b)
    parts["gone"] = -sum(one.side.time_us for one in only_a)
    terms = add_up(parts)
    for of_one in [*(one.terms for one in ops), *(one.terms for one in groups)]:
        for name, value in of_one.items():
            terms[name] += value
    places = place_changes(
        _entries(ops, groups, only_a, only_b),
        _waits(time_a, time_b),
    )
    matched = _matched(ops, groups, only_a, only_b)
    notes = (*_notes(a, b, of_a, of_b), *_above_roof(ops))
    if not matched:
        notes = ("no-time", *notes)
    elif is_little:
        notes = ("little-matched", *notes)
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
        places=places,
        captures_a=of_a,
        captures_b=of_b,
        tested=_tested(of_a, of_b),
        differences=_differences(a, b),
        notes=notes,
        is_comparable=not set(notes) & {"no-time", "little-matched", "unknown-cores"},
        main_memory=a.main_memory,
        peaks=(a.peaks, b.peaks),
        exposed_us=(time_a.parts.get(_EXPOSED, 0.0), time_b.parts.get(_EXPOSED, 0.0)),
        subjects=(time_a.subject, time_b.subject),
    )


_WAITS = ("idle", "communication", "transfers", "unknown")


def _waits(a: UnitTimes, b: UnitTimes) -> list[tuple[str, list[float], list[float]]]:
    """Each wait on both sides; that for the host apart, where it is nearly all of the idle time."""
    of_both = {name: (_wait(a, name), _wait(b, name)) for name in _WAITS}
    ratios = [(one.subject and one.subject.host_wait_ratio) or 0.0 for one in (a, b)]
    if min(ratios) >= _NEARLY_ALL:
        hosts, rest = (
            [
                [us * share for us in times]
                for times, share in zip(of_both["idle"], shares, strict=True)
            ]
            for shares in (ratios, [1 - one for one in ratios])
        )
        of_both |= {"idle": (rest[0], rest[1]), HOST_WAIT: (hosts[0], hosts[1])}
    return [(name, *found) for name, found in of_both.items()]


def _wait(times: UnitTimes, name: str) -> list[float]:
    replicates = () if times.replicates is None else times.replicates.parts_us.get(name, ())
    return [times.parts.get(name, 0.0), *replicates]


def _entries(
    ops: Sequence[OpChange],
    groups: Sequence[GroupChange],
    only_a: Sequence[OnlyOp],
    only_b: Sequence[OnlyOp],
) -> list[Entry]:
    """What changed together, by the module of the side that it ends in."""
    found = [_entry(one.path, one.category, (one.a,), (one.b,)) for one in ops]
    found += [_group_entry(one) for one in groups]
    found += [_entry(one.path, one.category, (one.side,), ()) for one in only_a]
    return found + [_entry(one.path, one.category, (), (one.side,)) for one in only_b]


def _group_entry(one: GroupChange) -> Entry:
    """A group in the module that has nearly all of it, named by the longest operation there."""
    at, depth = shared_place([side.path for side in one.b], [side.time_us for side in one.b])
    longest = one.b[at]
    return replace(
        _entry(longest.path, longest.category, one.a, one.b),
        name=longest.names[0],
        source=longest.source,
        library=longest.library,
        depth=depth,
    )


def _entry(path: str, category: str, a: tuple[Side, ...], b: tuple[Side, ...]) -> Entry:
    longest = max(b or a, key=lambda one: one.time_us)
    return Entry(
        path=path,
        category=category,
        name=longest.names[0],
        before=sum(one.time_us for one in a),
        after=sum(one.time_us for one in b),
        source=longest.source,
        library=longest.library,
        a=a,
        b=b,
        was=_entry(a[0].path, a[0].category, a, ()) if a and b else None,
    )


def _tested(a: Captures, b: Captures) -> Tested | None:
    if min(len(a.time_us), len(b.time_us)) < FEWEST_CAPTURES:
        return None
    if min(*a.time_us, *b.time_us) <= 0:
        return None
    return mann_whitney(a.time_us, b.time_us)


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


def _have_little_in_common(times: tuple[Floats, Floats], matching: Matching) -> bool:
    """True where the runs are of different programs, as far as their operations tell.

    Half of one side is enough: much that is new leaves A as it was, unless A is a few operations
    and next to nothing beside it. Of a group, and of a pair that only a name makes, that counts
    which both have; nothing does of the backward pass, and of names that a compiler numbers, with
    other work, where other numbers changed, too. Groups by category alone need half of each side.
    """

    def taken(one: Match | Group) -> Floats:
        return np.array([of[list(at)].sum() for of, at in zip(times, (one.a, one.b), strict=True)])

    shown: dict[Evidence, Floats] = dict.fromkeys(Evidence, np.zeros(2))
    found: tuple[Match | Group, ...] = (*matching.matches, *matching.groups)
    for one in found:
        times_of = taken(one)
        shown[one.shows] = shown[one.shows] + (
            times_of if one.shows is Evidence.ALL else times_of.min()
        )
    total = np.array([of.sum() for of in times])
    sure = shown[Evidence.ALL] + shown[Evidence.COMMON]
    if (sure + shown[Evidence.KIND] >= _LEAST_MATCHED * total).all():
        return False
    is_next_to_nothing = sure.sum() < _LEAST_OF_BOTH * total.sum()
    is_few = sum(one.shows is Evidence.ALL for one in matching.matches) < _PROGRAM
    return bool((is_few and is_next_to_nothing) or (sure < _LEAST_MATCHED * total).all())


def _notes(a: Run, b: Run, of_a: Captures, of_b: Captures) -> tuple[str, ...]:
    """The limits of this comparison, by code; `presentation` has the words."""
    notes = []
    if a.provenance != b.provenance:
        notes.append("other-provenance")
    if not a.peaks or not b.peaks:
        notes.append("no-peaks")
    if len({one.facts.get("Device", "").casefold() for one in (a, b)} - {""}) > 1:
        notes.append("other-device")
    cores = [one.facts.get("Cores", "") for one in (a, b)]
    if cores[0] != cores[1]:
        notes.append("other-cores" if all(cores) else "unknown-cores")
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


def op_changes(a: Run, b: Run, unit: str, matches: Sequence[Match]) -> tuple[OpChange, ...]:
    """The matched operations, the largest change first."""
    if not matches:
        return ()
    costs_a = costs_of(a, b, unit, [one.a for one in matches])
    costs_b = costs_of(b, a, unit, [one.b for one in matches])
    costs_a, costs_b = _alike(a, b, costs_a, costs_b, matches)
    terms = attribute(costs_a, costs_b)
    columns = list(zip(*(terms[name].tolist() for name in OF_PAIRS), strict=True))
    sides_a = sides_of(a, unit, costs_a, [one.a for one in matches])
    sides_b = sides_of(b, unit, costs_b, [one.b for one in matches])
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
    first, second = (replace(costs, is_known=costs.is_known & same) for costs in (costs_a, costs_b))
    return first, second


def group_changes(a: Run, b: Run, unit: str, groups: Sequence[Group]) -> tuple[GroupChange, ...]:
    """Groups that became others together, the largest change first."""
    changes = [_group_change(a, b, unit, group) for group in groups]
    return tuple(sorted(changes, key=lambda one: -abs(one.change_us)))


def _group_change(a: Run, b: Run, unit: str, group: Group) -> GroupChange:
    rows_a, rows_b = [(row,) for row in group.a], [(row,) for row in group.b]
    costs_a, costs_b = costs_of(a, b, unit, rows_a), costs_of(b, a, unit, rows_b)
    times = float(costs_a.time_us.sum()), float(costs_b.time_us.sum())
    roofs = _roof_sum(costs_a), _roof_sum(costs_b)
    if a.provenance != b.provenance:
        roofs = float("nan"), float("nan")
    largest = group.b[int(costs_b.time_us.argmax())]
    return GroupChange(
        scope=group.scope,
        path=b.text("path")[largest],
        a=tuple(sides_of(a, unit, costs_a, rows_a)),
        b=tuple(sides_of(b, unit, costs_b, rows_b)),
        category=b.text("category")[largest],
        change_us=times[1] - times[0],
        terms=regrouped(times, roofs),
    )


def _roof_sum(costs: Costs) -> float:
    """Sum of n rho; NaN where one of them is not known."""
    per_call = roof_us(costs)
    known = costs.is_known & (per_call > 0)
    return float((per_call * costs.calls).sum()) if known.all() else float("nan")


def only_ops(run: Run, unit: str, rows: Sequence[int]) -> tuple[OnlyOp, ...]:
    """Operations without a partner, the longest first."""
    if not rows:
        return ()
    members = [(row,) for row in rows]
    sides = sides_of(run, unit, costs_of(run, run, unit, members), members)
    found = [
        OnlyOp(side=side, category=run.text("category")[row], path=run.text("path")[row])
        for row, side in zip(rows, sides, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: -one.side.time_us))
