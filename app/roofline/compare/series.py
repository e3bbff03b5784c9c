"""Runs of one program over time: the numbers of each, and where each stands at the gate."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from roofline.compare.change_points import time_changes
from roofline.compare.gate.baseline import baseline_of
from roofline.compare.gate.budget import Budget
from roofline.compare.gate.check import BROKEN, INCONCLUSIVE, Report, check
from roofline.compare.gate.numbers import amounts
from roofline.compare.run import CAPTURE, UNITS, Run
from roofline.compare.series_records import (
    Checked,
    RunNumbers,
    Standing,
    TimeChange,
    check_series,
)
from roofline.errors import BadViewError


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


def changes_over(runs: Sequence[RunNumbers]) -> tuple[TimeChange, ...]:
    """The lasting changes of the time of runs, in one unit."""
    return time_changes([run.time_us for run in runs])


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
