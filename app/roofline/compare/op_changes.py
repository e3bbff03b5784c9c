"""Changes of matched operations, of groups of them, and operations that one run alone has."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from roofline.compare.attribution import OF_PAIRS, Costs, attribute, regrouped, roof_us
from roofline.compare.changes import GroupChange, OnlyOp, OpChange
from roofline.compare.matching import Group, Match
from roofline.compare.run import Run
from roofline.compare.sides import costs_of, sides_of


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
