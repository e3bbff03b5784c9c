"""A run against baseline and budget: all results, and the exit status that they give."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from roofline.compare.changes import Comparison
from roofline.compare.comparison import common_unit, compare, match_runs
from roofline.compare.gate.baseline import Baseline, times_of
from roofline.compare.gate.budget import Budget
from roofline.compare.gate.rules import (
    Case,
    Result,
    accepted,
    exact_result,
    op_results,
    time_result,
    verdict_result,
    with_places,
)
from roofline.compare.run import Run, with_replicates
from roofline.errors import BadViewError, SettingsError

PASSED, BROKEN, UNREADABLE, INCONCLUSIVE = 0, 1, 2, 3
"""The exit statuses of `roofline check`."""

_SUSPICIOUS = -0.20


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of a check. `comparison` is there with a baseline; `notes` are whole sentences.

    `is_other_machine` is true where times cannot be compared with the baseline's.
    """

    status: int
    unit: str
    results: tuple[Result, ...]
    comparison: Comparison | None
    notes: tuple[str, ...]
    is_other_machine: bool = False

    def of_state(self, state: str) -> list[Result]:
        """The results in one state."""
        return [one for one in self.results if one.state == state]


def check(
    runs: Sequence[Run],
    baseline: Baseline | None,
    budget: Budget,
    *,
    today: date,
    explains: bool = True,
) -> Report:
    """The captures `runs` of one program against `baseline` and `budget`.

    Without `explains` operations are not matched: no operation is named, and nothing is compared.

    Raises `BadViewError` for a unit that a capture lacks, and `SettingsError` for an accepted rule
    that is not in the budget.
    """
    unit = _unit(runs, baseline, budget)
    times = times_of(runs)[unit]
    order = sorted(range(len(runs)), key=lambda k: times[k])
    run = with_replicates(runs[order[(len(order) - 1) // 2]], runs)
    if not (run.units[unit].calls > 0).any():
        note = "The capture has no operation: nothing was checked."
        return Report(status=INCONCLUSIVE, unit=unit, results=(), comparison=None, notes=(note,))
    base = None if baseline is None else baseline.run
    case = Case(
        run=run,
        times_us=times,
        unit=unit,
        baseline=baseline,
        matching=match_runs(base, run, unit) if explains and base is not None else None,
        is_other_machine=base is not None and _is_other_machine(base, run),
    )
    found = compare([base], [run], unit) if explains and base is not None else None
    places = () if found is None else found.places
    results = tuple(
        with_places(accepted(one, budget.accepted, today), places) for one in _results(case, budget)
    )
    _check_accepted(budget, results)
    return Report(
        status=status_of(results, budget),
        unit=unit,
        results=results,
        comparison=found,
        notes=_notes(case, results),
        is_other_machine=case.is_other_machine,
    )


def _results(case: Case, budget: Budget) -> list[Result]:
    exact = budget.exact.items()
    results = [exact_result(case, k, one, is_default=budget.is_default) for k, one in exact]
    results += [time_result(case, name, limit) for name, limit in budget.time.items()]
    results += [verdict_result(case, name, limit) for name, limit in budget.verdict.items()]
    return results + [result for one in budget.ops for result in op_results(case, one)]


def _unit(runs: Sequence[Run], baseline: Baseline | None, budget: Budget) -> str:
    every = list(runs) if baseline is None else [*runs, baseline.run]
    if budget.unit is None:
        return common_unit(every)
    if not all(budget.unit in run.units for run in every):
        raise BadViewError(
            f"Not every capture has times per {budget.unit}.",
            remedy=f"This unit is in all of them: {common_unit(every)}.",
        )
    return budget.unit


def _is_other_machine(base: Run, run: Run) -> bool:
    return any(base.facts.get(name) != run.facts.get(name) for name in ("Device", "Cores"))


def _check_accepted(budget: Budget, results: Sequence[Result]) -> None:
    rules = {one.rule for one in results}
    for one in budget.accepted:
        if one.rule not in rules:
            raise SettingsError(
                f"[[accept]]: there is no rule {one.rule}.",
                remedy=f"The rules are {', '.join(sorted(rules))}.",
            )


def status_of(results: Sequence[Result], budget: Budget) -> int:
    """The exit status that these results give."""
    states = {one.state for one in results if one.level == "error"}
    if "broken" in states:
        return BROKEN
    if budget.needs_time and untested_time(results) is not None:
        return INCONCLUSIVE
    is_unclear = "inconclusive" in states or not _is_tested(results)
    return INCONCLUSIVE if is_unclear and not budget.inconclusive_passes else PASSED


def untested_time(results: Sequence[Result]) -> Result | None:
    """The rule on step time that needs more captures than there are."""
    return next(
        (one for one in results if one.rule == "time.step" and one.state == "untested"), None
    )


def _is_tested(results: Sequence[Result]) -> bool:
    """False where no rule was held against a number: such a check could not fail."""
    return any(one.state != "untested" for one in results)


def _nothing_tested(case: Case) -> str:
    if case.baseline is not None:
        return "No rule was tested, so the check is inconclusive."
    return (
        "No rule was tested: each rule limits a change, and a baseline is missing. Name it with "
        "--against, or write limits on values into roofline.toml, such as unknown_cost_share = "
        "0.05 in [exact] or idle_share = 0.10 in [time]."
    )


def _notes(case: Case, results: Sequence[Result]) -> tuple[str, ...]:
    notes = [] if _is_tested(results) else [_nothing_tested(case)]
    by_metric = {one.metric: one for one in results if not one.rule.startswith("op[")}
    flops = by_metric.get("flops")
    if flops is not None and flops.state == "broken":
        notes.append(
            "FLOPs differ from the baseline: the workload changed. If this is on purpose, write a"
            ' new baseline with --update, or divide limits by the FLOPs with per = "flop".'
        )
    if case.is_other_machine:
        notes.append(
            "The device or the number of cores is not the baseline's: roof times are those of the"
            " baseline's peaks, and times are not compared."
        )
    if case.base is not None and case.base.provenance != case.run.provenance:
        notes.append("FLOPs or bytes were obtained in another way than the baseline's.")
    fallen = [one for one in by_metric.values() if one.metric in ("roof_time", "step")]
    if any(one.change is not None and one.change < _SUSPICIOUS for one in fallen):
        notes.append("More than 20 % faster: check that no work vanished.")
    return tuple(notes)
