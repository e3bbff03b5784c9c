"""The parts of the subject as the page shows them: terms that add up as printed, a bar, a floor.

The server writes the words and the numbers, so that they are there at once and without scripts;
the browser adds what can be done with them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.budget import (
    AT_ROOF,
    BELOW_ROOF,
    IDLE,
    IMPOSSIBLE,
    INFEED,
    UNKNOWN,
    Budget,
    budget_of,
    owners_of,
    part_label,
)
from roofline.analysis.subjects.records import Subject
from roofline.presentation.budget_parts import owns, part_help, part_style
from roofline.presentation.quantities import NARROW, duration
from roofline.presentation.rounding import rounded
from roofline.presentation.shown import listed_ops

_SMALL = 0.006  # of the whole: smaller terms are "other"
_UNITS = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns"))
_SEEN = 0.5  # of the last digit: terms that round to nothing are not in the sum
_GROUPS = {AT_ROOF: "at its roofs", BELOW_ROOF: "to gain"}
_TENTHS = 1000  # tenths of a percent in the whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One term of the sum: a part, or the parts of one kind ("at the roof"). Texts as printed.

    `amount` is in the unit of the total, so that the terms of a sum add up; `duration` has its own.
    `x` and `width` are percent of the bar. `is_filter` is true where operations of it are listed.
    """

    id: str
    label: str
    amount: str
    duration: str
    percent: str
    x: float
    width: float
    texture: str
    token: str
    help: str
    is_filter: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetBar:
    """One division of time: `parts` in order of the bar, `terms` in order of the sum.

    `idle_ratio` is the share of the part `idle`, for those who read the page by machine.
    """

    label: str
    unit_word: str
    total: str
    unit: str
    floor: str
    floor_at: float
    idle_ratio: float
    terms: tuple[Term, ...]
    parts: tuple[Term, ...]


def budget_bars(analysis: RooflineAnalysis, subject: Subject) -> tuple[BudgetBar, ...]:
    """The parts of the subject; nothing where it has none."""
    budget = budget_of(analysis, subject)
    if budget is None or not budget.total_us > 0:
        return ()
    owned = {one for one in owners_of(analysis, subject, listed_ops(analysis)) if one}
    return (_bar(subject, budget, owned),)


def budget_json(analysis: RooflineAnalysis, subject: Subject) -> dict[str, Any]:
    """The bar that the page's template draws."""
    return {"scopes": [asdict(bar) for bar in budget_bars(analysis, subject)]}


def budget_data(analysis: RooflineAnalysis, subject: Subject) -> dict[str, Any] | None:
    """The parts by resource, in us, with the words of each; `None` where there are none."""
    budget = budget_of(analysis, subject)
    if budget is None:
        return None
    parts = [
        {"id": name, "label": part_label(name), "time_us": rounded(us)}
        for name, us in budget.parts.items()
    ]
    return {
        "total_us": rounded(budget.total_us),
        "floor_us": rounded(budget.floor_us),
        "parts": parts,
    }


# --------------------------------------------------------------------------------------- one bar


def _bar(subject: Subject, budget: Budget, owned: set[str]) -> BudgetBar:
    ordered = _in_order(budget)
    factor, unit = next((one for one in _UNITS if budget.total_us >= one[0] * 0.9995), _UNITS[-1])
    digits = 2 if budget.total_us / factor < 10 else 1
    scale = 10**digits / factor
    parts = _terms(
        [(one, part_label(one), budget.parts[one]) for one in ordered],
        budget,
        scale,
        digits,
        is_sum=False,
    )
    sums = [one for one in _sums(ordered, budget) if one[2] * scale >= _SEEN]
    terms = _terms(sums, budget, scale, digits, is_sum=True)
    said = {one.id: one.amount for one in terms}
    return BudgetBar(
        label=subject.label,
        unit_word=subject.unit_word,
        total=f"{round(budget.total_us * scale) / 10**digits:,.{digits}f}",
        unit=unit,
        floor=duration(budget.floor_us),
        floor_at=_percent_at(budget.floor_us, budget.total_us),
        idle_ratio=subject.idle_ratio or 0.0,
        terms=tuple(_styled(one, ordered, owned) for one in terms),
        parts=tuple(
            replace(_styled(one, ordered, owned), amount=said.get(one.id, one.amount))
            for one in parts
        ),
    )


_STAYS = (AT_ROOF, UNKNOWN, IMPOSSIBLE)


def _in_order(budget: Budget) -> list[str]:
    """Parts that stay come first; where a link sets the floor, its time comes next."""
    stays = sum(us for part, us in budget.parts.items() if _kind(part) in _STAYS)
    by_link = budget.floor_us > stays * (1 + 1e-9)
    waits = ("exposed", "exposed_transfer")
    order = [*_STAYS, *(waits if by_link else ()), BELOW_ROOF, *waits, INFEED, IDLE]
    return sorted(budget.parts, key=lambda part: order.index(_kind(part)))


def _kind(part: str) -> str:
    return part.partition(".")[0]


_Time = tuple[str, str, float]  # id, label, time in us


def _sums(parts: Sequence[str], budget: Budget) -> list[_Time]:
    """Parts of one kind as one term; small terms as "other", last."""
    times: dict[str, float] = {}
    labels: dict[str, str] = {}
    for part in parts:
        key = _kind(part) if _kind(part) in _GROUPS else part
        times[key] = times.get(key, 0.0) + budget.parts[part]
        labels[key] = _GROUPS.get(key) or part_label(part)
    small = {key for key, time_us in times.items() if time_us < budget.total_us * _SMALL}
    rest = sum(times[key] for key in small) if len(small) > 1 else 0.0
    kept = [key for key in times if key not in small or not rest]
    return [(key, labels[key], times[key]) for key in kept] + (
        [("other", "other", rest)] if rest else []
    )


def _terms(
    times: Sequence[_Time], budget: Budget, scale: float, digits: int, *, is_sum: bool
) -> list[Term]:
    """The texts of terms: percentages add up to 100; in a sum, amounts to the total as printed."""
    values = np.array([time_us for _, _, time_us in times])
    exact = (values * scale).tolist()
    spare = next((k for k, (key, _, _) in enumerate(times) if key == "other"), None)
    total = round(budget.total_us * scale) if is_sum else sum(int(one + 0.5) for one in exact)
    amounts = whole_numbers(exact, total, spare)
    shares = (values / values.sum() * _TENTHS).tolist()
    tenths = whole_numbers(shares, _TENTHS, spare)
    found, start = list[Term](), 0.0
    for (key, label, time_us), amount, tenth in zip(times, amounts, tenths, strict=True):
        width = _percent_at(time_us, budget.total_us)
        found.append(
            Term(
                id=key,
                label=label,
                amount=_written(amount, digits),
                duration=duration(time_us),
                percent=f"{tenth / 10:.1f}{NARROW}%" if tenth else f"<0.1{NARROW}%",
                x=round(start, 4),
                width=width,
                texture="",
                token="",
                help="",
                is_filter=False,
            )
        )
        start += width
    return found


def _written(amount: int, digits: int) -> str:
    return f"{amount / 10**digits:,.{digits}f}" if amount else f"<{10**-digits}"


def whole_numbers(values: Sequence[float], total: int, spare: int | None = None) -> list[int]:
    """`values`, which add up to about `total`, as whole numbers that add up to it exactly.

    Each is rounded; what rounding leaves goes to the value at `spare`, unless that would make it
    negative: then, and without one, to those that were nearest to being rounded the other way.
    """
    found = [int(value + 0.5) for value in values]
    rest = total - sum(found)
    if spare is not None and found[spare] + rest >= 0:
        found[spare] += rest
        return found
    step = 1 if rest > 0 else -1
    by_error = sorted(range(len(values)), key=lambda k: step * (found[k] - values[k]))
    for k in [k for k in by_error if found[k] + step >= 0][: abs(rest)]:
        found[k] += step
    return found


def _percent_at(time_us: float, total_us: float) -> float:
    return round(100 * time_us / total_us, 4)


def _styled(term: Term, parts: Sequence[str], owned: set[str]) -> Term:
    """The same with colour, texture, explanation, and whether operations of it are listed."""
    if term.id == "other":
        about = "Parts under 0.6 % each."
        return replace(term, texture="other", token="--ink-3", help=about)
    mine = [part for part in parts if part == term.id or _kind(part) == term.id]
    style = part_style(mine[0])
    token = style.token if len(mine) == 1 else "--ink-2"
    return replace(
        term,
        texture=style.texture,
        token=token,
        help=part_help(mine[0]),
        is_filter=any(owns(term.id, one) for one in owned),
    )
