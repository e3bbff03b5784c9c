"""Rules, budget files, states and exit statuses of the gate."""

from dataclasses import replace
from datetime import date

import pytest

from roofline.compare.gate.baseline import (
    Baseline,
    baseline_from_json,
    baseline_of,
    baseline_to_json,
)
from roofline.compare.gate.budget import DEFAULT, Budget, read_budget
from roofline.compare.gate.check import BROKEN, INCONCLUSIVE, PASSED, Report, check
from roofline.compare.gate.confirm import captures_to_confirm, confirmed, unsuspected
from roofline.compare.gate.rules import Result
from roofline.compare.run import STEP, Run, RunSubject
from roofline.errors import BadViewError, CorruptProfileError, SettingsError
from roofline.exports.gate import explain, report_to_markdown, report_to_text
from tests.compare.runs import Row, make_run

TODAY = date(2026, 6, 15)
NAN = float("nan")
ROWS = [
    Row(name=f"fusion.{k}", path=f"jit(f)/Block_{k}/attn/dot", operands="f32[8]", line=10 + k,
        source="model.py", flop=1e6 * (k + 1), bytes=1e4 * (k + 1), time_us=30.0 * (k + 1))
    for k in range(10)
]  # fmt: skip
TOTAL_BYTES = sum(row.bytes for row in ROWS)


def _budget(text: str) -> Budget:
    return read_budget(text.encode(), "roofline.toml")


def _check(rows: list[Row], text: str = "", base: list[Row] | None = None) -> Report:
    budget = _budget(text) if text else DEFAULT
    return check([make_run(rows)], baseline_of([make_run(base or ROWS)]), budget, today=TODAY)


def _result(report: Report, rule: str) -> Result:
    (found,) = [one for one in report.results if one.rule == rule]
    return found


def test_an_extra_copy_of_one_percent_of_the_bytes_breaks_hbm_bytes() -> None:
    copy = Row(name="copy.9", path="jit(f)/Block_3/attn/copy", flop=0.0, category="copy",
               bytes=TOTAL_BYTES / 100, source="model.py", line=77)  # fmt: skip
    report = _check([*ROWS, copy])
    assert report.status == BROKEN
    found = _result(report, "exact.hbm_bytes")
    assert found.state == "broken"
    assert found.change == pytest.approx(0.01)
    assert [(one.part.name, one.source) for one in found.culprits] == [("attn", "model.py:77")]


def test_a_group_of_mixed_operations_is_named_by_the_module_that_has_nearly_all_of_it() -> None:
    """The largest operation is in `Norm`; no module in `Block` has 90 % of the new bytes."""
    base = [*ROWS, Row(name="f", path="jit(f)/Net/Block_0/dot", operands="f32[4]", bytes=1e6)]
    parts = [("Norm", 5e6), ("Mlp", 4e6), ("Mlp", 3e6)]
    mixed = [
        Row(name=f"g{k}", path=f"jit(f)/Net/Block_0/{module}/x{k}", operands=f"f32[{k + 7}]",
            category="other", bytes=size, source="net.py", line=k)
        for k, (module, size) in enumerate(parts)
    ]  # fmt: skip
    report = check([make_run([*ROWS, *mixed])], baseline_of([make_run(base)]), DEFAULT, today=TODAY)
    found = _result(report, "exact.hbm_bytes").culprits[0]
    assert found.part.name == "Net/Block"
    assert found.amount == pytest.approx(11e6)


def test_the_same_run_passes_and_step_time_of_one_capture_is_not_tested() -> None:
    report = _check(ROWS)
    assert report.status == PASSED
    assert _result(report, "exact.flops").state == "passed"
    assert _result(report, "time.step").state == "untested"


def test_time_that_was_not_tested_is_said_first_and_can_be_required() -> None:
    report = _check(ROWS)
    assert report_to_text(report).startswith("Check passed, but time was not tested. Needs 3 capt")
    assert report_to_markdown(report).startswith("### Roofline check passed, but time was not")
    required = _check(ROWS, '[gate]\nrequire = "time"\ninconclusive = "pass"')
    assert required.status == INCONCLUSIVE
    assert report_to_text(required).startswith("Check inconclusive: time was not tested. ")


def test_fewer_flops_are_better_unless_the_budget_says_no_change() -> None:
    less = [replace(row, flop=row.flop * 0.9) for row in ROWS]
    assert _result(_check(less), "exact.flops").state == "better"
    assert _result(_check(less, '[exact]\nflops = "+0%"'), "exact.flops").state == "better"
    report = _check(less, '[exact]\nflops = "0%"')
    assert _result(report, "exact.flops").state == "broken"
    assert any("workload changed" in note for note in report.notes)


def test_limits_per_flop_allow_another_batch() -> None:
    double = [replace(row, flop=row.flop * 2, bytes=row.bytes * 2) for row in ROWS]
    text = '[exact]\nroof_time = { max_change = "+0.5%", per = "flop" }\nhbm_bytes = "+0.5%"'
    report = _check(double, text)
    assert _result(report, "exact.roof_time").state == "passed"
    assert _result(report, "exact.hbm_bytes").state == "broken"


def test_plain_numbers_are_absolute_and_need_no_baseline() -> None:
    budget = _budget("[exact]\nunknown_cost_share = 0.05\nop_count = 9\n[time]\nidle_share = 0.5")
    report = check([make_run(ROWS, idle_us=100.0)], None, budget, today=TODAY)
    states = {one.rule: one.state for one in report.results}
    assert states == {
        "exact.unknown_cost_share": "passed",
        "exact.op_count": "broken",
        "time.idle_share": "passed",
    }
    assert report.comparison is None


def test_relative_limits_without_a_baseline_are_not_tested() -> None:
    """A check that tested nothing has not passed: it says so, and what to do."""
    report = check([make_run(ROWS)], None, DEFAULT, today=TODAY)
    assert {one.state for one in report.results} == {"untested"}
    assert report.status == INCONCLUSIVE
    (note,) = report.notes
    assert "--against" in note and "unknown_cost_share" in note
    passes = replace(DEFAULT, inconclusive_passes=True)
    assert check([make_run(ROWS)], None, passes, today=TODAY).status == PASSED


def test_times_alone_are_tested_where_a_slower_capture_would_be_confirmed() -> None:
    kept, budget = baseline_of(_timed(1.0, 1.01, 0.99)), _budget('[time]\nstep = "3%"')
    report = check(_timed(1.01), kept, budget, today=TODAY)
    assert report.status == INCONCLUSIVE
    assert unsuspected(report, kept).status == PASSED
    nothing = check(_timed(1.01), None, budget, today=TODAY)
    assert unsuspected(nothing, None).status == INCONCLUSIVE


def test_an_operation_whose_cost_is_no_longer_known_does_not_pass() -> None:
    """Unknown is not zero: bytes that are no longer counted have not been saved."""
    unknown = [replace(row, bytes=NAN) if row.line == 12 else row for row in ROWS]
    report = _check(unknown)
    assert _result(report, "exact.hbm_bytes").state == "inconclusive"
    assert report.status == INCONCLUSIVE


def test_estimated_flops_may_differ_by_a_thousandth() -> None:
    def run(factor: float) -> Run:
        rows = [replace(row, flop=row.flop * factor) for row in ROWS]
        return replace(make_run(rows), provenance=("estimated", "estimated"))

    states = []
    for factor in (1.0009, 1.002):
        report = check([run(factor)], baseline_of([run(1.0)]), DEFAULT, today=TODAY)
        states.append(_result(report, "exact.flops").state)
    assert states == ["passed", "broken"]


def test_without_peaks_roof_time_is_not_tested_unless_it_was_asked_for() -> None:
    def bare(rows: list[Row]) -> Run:
        run = make_run(rows)
        nothing = {name: column * NAN for name, column in run.roof_us.items()}
        return replace(run, peaks={}, roof_us=nothing, is_placed=run.is_placed * 0)

    baseline = baseline_of([bare(ROWS)])
    report = check([bare(ROWS)], baseline, DEFAULT, today=TODAY)
    assert (report.status, _result(report, "exact.roof_time").state) == (PASSED, "untested")
    asked = _budget('[exact]\nroof_time = "+1%"')
    report = check([bare(ROWS)], baseline, asked, today=TODAY)
    assert report.status == INCONCLUSIVE
    assert "--peak" in _result(report, "exact.roof_time").message


def test_another_device_is_held_against_the_baselines_peaks_and_its_time_is_inconclusive() -> None:
    new = make_run(ROWS, peaks=(2e6, 2e3), device="Faster device")
    report = check([new] * 3, baseline_of([make_run(ROWS)] * 3), DEFAULT, today=TODAY)
    assert _result(report, "exact.roof_time").change == pytest.approx(0.0)
    assert _result(report, "time.step").state == "inconclusive"
    assert report.status == INCONCLUSIVE


def _timed(*factors: float) -> list[Run]:
    return [
        make_run([replace(row, time_us=row.time_us * factor) for row in ROWS]) for factor in factors
    ]


@pytest.mark.parametrize(
    ("new", "state", "status"),
    [
        ((1.10, 1.11, 1.12), "broken", BROKEN),
        ((1.00, 1.01, 1.005), "passed", PASSED),
        ((0.90, 0.91, 0.92), "better", PASSED),
        ((0.98, 1.02, 1.20), "inconclusive", INCONCLUSIVE),
        ((1.50, 1.60), "untested", PASSED),
    ],
)
def test_step_time_is_judged_from_three_captures_of_each_side(
    new: tuple[float, ...], state: str, status: int
) -> None:
    baseline = baseline_of(_timed(1.0, 1.01, 0.99))
    report = check(_timed(*new), baseline, DEFAULT, today=TODAY)
    assert _result(report, "time.step").state == state
    assert report.status == status


def test_inconclusive_passes_where_the_budget_says_so() -> None:
    baseline = baseline_of(_timed(1.0, 1.01, 0.99))
    budget = _budget('[gate]\ninconclusive = "pass"\n')
    report = check(_timed(0.98, 1.02, 1.2), baseline, budget, today=TODAY)
    assert (report.status, len(report.of_state("inconclusive"))) == (PASSED, 1)


def test_a_history_of_captures_tells_the_noise_for_one_new_capture() -> None:
    history = baseline_of(_timed(*(1.0 + 0.01 * (k % 2) for k in range(12))))
    for factor, state in ((1.5, "broken"), (1.0, "passed"), (1.035, "inconclusive")):
        report = check(_timed(factor), history, DEFAULT, today=TODAY)
        assert _result(report, "time.step").state == state, factor


def test_rules_on_operations_that_a_pattern_names() -> None:
    grown = [replace(row, bytes=row.bytes * 3) if row.line == 13 else row for row in ROWS]
    text = """
        [[op]]
        match = "path:*/attn/*"
        hbm_bytes = "+0%"
        [[op]]
        match = "name:/^fusion[.]3$/"
        hbm_bytes = { max = 100 }
        roof_efficiency = { min = 5, level = "warn" }
        [[op]]
        match = "path:*/mlp/*"
        flops = "+0%"
    """
    report = _check(grown, text)
    states = {one.rule: one.state for one in report.results}
    assert states == {
        "op[path:*/attn/*].hbm_bytes": "broken",
        "op[name:/^fusion[.]3$/].hbm_bytes": "broken",
        "op[name:/^fusion[.]3$/].roof_efficiency": "broken",
        "op[path:*/mlp/*].flops": "inconclusive",
    }
    (culprit,) = _result(report, "op[path:*/attn/*].hbm_bytes").culprits
    assert culprit.source == "model.py:13"


def test_a_new_operation_and_recomputed_flops_have_rules() -> None:
    remat = Row(
        name="fusion.77", flop=5e6, path="jit(f)/checkpoint/rematted_computation/Block_1/dot"
    )
    text = '[exact]\nlargest_new_op = 0.01\nrecomputed_flops = "+0%"'
    report = _check([*ROWS, remat], text)
    assert _result(report, "exact.largest_new_op").state == "broken"
    assert _result(report, "exact.recomputed_flops").state == "broken"
    assert _check(ROWS, text).status == PASSED


def test_an_accepted_regression_passes_until_its_end() -> None:
    grown = [replace(row, bytes=row.bytes * 2) for row in ROWS]
    text = (
        '[exact]\nhbm_bytes = "+1%"\n'
        '[[accept]]\nrule = "exact.hbm_bytes"\nreason = "fp32 master weights"\nuntil = {}\n'
    )
    report = _check(grown, text.format("2026-06-15"))
    found = _result(report, "exact.hbm_bytes")
    assert (report.status, found.state) == (PASSED, "accepted")
    assert "fp32 master weights" in found.message
    report = _check(grown, text.format("2026-06-14"))
    assert report.status == BROKEN
    assert "accepted until 2026-06-14" in _result(report, "exact.hbm_bytes").message


def test_accepting_an_unknown_rule_is_an_error() -> None:
    accept = '[[accept]]\nrule = "exact.bytes"\nreason = "x"\nuntil = 2027-01-01\n'
    text = f'[exact]\nflops = "0%"\n{accept}'
    with pytest.raises(SettingsError, match=r"exact\.bytes"):
        _check(ROWS, text)


def test_an_empty_capture_is_inconclusive_and_never_faster() -> None:
    report = check([make_run([])], baseline_of([make_run(ROWS)]), DEFAULT, today=TODAY)
    assert report.status == INCONCLUSIVE


def test_work_that_vanished_passes_with_a_question() -> None:
    report = _check(ROWS[:5])
    assert report.status == PASSED
    assert any("vanished" in note for note in report.notes)


def test_a_unit_that_a_capture_lacks_is_refused() -> None:
    with pytest.raises(BadViewError):
        _check(ROWS, '[gate]\nunit = "execution"')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[exact]\nrooftime = 1", "roof_time"),
        ("[exakt]\n", "exact"),
        ("[gate]\nagaints = 'x'", "against"),
        ("[time]\nsteps = 1", "step"),
        ("[verdict]\nidl = 1", "idle"),
        ("[[op]]\nmatch = 'path:*'\nrooftime = '+1%'", "roof_time"),
        ("[[accept]]\nrul = 'x'", "rule"),
    ],
)
def test_unknown_keys_are_errors_with_the_nearest_spelling(text: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        _budget(text)
    assert said in caught.value.remedy
    assert "Did you mean" in caught.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        '[exact]\nflops = "much"',
        "[exact]\nflops = true",
        "[exact]\nflops = {}",
        '[exact]\nflops = { level = "loud", max = 1 }',
        '[exact]\nflops = { max = "1" }',
        "exact = 1",
        "[op]\nmatch = 'path:*'",
        "[[op]]\nflops = '0%'",
        "[[op]]\nmatch = 'attn'\nflops = '0%'",
        "[[op]]\nmatch = 'name:/(/'\nflops = '0%'",
        "[[accept]]\nrule = 'x'\nreason = 'y'",
        "[[accept]]\nrule = 'x'\nreason = 'y'\nuntil = 'soon'",
        "[time]\nstep = { max_regress = '3%', captures = 2 }",
        "[gate]\nunit = 'day'",
        "[verdict]\nclass = 'slow'",
        "[verdict]\nclass = []",
        "[verdict]\nclass = 3",
        "[verdict]\nratio = '+1%'",
        "[verdict]\nidle = { level = 'warn' }",
        "[gate]\nagainst = 3",
    ],
)
def test_what_a_budget_cannot_mean_is_refused(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        _budget(text)
    assert caught.value.message.startswith("roofline.toml")


def test_broken_toml_names_its_line() -> None:
    with pytest.raises(SettingsError, match="line 3"):
        _budget('[exact]\nflops = "0%"\nroof_time = = 2\n')


def test_a_budget_with_a_baseline_alone_has_the_default_limits() -> None:
    budget = _budget('[gate]\nagainst = "perf/main.json"\n')
    assert budget.against == "perf/main.json"
    assert budget.exact == DEFAULT.exact


def test_a_baseline_survives_its_document() -> None:
    runs = _timed(1.0, 1.2, 1.1)
    baseline = baseline_from_json(baseline_to_json(baseline_of(runs, "3f2a9c1")))
    assert baseline.note == "3f2a9c1"
    assert baseline.times_us[STEP] == pytest.approx([1650.0, 1980.0, 1815.0])
    assert baseline.run.units[STEP].total_us == pytest.approx(1815.0)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"roofline_baseline": 2}', b'{"roofline_baseline": 1}']
)
def test_other_files_are_not_baselines(content: bytes) -> None:
    with pytest.raises(CorruptProfileError):
        baseline_from_json(content)


def test_a_report_is_of_a_baseline_that_it_does_not_change() -> None:
    baseline: Baseline = baseline_of([make_run(ROWS)])
    before = baseline_to_json(baseline)
    check([make_run(ROWS[:3])], baseline, DEFAULT, today=TODAY)
    assert baseline_to_json(baseline) == before


@pytest.mark.parametrize(
    ("first", "again", "captures", "status", "said"),
    [
        ((1.1, 1.11, 1.12), (1.1, 1.12, 1.13), 3, BROKEN, "Confirmed by 3 new captures."),
        ((1.1, 1.11, 1.12), (1.0, 1.01, 1.005), 3, PASSED, "Not confirmed: 3 new captures"),
        ((0.98, 1.02, 1.2), (1.0, 1.01, 1.005), 3, PASSED, "Not confirmed"),
        ((0.98, 1.02, 1.2), (0.98, 1.02, 1.2), 3, INCONCLUSIVE, "Judged by 3 new captures."),
        ((1.2,), (1.2, 1.21, 1.22), 3, BROKEN, "Confirmed by 3 new captures."),
        ((1.01,), (), 0, PASSED, "Needs 3 captures"),
    ],
)
def test_a_time_fails_only_if_new_captures_confirm_it(
    first: tuple[float, ...], again: tuple[float, ...], captures: int, status: int, said: str
) -> None:
    baseline = baseline_of(_timed(1.0, 1.01, 0.99))
    report = check(_timed(*first), baseline, DEFAULT, today=TODAY)
    assert captures_to_confirm(report, baseline, DEFAULT) == captures
    if captures:
        later = check(_timed(*again), baseline, DEFAULT, today=TODAY)
        report = confirmed(report, later, captures, DEFAULT)
    assert report.status == status
    assert said in _result(report, "time.step").message


def test_nothing_is_confirmed_that_fails_anyway_or_is_of_another_machine() -> None:
    kept = baseline_of(_timed(1.0, 1.01, 0.99))
    slow = [
        make_run([replace(row, time_us=row.time_us * 2, flop=row.flop * 2) for row in ROWS])
        for _ in range(3)
    ]
    assert captures_to_confirm(check(slow, kept, DEFAULT, today=TODAY), kept, DEFAULT) == 0
    other = [make_run([replace(row, time_us=99.0) for row in ROWS], device="Other")] * 3
    assert captures_to_confirm(check(other, kept, DEFAULT, today=TODAY), kept, DEFAULT) == 0


FACTS = RunSubject(
    of="step", kind="step", label="Step 6", unit_word="a step", time_us=100.0, floor_us=40.0,
    roof_ratio=0.5, known_ratio=0.9, idle_ratio=0.1, verdict="bound", ceiling="hbm", ratio=0.55,
    is_counted=False,
)  # fmt: skip


def _judged(text: str, facts: RunSubject | None, base: RunSubject | None = None) -> Report:
    run, old = (
        replace(one, units={STEP: replace(one.units[STEP], subject=subject)})
        for one, subject in ((make_run(ROWS), facts), (make_run(ROWS), base))
    )
    baseline = None if base is None else baseline_of([old])
    return check([run], baseline, _budget(text), today=TODAY)


@pytest.mark.parametrize(
    ("text", "rule", "state"),
    [
        ('class = "bound"', "verdict.class", "passed"),
        ('class = ["bound", "serving"]', "verdict.class", "passed"),
        ('class = "idle"', "verdict.class", "broken"),
        ("ratio = { min = 0.5 }", "verdict.ratio", "passed"),
        ("ratio = { min = 0.6 }", "verdict.ratio", "broken"),
        ("idle = 0.10", "verdict.idle", "passed"),
        ("idle = { max = 0.09, level = 'warn' }", "verdict.idle", "broken"),
    ],
)
def test_rules_on_the_verdict_hold_a_value_against_its_limit(
    text: str, rule: str, state: str
) -> None:
    report = _judged(f"[verdict]\n{text}", FACTS)
    assert _result(report, rule).state == state
    is_warning = "warn" in text
    assert report.status == (BROKEN if state == "broken" and not is_warning else PASSED)


def test_rules_on_the_verdict_say_both_classes_and_what_is_allowed() -> None:
    idle = replace(FACTS, verdict="idle", ceiling="", ratio=None, idle_ratio=0.8)
    report = _judged('[verdict]\nclass = ["bound", "mixed"]\nratio = { min = 0.1 }', idle, FACTS)
    found = _result(report, "verdict.class")
    assert (found.base, found.new, found.limit) == ("bound", "idle", "bound or mixed")
    assert _result(report, "verdict.ratio").state == "inconclusive"
    lines = report_to_text(report).splitlines()
    row = next(line for line in lines if "verdict.class" in line)
    assert row.split() == ["FAIL", "verdict.class", "bound", "idle", "bound", "or", "mixed"]
    assert "class of the verdict" in (explain(report, "verdict.class") or "")


def test_a_verdict_that_was_not_stored_is_inconclusive() -> None:
    report = _judged("[verdict]\nidle = 0.5", None)
    assert (report.status, report.results[0].state) == (INCONCLUSIVE, "inconclusive")
