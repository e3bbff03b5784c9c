"""A side of a comparison says what every page says of its subject, and its times are those."""

from dataclasses import replace

import pytest

from roofline.analysis.subjects.choose import choose
from roofline.analysis.subjects.records import Subject
from roofline.analysis.verdict import verdict_of
from roofline.compare.changes import WAIT
from roofline.compare.comparison import compare
from roofline.compare.from_analysis import run_of, run_of_address
from roofline.compare.run import (
    CAPTURE,
    EXECUTION,
    STEP,
    Run,
    RunSubject,
    UnitTimes,
    from_document,
    run_from_json,
    run_to_json,
    to_document,
)
from roofline.exports.comparison import Detail, comparison_record, comparison_to_text
from roofline.exports.comparison_subjects import bound_words, subject_rows
from roofline.exports.comparison_words import change_verdict
from roofline.presentation.sentences import plain_text
from roofline.presentation.text_table import spaced
from tests.compare.captures import captured
from tests.compare.runs import Row, make_run
from tests.shared_profiles import needs_shared, shared

STEP_6 = RunSubject(
    of="step", kind="step", label="Step 6", unit_word="a step", time_us=100.0, floor_us=40.0,
    roof_ratio=0.5, known_ratio=0.9, idle_ratio=0.1, verdict="bound", ceiling="l1", ratio=0.98,
    is_counted=True,
)  # fmt: skip
ROWS = [Row(name="fusion.1", time_us=90.0)]
REAL = {
    "h100": ["samples/pytorch/h100_qwen_causal.json.gz"],
    "mi300x": ["samples/pytorch/mi300x_qwen_causal.json.gz"],
    "sglang": [
        "samples/pytorch/mi300x_sglang_capture.json.gz",
        "samples/pytorch/mi300x_sglang_decode.json.gz",
    ],
    "b200": ["samples/pytorch/b200_vllm_eager.json.gz"],
    "mi300conv": ["profiles/amd-mi300x-conv-jax08/host_0.xplane.pb"],
    "v5p": ["profiles/tpu-v5p-training-golden/reference.json"],
    "a40": ["samples/nsight_compute/a40_2022.1_imma_indexspaces-74de19f.ncu-rep"],
    "v100": ["profiles/gpu-v100-tf-multiworker/host_0.xplane.pb"],
}


def _run(subject: RunSubject | None, rows: list[Row] = ROWS) -> Run:
    run = make_run(rows, idle_us=10.0)
    return replace(run, units={**run.units, STEP: replace(run.units[STEP], subject=subject)})


def _lead(a: RunSubject, b: RunSubject, rows: list[Row] = ROWS) -> str:
    found = compare([_run(a)], [_run(b, rows)], STEP)
    return spaced(plain_text(change_verdict(found).lead))


def _adds_up(times: UnitTimes) -> None:
    parts = float(times.time_us.sum()) + sum(times.parts.values())
    assert parts == pytest.approx(times.total_us, rel=1e-9)


@needs_shared
@pytest.mark.parametrize("case", REAL)
def test_a_side_is_the_subject_of_its_profile(case: str) -> None:
    analysis = shared(*REAL[case])
    subject, run = choose(analysis), run_from_json(run_to_json(run_of(analysis)))
    unit = STEP if subject.kind in {"step", "serving"} else CAPTURE
    assert run.units[unit].total_us == subject.time_us
    _is_of(run.units[unit], subject)
    verdict, found = verdict_of(analysis, subject), run.units[unit].subject
    assert found is not None
    assert (found.verdict, found.ceiling) == (verdict.kind.value, verdict.ceiling)
    assert found.ratio == verdict.ratio
    for times in run.units.values():
        _adds_up(times)
        assert all(us >= 0 for us in times.parts.values())


def _is_of(times: UnitTimes, subject: Subject) -> None:
    found = times.subject
    assert found is not None
    for name in ("of", "label", "time_us", "floor_us", "roof_ratio", "known_ratio", "idle_ratio"):
        assert getattr(found, name) == getattr(subject, name), name


@needs_shared
def test_a_change_of_time_is_that_of_the_two_subjects() -> None:
    """H100 and MI300X: 34.9 and 33.1 ms a step, 1.76 ms less."""
    analyses = [shared(*REAL[name]) for name in ("h100", "mi300x")]
    a, b = (choose(one) for one in analyses)
    found = compare([run_of(analyses[0])], [run_of(analyses[1])])
    assert found.change_us == b.time_us - a.time_us == pytest.approx(-1761.085)
    assert sum(found.terms.values()) == pytest.approx(found.change_us, rel=1e-9)
    record = comparison_record(found)
    assert record["subjects"]["b"]["floor_us"] == b.floor_us
    text = comparison_to_text(found)
    assert "Of the roof  54 %       39 %\n" in text
    assert text.startswith(
        "The MI300X takes 1.8 ms less a step: 33.1 instead of 34.9.\n"
        "RMSNorm takes 1.7 ms less (modeling_qwen2.py:218), Attention 1.7, MLP 1.4 ms more.\n"
        "One capture of each, so it may be noise. Two more of each would tell.\n"
    )
    text = comparison_to_text(found, Detail(has_terms=True))
    assert "Faster units: −12.1 ms. B uses its hardware less well: +10.2 ms.\n" in text


@needs_shared
def test_a_subject_that_was_asked_for_stands_alone() -> None:
    analysis = shared(*REAL["h100"])
    capture = run_of_address(analysis, "capture")
    assert list(capture.units) == [CAPTURE]
    assert capture.units[CAPTURE].total_us == choose(analysis, "capture").time_us
    part = run_of_address(analysis, "20ms..30ms")
    _is_of(part.units[CAPTURE], choose(analysis, "20ms..30ms"))
    _adds_up(part.units[CAPTURE])
    unknown = run_of_address(analysis, "step:99").units[STEP].subject
    assert unknown is not None
    assert (unknown.label, unknown.not_found) == ("Step 6", "step:99")


@needs_shared
def test_an_execution_is_a_part_of_its_capture() -> None:
    run = run_of(shared(*REAL["mi300conv"]))
    one, whole = run.units[EXECUTION].subject, run.units[CAPTURE].subject
    assert one is not None
    assert whole is not None
    assert one.label == "Execution, mean of 5"
    assert one.time_us == pytest.approx(whole.time_us / 5, rel=1e-12)
    assert (one.roof_ratio, one.idle_ratio) == (whole.roof_ratio, whole.idle_ratio)


def test_calls_of_a_step_are_whole_and_of_each_op() -> None:
    run = captured("layernorm")
    step, whole = run.units[STEP].calls, run.units[CAPTURE].calls
    assert (step == step.round()).all()
    assert step.sum() == 77
    assert (whole >= step).all()


def test_a_run_that_was_stored_without_subjects_is_read() -> None:
    document = to_document(_run(STEP_6))
    for times in document["units"].values():
        del times["subject"]
    read = from_document(document)
    assert read.units[STEP].subject is None
    found = compare([read], [read])
    assert subject_rows(found) == []
    assert comparison_record(found)["subjects"] == {"a": None, "b": None}


def test_a_run_with_a_subject_beside_one_without_says_that_it_is_not_known() -> None:
    found = compare([_run(None)], [_run(STEP_6)], STEP)
    assert ("Time", "–", "100\N{NO-BREAK SPACE}µs") in subject_rows(found)


@needs_shared
def test_a_table_without_a_number_of_cores_is_not_half_as_fast() -> None:
    """XProf's `hlo_stats` sums over cores that it does not count; its roofline table counts two."""
    stats, roofline = (
        run_of(shared(f"samples/xprof_export/a100_{table}.json"))
        for table in ("hlo_stats", "roofline_model")
    )
    said = change_verdict(compare([stats], [roofline]))
    assert (said.state, said.largest) == ("apart", [])
    assert plain_text(said.headline).endswith(
        "one file does not say of how many cores its times are"
    )
    assert change_verdict(compare([stats], [stats])).state == "none"


def test_subjects_of_two_kinds_are_named() -> None:
    capture = replace(STEP_6, of="capture", kind="capture", unit_word="")
    found = compare([_run(STEP_6)], [_run(capture)], STEP)
    assert change_verdict(found).state == "kinds"
    said = change_verdict(found)
    assert spaced(plain_text(said.headline)) == "A step of 100 µs against a capture of 100 µs"
    assert said.largest == []  # a part of a step is not less than one of a capture
    assert change_verdict(compare([_run(STEP_6)], [_run(STEP_6)], STEP)).state == "none"


def test_a_table_of_kernels_has_no_idle_time_that_could_be_a_change() -> None:
    """Of 28 us more, 26 lie between the kernels of the capture: a table says nothing of those."""
    kernels, capture = (replace(STEP_6, of=kind, kind=kind) for kind in ("kernels", "capture"))
    table = make_run(ROWS).units[STEP]
    longer = make_run([replace(ROWS[0], time_us=92.0)], idle_us=26.0).units[STEP]
    runs = [
        replace(make_run(ROWS), units={STEP: replace(times, subject=about)})
        for times, about in ((table, kernels), (longer, capture))
    ]
    found = compare(runs[:1], runs[1:], STEP)
    assert found.change_us == 28
    assert spaced(plain_text(change_verdict(found).largest)) == "fusion.1 takes 2 µs more. "


def test_a_counted_unit_that_binds_both_sides_is_said_with_both_shares() -> None:
    after = replace(STEP_6, ratio=0.61)
    assert "L1/TEX is busy 98 % → 61 % of the time. " in _lead(STEP_6, after)
    assert "is busy" not in _lead(replace(STEP_6, is_counted=False), after)
    assert "is busy" not in _lead(STEP_6, replace(after, ceiling="hbm"))


def test_one_capture_of_each_may_be_noise() -> None:
    slower = [replace(ROWS[0], time_us=95.0)]
    said = "One capture of each, so it may be noise. Two more of each would tell. "
    assert said in _lead(STEP_6, STEP_6, slower)
    two = compare([_run(STEP_6)], [_run(STEP_6, slower)] * 2, STEP)
    lead = plain_text(change_verdict(two).lead)
    assert "1 and 2 captures, so it may be noise. Three of each would tell. " in lead


@pytest.mark.parametrize(
    ("verdict", "ceiling", "said"),
    [
        ("bound", "hbm", "HBM-bound"),
        ("bound", "l1", "L1-bound"),
        ("serving", "hbm", "HBM-bound"),
        ("mixed", "alu", "partly ALU-bound"),
        ("latency", "l1", "latency-bound"),
        ("waits", "nvlink", "waits for NVLink"),
        ("waits", "input", "waits for input"),
        ("waits", "unknown", "waits for other ranks"),
        ("idle", "", "mostly idle"),
        ("doubt", "hbm", "in doubt"),
        ("unknown", "", "not known"),
        ("nothing", "", "no operation"),
        ("host_only", "", "the host alone"),
        ("points", "", "no times"),
        ("predicted", "", "no times"),
        ("bound", "", "not known"),
    ],
)
def test_every_class_has_words_for_a_cell(verdict: str, ceiling: str, said: str) -> None:
    assert bound_words(replace(STEP_6, verdict=verdict, ceiling=ceiling)) == said


@pytest.mark.parametrize(("ratio", "waits"), [(0.9, ["host_wait", "idle"]), (0.5, ["idle"])])
def test_a_wait_that_is_nearly_all_the_hosts_is_called_so(ratio: float, waits: list[str]) -> None:
    def side(idle_us: float, share: float | None) -> Run:
        run = make_run([Row(name="dot.1")], idle_us=idle_us)
        step, about = run.units[STEP], replace(STEP_6, host_wait_ratio=share)
        return replace(run, units={STEP: replace(step, subject=about)})

    found = compare([side(50.0, 0.96)], [side(30.0, ratio)])
    rows = {one.name: (one.a.time_us, one.b.time_us) for one in found.places if one.kind == WAIT}
    assert sorted(rows) == waits
    assert tuple(map(sum, zip(*rows.values(), strict=True))) == pytest.approx((50, 30))
    assert found.terms["idle"] == -20
    if len(waits) == 2:
        assert rows["host_wait"] == pytest.approx((48, 27))
        assert spaced(plain_text(change_verdict(found).largest)) == (
            "Waiting for the host takes 21.0 µs less. "
        )
    older = compare([side(50.0, None)], [side(30.0, 1.0)])
    assert [one.name for one in older.places if one.kind == WAIT] == ["idle"]
