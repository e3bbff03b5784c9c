"""A time that looks worse is captured again before a check fails.

The new captures are judged on their own. Together with the first ones, which are there because they
look slow, they would be tested twice. So a check fails only where two independent sets of captures
break the rule.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from roofline.compare.gate.baseline import Baseline
from roofline.compare.gate.budget import Budget, Limit
from roofline.compare.gate.check import PASSED, Report, check, status_of
from roofline.compare.gate.rules import Result
from roofline.compare.run import Run
from roofline.compare.statistics import FEWEST_CAPTURES


def confirm(
    report: Report,
    baseline: Baseline | None,
    budget: Budget,
    again: Callable[[int], Sequence[Run]],
    today: date,
) -> Report:
    """`report`, or with its times judged by as many new captures as `again` is asked for."""
    captures = captures_to_confirm(report, baseline, budget)
    if not captures:
        return unsuspected(report, baseline)
    later = check(again(captures), baseline, replace(budget, unit=report.unit), today=today)
    return confirmed(report, later, captures, budget)


def captures_to_confirm(report: Report, baseline: Baseline | None, budget: Budget) -> int:
    """How many captures tell whether a time is worse; 0 where there is nothing to confirm.

    A broken exact rule fails the check whatever the times are.
    """
    errors = [one for one in report.results if one.level == "error"]
    if any(one.state == "broken" and not _is_time(one) for one in errors):
        return 0
    kept = 0 if baseline is None else len(baseline.times_us.get(report.unit, ()))
    needed = [
        max(_limit(one, budget).captures, FEWEST_CAPTURES)
        for one in errors
        if _is_doubtful(one, report, budget, kept)
    ]
    return max(needed, default=0)


def unsuspected(report: Report, baseline: Baseline | None) -> Report:
    """`report` where no time has to be captured again: not slower in few captures is enough.

    Slower ones would have been confirmed, so even a check of times alone can fail.
    """
    kept = 0 if baseline is None else len(baseline.times_us.get(report.unit, ()))
    untested = report.of_state("untested")
    is_fast = any(_is_time(one) and one.change is not None for one in untested)
    if kept < FEWEST_CAPTURES or len(untested) < len(report.results) or not is_fast:
        return report
    return replace(report, status=PASSED, notes=("No time looked worse.",))


def confirmed(first: Report, again: Report, captures: int, budget: Budget) -> Report:
    """`first` with its rules on time as `again` found them in `captures` new captures."""
    later = {one.rule: one for one in again.results}
    results = tuple(
        _judged_again(later[one.rule], captures) if _is_worse(one) and one.rule in later else one
        for one in first.results
    )
    now_passed = [
        f"{one.rule} looked worse at first. {one.message}"
        for one, before in zip(results, first.results, strict=True)
        if one is not before and one.state in ("passed", "better")
    ]
    status = status_of(results, budget)
    return replace(first, results=results, status=status, notes=(*first.notes, *now_passed))


def _judged_again(later: Result, captures: int) -> Result:
    said = {
        "broken": f"Confirmed by {captures} new captures.",
        "passed": f"Not confirmed: {captures} new captures are within the limit.",
        "better": f"Not confirmed: {captures} new captures are within the limit.",
    }.get(later.state, f"Judged by {captures} new captures.")
    return replace(later, message=f"{later.message} {said}".strip())


def _is_time(one: Result) -> bool:
    return one.rule.startswith("time.")


def _is_worse(one: Result) -> bool:
    return _is_time(one) and one.state in ("broken", "inconclusive", "untested")


def _is_doubtful(one: Result, report: Report, budget: Budget, kept: int) -> bool:
    """Broken, too noisy, or slower than the limit in too few captures to be tested."""
    if not _is_worse(one) or report.is_other_machine:
        return False
    if one.state == "broken":
        return True
    is_slower = one.change is not None and one.change > (_limit(one, budget).max_change or 0.0)
    return kept >= FEWEST_CAPTURES and (one.state == "inconclusive" or is_slower)


def _limit(one: Result, budget: Budget) -> Limit:
    return budget.time.get(one.metric, Limit())
