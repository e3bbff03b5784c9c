"""`roofline baseline save` and `roofline check`: statuses, files for CI, the pytest fixture."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from contextlib import chdir
from pathlib import Path

import pytest

from roofline.compare.gate.baseline import times_of
from tests.cli.test_main import refused, run
from tests.compare.captures import PEAKS, capture_path, read_run, unpack_ten
from tests.conftest import PYTHON_PATH
from tests.schemas import schema_errors

GIVEN = [word for peak in PEAKS for word in ("--peak", peak)]
# Elements of JUnit's XML that all its readers share: their children and their attributes.
JUNIT = {
    "testsuite": ({"testcase"}, {"name", "tests", "failures", "skipped"}),
    "testcase": ({"failure", "skipped"}, {"classname", "name"}),
    "failure": (set[str](), {"message"}),
    "skipped": (set[str](), {"message"}),
}
SAME, CHANGED = capture_path("layernorm"), capture_path("unfused")


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gate") / "main.json"
    run("baseline", "save", path, SAME, "--note", "3f2a9c1", *GIVEN)
    return path


def test_the_same_capture_passes(baseline: Path) -> None:
    said = run("check", SAME, "--against", baseline, *GIVEN).stdout.decode()
    assert said.startswith("Check passed")
    assert "exact.roof_time" in said


def test_of_is_what_a_check_is_of(baseline: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole.json"
    run("baseline", "save", whole, SAME, "--of", "kernels", *GIVEN)
    (tmp_path / "roofline.toml").write_text("[verdict]\nidle = 1.0\n[exact]\nflops = '0%'\n")
    budget = ("--budget", tmp_path / "roofline.toml", *GIVEN)
    done = run("check", SAME, "--against", whole, "--of", "kernels", "--json", *budget)
    found = json.loads(done.stdout)
    assert (found["unit"], found["verdict"]) == ("capture", "passed")
    assert {one["rule"] for one in found["rules"]} == {"exact.flops", "verdict.idle"}
    refused("check", SAME, "--against", baseline, "--of", "kernels", "--unit", "step", *GIVEN)
    unknown = run("check", SAME, "--against", baseline, "--of", "step:99", *GIVEN)
    assert f"{SAME.name} has no step:99; its times are of: Step, mean of" in unknown.stderr.decode()


def test_a_lost_fusion_fails_with_rule_and_source_line(baseline: Path) -> None:
    said = run("check", CHANGED, "--against", baseline, *GIVEN, code=1).stdout.decode()
    assert said.startswith("Check failed: ")
    assert "FAIL        exact.roof_time" in said
    assert "(train.py:" in said


def test_json_has_every_rule_with_its_numbers(baseline: Path) -> None:
    done = run("check", CHANGED, "--against", baseline, "--json", *GIVEN, code=1)
    found = json.loads(done.stdout)
    assert (found["status"], found["verdict"]) == (1, "failed")
    rule = next(one for one in found["rules"] if one["rule"] == "exact.roof_time")
    assert rule["new"] > rule["base"]
    assert rule["places"][0]["source"].startswith("train.py:")
    assert found["comparison"]["terms"]


def test_explain_has_formula_and_numbers(baseline: Path) -> None:
    given = ("check", CHANGED, "--against", baseline, "--explain", "roof_time", *GIVEN)
    said = run(*given, code=1).stdout.decode()
    assert "formula   sum over operations of calls x longest of work / peak" in said
    given = ("check", SAME, "--against", baseline, "--explain", "rooftime", *GIVEN)
    assert "exact.roof_time" in run(*given, code=2).stderr.decode()


def test_update_writes_the_baseline_and_nothing_else_does(baseline: Path, tmp_path: Path) -> None:
    moved = tmp_path / "main.json"
    moved.write_bytes(baseline.read_bytes())
    run("check", CHANGED, "--against", moved, *GIVEN, code=1)
    assert moved.read_bytes() == baseline.read_bytes()
    run("check", CHANGED, "--against", moved, "--update", *GIVEN)
    assert run("check", CHANGED, "--against", moved, *GIVEN).returncode == 0
    new = tmp_path / "new.json"
    run("check", SAME, "--against", new, "--update", *GIVEN)
    assert new.is_file()


def test_a_baseline_can_be_compared_like_a_capture(baseline: Path) -> None:
    found = json.loads(run("compare", baseline, CHANGED, "-f", "json", *GIVEN).stdout)
    assert found["terms"]["regrouped"] + found["terms"]["new"] > 0
    same = json.loads(run("compare", baseline, SAME, "-f", "json", *GIVEN).stdout)
    assert same["verdict"]["state"] == "none"


def test_what_cannot_be_read_is_two_with_a_remedy(baseline: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    assert f"roofline baseline save {missing}" in refused("check", SAME, "--against", missing)
    assert "--budget-only" in refused("check", SAME)
    budget = tmp_path / "budget.toml"
    budget.write_text('[exact]\nflops = "0%"\nroof_time == 1\n')
    assert "line 3" in refused("check", SAME, "--against", baseline, "--budget", budget)
    budget.write_text("[exact]\nrooftime = 1\n")
    said = refused("check", SAME, "--against", baseline, "--budget", budget)
    assert "Did you mean roof_time?" in said
    other = tmp_path / "other.json"
    other.write_text("{}")
    assert str(other) in refused("check", SAME, "--against", other)


def test_the_budget_beside_is_found_and_values_need_no_baseline(tmp_path: Path) -> None:
    with chdir(tmp_path):
        said = run("check", SAME, "--budget-only", code=3).stdout.decode()
        assert said.startswith("Check inconclusive: 5 not tested.") and "No rule was tested" in said
        (tmp_path / "roofline.toml").write_text("[exact]\nop_count = 3\n")
        assert "exact.op_count" in run("check", SAME, "--budget-only", code=1).stdout.decode()


def test_inconclusive_is_three_or_passes(baseline: Path, tmp_path: Path) -> None:
    budget = tmp_path / "budget.toml"
    budget.write_text('[exact]\nroof_time = "+1%"\n')
    bare = tmp_path / "bare.json"
    run("baseline", "save", bare, SAME)
    given = ("check", SAME, "--against", bare, "--budget", budget)
    assert "Check inconclusive" in run(*given, code=3).stdout.decode()
    run(*given, "--inconclusive", "pass")


def test_junit_has_one_case_per_rule(baseline: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.xml"
    run("check", CHANGED, "--against", baseline, "--junit", path, *GIVEN, code=1)
    suite = ET.parse(path).getroot()
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert len(cases) == int(suite.get("tests", "0")) == 5
    assert cases["exact.roof_time"].find("failure") is not None
    assert cases["exact.flops"].find("failure") is None
    assert cases["time.step"].find("skipped") is not None
    assert suite.get("failures") == str(len(list(suite.iter("failure"))))
    assert suite.get("skipped") == str(len(list(suite.iter("skipped"))))
    for element in suite.iter():
        children, attributes = JUNIT[element.tag]
        assert {child.tag for child in element} <= children
        assert set(element.attrib) == attributes


def test_a_time_is_captured_again_before_it_fails(tmp_path: Path) -> None:
    fast, *rest = sorted(unpack_ten(tmp_path), key=_step_us)
    slow, main = rest[-1], tmp_path / "main.json"
    run("baseline", "save", main, fast, fast, fast, *GIVEN)
    given = ("check", slow, "--against", main, *GIVEN)
    copy = "echo noise; cp {} $ROOFLINE_CAPTURE_DIR/a.xplane.pb"
    said = run(*given, "--confirm", copy.format(fast)).stdout.decode()
    assert said.startswith("Check passed")
    assert "Not confirmed: 3 new captures are within the limit." in said
    said = run(*given, "--confirm", copy.format(slow), code=1).stdout.decode()
    assert "Confirmed by 3 new captures." in said
    assert "status 7" in refused(*given, "--confirm", "exit 7")
    assert "ROOFLINE_CAPTURE_DIR" in refused(*given, "--confirm", "true")


_AGAIN = """
import shutil, sys, types
from contextlib import contextmanager

FILES = iter({files!r})

@contextmanager
def trace(folder):
    yield
    shutil.copy(next(FILES), folder + "/a.xplane.pb")

@contextmanager
def step(name, step_num):
    yield

profiler = types.SimpleNamespace(trace=trace, StepTraceAnnotation=step)
sys.modules["jax"] = types.SimpleNamespace(profiler=profiler, block_until_ready=lambda x: x)

def test_step(roofline):
    roofline.check(lambda: None, budget="train", peaks={peaks!r})
"""


def test_the_fixture_captures_again_before_a_time_fails(tmp_path: Path) -> None:
    """A stand-in for JAX's profiler hands out captures: a slow one first, then three fast ones."""
    fast, *rest = map(str, sorted(unpack_ten(tmp_path), key=_step_us))
    (tmp_path / "roofline-baselines").mkdir()
    run("baseline", "save", tmp_path / "roofline-baselines" / "train.json", *[fast] * 3, *GIVEN)
    file = tmp_path / "test_train.py"
    for files, options, said in (
        ([rest[-1], fast, fast, fast], ["--roofline-confirm"], "1 passed"),
        ([rest[-1]] * 4, ["--roofline-confirm"], "Confirmed by 3 new captures."),
    ):
        file.write_text(_AGAIN.format(files=files, peaks=PEAKS))
        assert said in _pytest(tmp_path, *options).stdout


def _step_us(path: Path) -> float:
    return times_of([read_run(path)])["step"][0]


def test_sarif_names_rules_lines_and_stable_fingerprints(baseline: Path, tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.sarif"
        run("check", CHANGED, "--against", baseline, "--sarif", path, *GIVEN, code=1)
        texts.append(path.read_text())
    assert texts[0] == texts[1]
    document = json.loads(texts[0])
    assert schema_errors("sarif-2.1.0", document) == []
    document["runs"][0]["results"][0]["line"] = 3
    assert schema_errors("sarif-2.1.0", document)
    assert document["version"] == "2.1.0"
    (found,) = document["runs"]
    rules = {rule["id"] for rule in found["tool"]["driver"]["rules"]}
    results = found["results"]
    assert {one["ruleId"] for one in results} == rules
    assert "exact.roof_time" in rules
    assert len({one["partialFingerprints"]["rooflineRule/v1"] for one in results}) == len(results)
    place = results[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "train.py"
    assert place["region"]["startLine"] > 0


def test_annotations_and_summary_for_github(
    baseline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# Before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    given = ("check", CHANGED, "--against", baseline, "--summary", summary, *GIVEN)
    lines = run(*given, code=1).stdout.decode().splitlines()
    commands = [line for line in lines if line.startswith("::")]
    assert commands[0].startswith("::error file=train.py,line=")
    assert "title=Roofline exact.roof_time::" in commands[0]
    text = summary.read_text()
    assert text.startswith("# Before\n### Roofline check failed")
    assert len(text.encode()) < 64_000


_TEST = """
from pathlib import Path
def test_step(roofline):
    roofline.check_files([Path({path!r})], budget="train", peaks={peaks!r})
"""


def _pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "roofline.cli.pytest_plugin"]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".", *options, "."],
        cwd=folder,
        # An installed package names the plugin itself; a plain checkout does not.
        env={**os.environ, "PYTHONPATH": PYTHON_PATH, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )


def test_the_fixture_writes_a_baseline_passes_and_fails(tmp_path: Path) -> None:
    file = tmp_path / "test_train.py"
    file.write_text(_TEST.format(path=str(SAME), peaks=PEAKS))
    missing = _pytest(tmp_path)
    assert missing.returncode == 1
    assert "--roofline-update" in missing.stdout
    assert _pytest(tmp_path, "--roofline-update").returncode == 0
    assert (tmp_path / "roofline-baselines" / "train.json").is_file()
    passed = _pytest(tmp_path)
    assert passed.returncode == 0, passed.stdout
    file.write_text(_TEST.format(path=str(CHANGED), peaks=PEAKS))
    failed = _pytest(tmp_path)
    assert failed.returncode == 1
    assert "exact.roof_time" in failed.stdout


def test_hostile_names_steer_no_report() -> None:
    from roofline.exports.gate import split_source

    assert split_source("/repo/a b.py:3", Path("/repo")) == ("a b.py", 3)
    assert split_source("::error::x", Path("/repo")) == ("::error::x", None)
    assert split_source("", Path("/repo")) == ("", None)
