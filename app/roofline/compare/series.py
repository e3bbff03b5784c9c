"""Runs of one program over time: the numbers of each, and where each stands at the gate.

Where the times of a series changed: E-divisive with permutations, as Hunter and Otava use it.

A stretch of runs may have changed where the energy distance of its two parts is largest; each part
is searched again. Sources: Matteson & James, "A nonparametric approach for multiple change point
analysis of multivariate data", 2014; Fleming et al., "Hunter: using change point detection to hunt
for performance regressions", 2023 (Apache Otava).

A change counts where two judges agree. The permutation test knows no distribution, but fifteen runs
have too few orders for a small chance. Student's t, of the levels on both sides against the noise
within them, makes a false alarm rare.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

import numpy as np

from roofline.analysis.roofline import Floats
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


_SHORTEST = 3  # runs on each side: one slow run is not a level
_ORDERS, _CHANCE, _SEED = 499, 0.005, 1
_LEAST_T = 6.0
_LEAST = 0.005  # of the time before: less is not worth a word


def time_changes(times_us: Sequence[float]) -> tuple[TimeChange, ...]:
    """The lasting changes of a series of times (above 0, the oldest first), the earliest first.

    Permutations are seeded: the same times give the same answer.
    """
    if min(times_us, default=0.0) <= 0:
        return ()
    logs = np.log(np.array(times_us))
    bounds = [0, *_unlikely(logs, 0, np.random.default_rng(_SEED)), len(logs)]
    while len(bounds) > 2:
        strength, weakest = min((_strength(logs, *places), places[1]) for places in _around(bounds))
        if strength >= _LEAST_T:
            break
        bounds.remove(weakest)
    return tuple(
        TimeChange(
            start=start,
            first=first,
            end=end,
            before_us=float(np.median(times_us[start:first])),
            after_us=float(np.median(times_us[first:end])),
        )
        for start, first, end in _around(bounds)
    )


def _around(bounds: Sequence[int]) -> list[tuple[int, int, int]]:
    """Each bound between two stretches, with the start of the one and the end of the other."""
    return [*zip(bounds, bounds[1:], bounds[2:], strict=False)]


def _strength(logs: Floats, start: int, at: int, end: int) -> float:
    """Student's t of the runs from `at` on against those before; 0 where they hardly differ."""
    old, new = logs[start:at], logs[at:end]
    change = abs(float(new.mean() - old.mean()))
    squares = float(((old - old.mean()) ** 2).sum() + ((new - new.mean()) ** 2).sum())
    noise = (squares / (len(old) + len(new) - 2) * (1 / len(old) + 1 / len(new))) ** 0.5
    if change < _LEAST:
        return 0.0
    return change / noise if noise else np.inf


def _unlikely(logs: Floats, start: int, random: np.random.Generator) -> list[int]:
    """Where `logs`, the first of which is number `start`, change by the permutation test."""
    if len(logs) < 2 * _SHORTEST:
        return []
    apart = np.abs(logs[:, None] - logs[None, :])
    distance, at = _largest(apart)
    as_far = 1
    for _ in range(_ORDERS):
        order = random.permutation(len(logs))
        as_far += _largest(apart[np.ix_(order, order)])[0] >= distance
        if as_far > _CHANCE * (_ORDERS + 1):
            return []
    before = _unlikely(logs[:at], start, random)
    return [*before, start + at, *_unlikely(logs[at:], start + at, random)]


def _largest(apart: Floats) -> tuple[float, int]:
    """The largest scaled energy distance of runs [0, at) and [at, end), and this `at`.

    An `end` before the last run finds a change that was taken back.
    """
    count = len(apart)
    sums = np.zeros((count + 1, count + 1))
    sums[1:, 1:] = apart.cumsum(0).cumsum(1)
    within = sums.diagonal()
    old = np.arange(count + 1)[:, None]
    new = np.arange(count + 1)[None, :] - old
    with np.errstate(divide="ignore", invalid="ignore"):
        between = 2 * (sums - within[:, None]) / (old * new)
        of_old = within[:, None] / (old * (old - 1))
        of_new = (within[None, :] - 2 * sums + within[:, None]) / (new * (new - 1))
        scaled = old * new / (old + new) * (between - of_old - of_new)
    scaled[(old < _SHORTEST) | (new < _SHORTEST)] = -np.inf
    best = int(scaled.argmax())
    return float(scaled.flat[best]), best // (count + 1)
