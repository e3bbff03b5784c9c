"""The rules of a budget, applied to a run: each with its numbers, its limit and its state."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

import numpy as np

from roofline.analysis.paths import op_path
from roofline.compare.changes import PlaceChange
from roofline.compare.gate.baseline import Baseline
from roofline.compare.gate.budget import Accepted, Level, Limit, OpLimits
from roofline.compare.gate.numbers import amounts, formula
from roofline.compare.matching import Matching
from roofline.compare.places import (
    Entry,
    Part,
    have_modules,
    operations_of,
    parts_of,
    shared_place,
)
from roofline.compare.run import Run
from roofline.compare.statistics import FEWEST_CAPTURES, mann_whitney
from roofline.model.op_columns import Bools

State = Literal["passed", "better", "broken", "inconclusive", "accepted", "untested"]

_ROUNDING = 1e-9
_TOLERANCE = {"modelled": 0.0, "stated": 0.0, "estimated": 0.001, "measured": 0.01}
_CULPRITS = 5
_HISTORY = 10  # captures that tell the noise of a machine
_NOISE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Culprit:
    """A module, or an operation, that a number grew by: `amount` in the unit of the rule.

    `source` is the user's line, `library` the line that it calls. `key` stays the same from build
    to build: the module; of an operation its path or category, and shapes.
    """

    part: Part | PlaceChange
    source: str
    library: str
    amount: float
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One rule and what came of it. `None` is not known, or needs no baseline; classes are text."""

    rule: str
    metric: str
    level: Level
    state: State
    base: float | str | None
    new: float | str | None
    change: float | None
    limit: str
    message: str = ""
    culprits: tuple[Culprit, ...] = ()

    @property
    def formula(self) -> str:
        """How the number is computed, in words."""
        return formula(self.metric)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """The case to judge: captures of a run, against a baseline or against limits alone."""

    run: Run
    times_us: Sequence[float]
    unit: str
    baseline: Baseline | None
    matching: Matching | None
    is_other_machine: bool

    @property
    def base(self) -> Run | None:
        """The run to compare with."""
        return None if self.baseline is None else self.baseline.run


def exact_result(case: Case, metric: str, limit: Limit, *, is_default: bool) -> Result:
    """A rule on a number of the whole run."""
    return _judged(case, f"exact.{metric}", metric, limit, None, is_default=is_default)


def op_results(case: Case, given: OpLimits) -> Iterable[Result]:
    """The rules on the operations that a pattern names."""
    for metric, limit in given.limits.items():
        rule = f"op[{given.text}].{metric}"
        yield _judged(case, rule, metric, limit, given, is_default=False)


def time_result(case: Case, metric: str, limit: Limit) -> Result:
    """A rule on time. A change needs several captures; a value is that of the one in the middle."""
    if metric == "step" and limit.max_change is not None:
        return _step_result(case, limit)
    times = case.run.units[case.unit]
    total = times.total_us
    if metric == "step":
        value = float(np.median(case.times_us))
    elif metric == "efficiency":
        roof = amounts(case.run, case.unit, "roof_time").total()
        value = math.nan if roof is None or total <= 0 else roof / total
    else:
        part = {
            "idle_share": "idle",
            "communication_share": "communication",
            "transfer_share": "transfers",
        }[metric]
        value = times.parts.get(part, 0.0) / total if total > 0 else math.nan
    blank = _blank(f"time.{metric}", metric, limit)
    if math.isnan(value):
        return replace(blank, state="inconclusive", message="This is not known of the run.")
    return _within(replace(blank, new=value), limit)


def verdict_result(case: Case, metric: str, limit: Limit) -> Result:
    """A rule on the verdict: its class, the share of its ceiling, or the share of idle time."""
    base = None if case.base is None else _of_verdict(case.base, case.unit, metric)
    new = _of_verdict(case.run, case.unit, metric)
    blank = replace(_blank(f"verdict.{metric}", metric, limit), base=base, new=new)
    if new is None:
        return replace(blank, state="inconclusive", message="This is not known of the run.")
    if isinstance(new, str):
        return replace(blank, state="passed" if new in limit.one_of else "broken")
    return _within(blank, limit)


def _of_verdict(run: Run, unit: str, metric: str) -> float | str | None:
    times = run.units.get(unit)
    if times is None or times.subject is None:
        return None
    facts = {"class": "verdict", "ratio": "ratio", "idle": "idle_ratio"}
    found: float | str | None = getattr(times.subject, facts[metric])
    return found


def accepted(result: Result, known: Sequence[Accepted], today: date) -> Result:
    """`result`, or that it is accepted until a day that is not over."""
    found = [one for one in known if one.rule == result.rule]
    if result.state != "broken" or not found:
        return result
    one = max(found, key=lambda each: each.until)
    if one.until < today:
        ended = f"It was accepted until {one.until}: {one.reason}."
        return replace(result, message=f"{result.message} {ended}".strip())
    return replace(result, state="accepted", message=f"Accepted until {one.until}: {one.reason}.")


# ----------------------------------------------------------------------------------------- exact


def _judged(
    case: Case, rule: str, metric: str, limit: Limit, given: OpLimits | None, *, is_default: bool
) -> Result:
    blank = _blank(rule, metric, limit)
    if limit.is_relative and case.base is None:
        return replace(blank, state="untested", message="There is no baseline.")
    new, new_unknown = _value(case, case.run, metric, limit, given)
    base, base_unknown = None, 0
    if case.base is not None:
        base, base_unknown = _value(case, case.base, metric, limit, given)
    blank = replace(blank, base=base, new=new, change=_change(base, new))
    if new is None or (limit.is_relative and base is None):
        state: State = "untested" if is_default else "inconclusive"
        return replace(blank, state=state, message=_why_unknown(metric, given))
    result = _within(blank, limit, _tolerance(case))
    if result.state in ("passed", "better") and new_unknown > base_unknown and case.base:
        more = new_unknown - base_unknown
        said = f"The cost of {more} more operations is not known, so less is counted."
        return replace(result, state="inconclusive", message=said)
    if result.state == "broken" and case.matching is not None and case.base is not None:
        return replace(result, culprits=_culprits(case, metric, given))
    return result


def _why_unknown(metric: str, given: OpLimits | None) -> str:
    if given is not None:
        return "No operation with a known number matches."
    if metric in ("roof_time", "largest_new_op"):
        return "No roof is known. Name the device with --device, or its peaks with --peak."
    return "This is not known of the run."


def _value(
    case: Case, run: Run, metric: str, limit: Limit, given: OpLimits | None
) -> tuple[float | None, int]:
    """The number of `metric`, and of how many operations it is not known."""
    rows = None if given is None else matching_rows(run, given)
    if metric == "roof_efficiency":
        return _efficiency(case, run, rows), 0
    if metric == "unknown_cost_share":
        return _unknown_share(case, run), 0
    if metric == "largest_new_op":
        return _largest_new(case, run), 0
    if rows is not None and not rows.any():
        return None, 0
    found = amounts(run, case.unit, metric, case.base)
    total, unknown = found.total(rows), found.unknown(rows)
    if limit.per == "flop":
        flop = amounts(run, case.unit, "flops").total(rows)
        total = total / flop if total is not None and flop else None
    return total, unknown


def matching_rows(run: Run, given: OpLimits) -> Bools:
    """The operations that a pattern names."""
    is_one = op_paths_matching(given)
    pairs = zip(run.text("path"), run.text("name"), strict=True)
    return np.array([is_one(path, name) for path, name in pairs], np.bool_)


def op_paths_matching(given: OpLimits) -> Callable[[str, str], bool]:
    """Whether a pattern names a path and a name: without wrappers, or as written."""

    def is_one(path: str, name: str) -> bool:
        found = op_path(path)
        plain = "/".join((*found.scope, found.leaf)) if found is not None else ""
        return any(given.matches(text, name) for text in (f"/{plain}", plain, path))

    return is_one


def _efficiency(case: Case, run: Run, rows: Bools | None) -> float | None:
    """Roof time over time, of operations for which both are known."""
    roof = amounts(run, case.unit, "roof_time").values
    time_us = run.units[case.unit].time_us
    known = ~np.isnan(roof) & (time_us > 0)
    known = known if rows is None else known & rows
    total = float(time_us[known].sum())
    return float(roof[known].sum()) / total if total else None


def _unknown_share(case: Case, run: Run) -> float | None:
    time_us = run.units[case.unit].time_us
    total = float(time_us.sum())
    return float(time_us[run.is_placed == 0].sum()) / total if total else None


def _largest_new(case: Case, run: Run) -> float | None:
    if run is not case.run or case.matching is None:
        return 0.0 if run is not case.run else None
    roof = amounts(run, case.unit, "roof_time", case.base)
    total = roof.total()
    new = roof.values[list(case.matching.only_b)]
    return float(np.nanmax(new, initial=0.0)) / total if total else None


def _tolerance(case: Case) -> float:
    """Where FLOPs are estimates or counted, a small share replaces equality."""
    worst = max(_TOLERANCE.get(kind, 0.01) for kind in case.run.provenance)
    return max(worst, _ROUNDING)


# -------------------------------------------------------------------------------------- judging


def _blank(rule: str, metric: str, limit: Limit) -> Result:
    return Result(
        rule=rule,
        metric=metric,
        level=limit.level,
        state="untested",
        base=None,
        new=None,
        change=None,
        limit=_limit_text(limit),
    )


def _within(result: Result, limit: Limit, tolerance: float = _ROUNDING) -> Result:
    """`result` with the state that its numbers give it."""
    value, change = result.new, result.change
    broken = isinstance(value, float) and (
        (limit.most is not None and value > limit.most)
        or (limit.least is not None and value < limit.least)
    )
    if limit.max_change is not None:
        broken |= change is not None and change > max(limit.max_change, tolerance)
    if limit.min_change is not None:
        broken |= change is not None and change < min(limit.min_change, -tolerance)
    if broken:
        return replace(result, state="broken")
    is_better = limit.is_relative and change is not None and change < -tolerance
    return replace(result, state="better" if is_better else "passed")


def _change(base: float | None, new: float | None) -> float | None:
    """The change as a share of the baseline; infinite where that is 0."""
    if base is None or new is None:
        return None
    if base == 0:
        return 0.0 if new == 0 else math.inf
    return new / base - 1


def _limit_text(limit: Limit) -> str:
    parts = []
    if limit.max_change is not None:
        parts.append(f"+{limit.max_change * 100:.4g}%")
    if limit.min_change is not None:
        parts.append(f"{limit.min_change * 100:.4g}%" if limit.min_change else "-0%")
    if limit.most is not None:
        parts.append(f"at most {limit.most:g}")
    if limit.least is not None:
        parts.append(f"at least {limit.least:g}")
    if limit.one_of:
        parts.append(" or ".join(limit.one_of))
    return ", ".join(parts)


# ----------------------------------------------------------------------------------------- time


def _step_result(case: Case, limit: Limit) -> Result:
    """Regressed where the whole interval is beyond the limit, passed where it is within."""
    blank = _blank("time.step", "step", limit)
    new = list(case.times_us)
    old = [] if case.baseline is None else list(case.baseline.times_us.get(case.unit, ()))
    if not old or min(*old, *new) <= 0:
        return replace(blank, message="There is no time to compare with.")
    base, now = float(np.median(old)), float(np.median(new))
    blank = replace(blank, base=base, new=now, change=now / base - 1)
    if case.is_other_machine:
        said = "The device or the number of cores is not the baseline's."
        return replace(blank, state="inconclusive", message=said)
    interval = _interval(old, new, limit.captures)
    if interval is None:
        need = max(limit.captures, FEWEST_CAPTURES)
        said = f"Needs {need} captures of each side; there are {len(old)} and {len(new)}."
        return replace(blank, message=said)
    low, high = interval
    most = 1 + (limit.max_change or 0.0)
    said = f"Between {(low - 1) * 100:+.1f} % and {(high - 1) * 100:+.1f} %."
    if low > most:
        return replace(blank, state="broken", message=said)
    if high < most:
        return replace(blank, state="better" if high < 1 else "passed", message=said)
    return replace(blank, state="inconclusive", message=f"Too noisy. {said}")


def _interval(
    old: Sequence[float], new: Sequence[float], captures: int
) -> tuple[float, float] | None:
    """Of the ratio of medians: by the exact test, or by the noise of the baseline's history."""
    if min(len(old), len(new)) >= captures:
        found = mann_whitney(old, new)
        if found.low is not None and found.high is not None:
            return found.low, found.high
    if len(old) >= _HISTORY:
        steps = np.abs(np.diff(np.log(old)))
        noise = math.exp(float(np.quantile(steps, _NOISE)))
        ratio = float(np.median(new) / np.median(old))
        return ratio / noise, ratio * noise
    return None


# -------------------------------------------------------------------------------------- culprits


def _culprits(case: Case, metric: str, given: OpLimits | None) -> tuple[Culprit, ...]:
    """The modules by which a number grew most, else the operations, with their source lines."""
    if case.base is None or case.matching is None:
        return ()
    if metric in ("unknown_cost_share", "largest_new_op", "roof_efficiency"):
        return ()
    entries = _entries(case, case.base, case.matching, metric)
    if given is not None:
        plain = op_paths_matching(given)
        entries = [one for one in entries if plain(one.path, one.name)]
    has_modules = have_modules(entries)
    found = parts_of(entries) if has_modules else operations_of(entries)
    grown = sorted((one for one in found if one.change > 0), key=lambda one: -one.change)
    return tuple(_culprit(one, has_modules=has_modules) for one in grown[:_CULPRITS])


def _entries(case: Case, base: Run, matching: Matching, metric: str) -> list[Entry]:
    """What became of what, with the amounts of `metric`, in the module that has nearly all of it;
    named by the largest operation there."""
    old = np.nan_to_num(amounts(base, case.unit, metric, base).values)
    new = np.nan_to_num(amounts(case.run, case.unit, metric, base).values)

    def entry(a: Sequence[int], b: Sequence[int]) -> Entry:
        run, rows, values = (case.run, list(b), new) if b else (base, list(a), old)
        at, depth = shared_place([run.text("path")[one] for one in rows], values[rows].tolist())
        row = rows[at]
        return Entry(
            path=run.text("path")[row],
            category=run.text("category")[row],
            name=run.text("name")[row],
            before=float(old[list(a)].sum()),
            after=float(new[list(b)].sum()),
            source=run.source(row),
            library=run.text("library")[row],
            shapes=run.text("operands")[row],
            depth=depth,
            was=entry(a, ()) if a and b else None,
        )

    found = [entry(one.a, one.b) for one in matching.matches]
    found += [entry(one.a, one.b) for one in matching.groups]
    found += [entry((row,), ()) for row in matching.only_a]
    return found + [entry((), (row,)) for row in matching.only_b]


def with_places(result: Result, places: Sequence[PlaceChange]) -> Result:
    """`result`, a broken rule on time, with the places that take more time than before."""
    if result.rule != "time.step" or result.state != "broken":
        return result
    grown = [one for one in places if one.change_us > 0 and one.beyond_us]
    culprits = (
        Culprit(
            part=one,
            source=one.source,
            library=one.library,
            amount=one.change_us,
            key=f"{one.kind}/{one.around}/{one.name}",
        )
        for one in grown[:_CULPRITS]
    )
    return replace(result, culprits=tuple(culprits))


def _culprit(part: Part, *, has_modules: bool) -> Culprit:
    line = part.named_by
    if has_modules:
        key = f"{part.kind}/{part.around}/{part.name}"
    else:
        path = op_path(line.path)
        place = "/".join((path.direction, *path.scope, path.leaf)) if path is not None else ""
        key = f"{place or line.category}|{line.shapes}"
    return Culprit(part=part, source=line.source, library=line.library, amount=part.change, key=key)
