"""Runs of one program over time: the numbers of each, and where each stands at the gate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from roofline.compare.gate.baseline import baseline_of
from roofline.compare.gate.budget import Budget
from roofline.compare.gate.check import BROKEN, INCONCLUSIVE, Report, check
from roofline.compare.gate.numbers import amounts
from roofline.compare.run import CAPTURE, UNITS, Run
from roofline.errors import BadViewError

State = Literal["base", "passed", "better", "broken", "accepted", "inconclusive", "untested"]

STATE_WORDS = {
    "base": "first of the series",
    "passed": "passed",
    "better": "better",
    "broken": "failed",
    "accepted": "accepted",
    "inconclusive": "unclear",
    "untested": "not tested",
}
"""The name of each standing of a run at the gate."""

_MOVES_BASE = ("passed", "better")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNumbers:
    """One run in one unit, per core, in us. `None` is not known.

    `time_us`, `floor_us`, `roof_ratio` and `known_ratio` are those of its subject. `roof_us` is the
    sum of calls x longest of work / peak, over operations whose bound is known: it has no noise.
    """

    time_us: float
    floor_us: float | None
    roof_us: float | None
    roof_ratio: float | None
    known_ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a run stands at the gate: `rules` are those that are broken or accepted.

    `until` is the last day (ISO 8601) on which a broken rule is accepted.
    """

    state: State
    rules: tuple[str, ...] = ()
    until: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A run's standing against the run at `base` of the series; `None` where it is the base."""

    standing: Standing
    base: int | None


def check_series(count: int, judge: Callable[[int, int], Standing]) -> list[Checked]:
    """Each of `count` runs, the oldest first, against the newest run before it that passed.

    A run that broke a rule is not a baseline: the runs after it are held against the one before.
    So a regression stays visible until it is mended. `judge(base, run)` checks one pair.
    """
    found: list[Checked] = []
    base = 0
    for run in range(count):
        if run == 0:
            found.append(Checked(standing=Standing(state="base"), base=None))
            continue
        standing = judge(base, run)
        found.append(Checked(standing=standing, base=base))
        if standing.state in _MOVES_BASE:
            base = run
    return found


def numbers_by_unit(run: Run) -> Mapping[str, RunNumbers]:
    """The numbers of a run by unit, the best unit first."""
    return {unit: _numbers(run, unit) for unit in UNITS if unit in run.units}


def _numbers(run: Run, unit: str) -> RunNumbers:
    times, subject = run.units[unit], run.units[unit].subject
    return RunNumbers(
        time_us=times.total_us,
        floor_us=None if subject is None else subject.floor_us,
        roof_us=amounts(run, unit, "roof_time").total(times.calls > 0),
        roof_ratio=None if subject is None else subject.roof_ratio,
        known_ratio=None if subject is None else subject.known_ratio,
    )


def unit_of_all(runs: Sequence[Mapping[str, RunNumbers]]) -> str:
    """The best unit that all runs have; every capture has itself."""
    return next((unit for unit in UNITS if all(unit in run for run in runs)), CAPTURE)


def series_of_runs(
    runs: Sequence[Run], budget: Budget, unit: str | None
) -> tuple[str, list[tuple[RunNumbers, Checked]]]:
    """The unit, and each run's numbers and standing; accepted rules are judged as of today.

    Raises `BadViewError` for a unit that a capture lacks.
    """
    of_all = [numbers_by_unit(run) for run in runs]
    best = unit_of_all(of_all)
    chosen = unit or best
    if not all(chosen in one for one in of_all):
        raise BadViewError(
            f"Not every capture has times per {chosen}.",
            remedy=f"This unit is in all of them: {best}.",
        )

    def judge(base: int, run: int) -> Standing:
        day = date.today()
        report = check_pair(runs[base], runs[run], budget, chosen, day, explains=False)
        return standing_of(report, budget)

    checked = check_series(len(runs), judge)
    return chosen, [(one[chosen], found) for one, found in zip(of_all, checked, strict=True)]


def check_pair(
    base: Run, run: Run, budget: Budget, unit: str, day: date, *, explains: bool
) -> Report:
    """The gate's report on `run` against `base`, as on `day`; `explains` names operations."""
    needs_pairs = explains or "largest_new_op" in budget.exact
    of_unit = replace(budget, unit=unit)
    return check([run], baseline_of([base]), of_unit, today=day, explains=needs_pairs)


def standing_of(report: Report, budget: Budget) -> Standing:
    """The standing that a report gives, in one word."""
    accepted = report.of_state("accepted")
    until = [str(one.until) for one in budget.accepted if one.rule in {r.rule for r in accepted}]
    broken = tuple(one.rule for one in report.of_state("broken") if one.level == "error")
    if report.status == BROKEN:
        return Standing(state="broken", rules=broken)
    if report.results and len(report.of_state("untested")) == len(report.results):
        return Standing(state="untested")
    if report.status == INCONCLUSIVE:
        return Standing(state="inconclusive")
    if accepted:
        rules = tuple(one.rule for one in accepted)
        return Standing(state="accepted", rules=rules, until=max(until))
    return Standing(state="better" if report.of_state("better") else "passed")
