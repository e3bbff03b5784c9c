"""Real captures: a norm that was replaced, ten captures of one program, a lost fusion."""

import random
from datetime import date
from itertools import combinations
from pathlib import Path

import pytest

from roofline.analysis.paths import OpPath, op_path
from roofline.compare.comparison import compare, match_runs
from roofline.compare.gate.baseline import Baseline, baseline_of
from roofline.compare.gate.budget import DEFAULT, Budget, Limit
from roofline.compare.gate.check import BROKEN, PASSED, check
from roofline.compare.gate.rules import Case, time_result
from roofline.compare.run import STEP, Run
from tests.compare.captures import captured, read_run, unpack_ten

TODAY = date(2026, 1, 1)
EXACT = Budget(exact={name: Limit(max_change=0.0, min_change=0.0) for name in (
    "flops", "bytes", "hbm_bytes", "roof_time", "op_count", "recomputed_flops",
)})  # fmt: skip


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    return [read_run(path) for path in unpack_ten(tmp_path_factory.mktemp("ten"))]


def _place(run: Run, row: int) -> OpPath:
    path = op_path(run.text("path")[row])
    assert path is not None
    return path


def test_a_replaced_norm_pairs_nothing_across_scope_or_direction() -> None:
    """By name, 40 % and more of the operations of this pair would meet another one."""
    a, b = captured("layernorm"), captured("rmsnorm")
    found = match_runs(a, b, STEP)
    pairs = [(x, y) for one in found.matches for x in one.a for y in one.b]
    assert len(pairs) > 50
    for x, y in pairs:
        if not a.text("path")[x] or not b.text("path")[y]:
            assert a.text("path")[x] == b.text("path")[y] == ""
            continue
        old, new = _place(a, x), _place(b, y)
        assert old.modules == new.modules, (a.text("name")[x], b.text("name")[y])
        assert old.direction == new.direction, (a.text("name")[x], b.text("name")[y])
    for group in found.groups:
        assert len({_place(a, row).direction for row in group.a}) == 1


def test_a_replaced_norm_is_named_by_what_is_left() -> None:
    found = compare([captured("layernorm")], [captured("rmsnorm")])
    left = [side for group in found.groups for side in (*group.a, *group.b)]
    assert left
    norms = [row for row, path in enumerate(captured("rmsnorm").text("path")) if "RMSNorm" in path]
    matched = {name for one in found.ops for name in one.b.names}
    assert not {captured("rmsnorm").text("name")[row] for row in norms} & matched


def test_exact_rules_show_no_change_between_any_two_captures_of_one_program(
    ten: list[Run],
) -> None:
    assert len(ten) == 10
    for old, new in combinations(ten, 2):
        report = check([new], baseline_of([old]), EXACT, today=TODAY)
        assert report.status == PASSED
        assert {(one.state, one.change) for one in report.results} == {("passed", 0.0)}
        assert report.comparison is not None
        terms = report.comparison.terms
        assert not any(
            terms[name]
            for name in ("calls", "work", "traffic", "peaks", "new", "gone", "regrouped")
        )


@pytest.mark.parametrize("count", [3, 5])
def test_time_rules_raise_few_false_alarms_among_captures_of_one_program(
    ten: list[Run], count: int
) -> None:
    """1,000 splits into old and new captures: none changed, at most 5 % may be said to have."""
    whole = baseline_of(ten)
    times = whole.times_us[STEP]
    rng = random.Random(11)
    alarms = 0
    for _ in range(1000):
        chosen = rng.sample(range(len(ten)), 2 * count)
        old, new = ([times[k] for k in part] for part in (chosen[:count], chosen[count:]))
        alarms += _step_state(whole.run, old, new, DEFAULT.time["step"]) == "broken"
    assert alarms <= 50


def test_without_any_tolerance_at_most_one_split_in_twenty_is_an_alarm(ten: list[Run]) -> None:
    """Every split of the ten captures into five and five."""
    whole = baseline_of(ten)
    times = whole.times_us[STEP]
    splits = list(combinations(range(10), 5))
    alarms = 0
    for chosen in splits:
        old = [times[k] for k in range(10) if k not in chosen]
        new = [times[k] for k in chosen]
        alarms += _step_state(whole.run, old, new, Limit(max_change=0.0)) == "broken"
    assert 0 < alarms <= 0.05 * len(splits)


def _step_state(run: Run, old: list[float], new: list[float], limit: Limit) -> str:
    """The state of the rule on step time for captures that took these times."""
    case = Case(
        run=run,
        times_us=new,
        unit=STEP,
        baseline=Baseline(run=run, times_us={STEP: tuple(old)}),
        matching=None,
        is_other_machine=False,
    )
    return time_result(case, "step", limit).state


def test_a_lost_fusion_breaks_roof_time_and_bytes_and_is_named_with_its_line() -> None:
    baseline = baseline_of([captured("layernorm")])
    report = check([captured("unfused")], baseline, DEFAULT, today=TODAY)
    assert report.status == BROKEN
    broken = {one.rule: one for one in report.of_state("broken")}
    assert {"exact.roof_time", "exact.hbm_bytes"} <= set(broken)
    for rule in ("exact.roof_time", "exact.hbm_bytes"):
        for culprit in broken[rule].culprits:
            assert culprit.source.startswith("train.py:")
            assert culprit.amount > 0


def test_the_capture_itself_passes(tmp_path: Path) -> None:
    run = captured("layernorm")
    report = check([run], baseline_of([run]), DEFAULT, today=TODAY)
    assert report.status == PASSED
    assert report.comparison is not None
    assert not any(report.comparison.terms.values())
