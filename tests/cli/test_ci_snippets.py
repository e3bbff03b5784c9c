"""The GitHub action and the GitLab job of docs/ci: valid, and run as their runners run them."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.test_main import run
from tests.compare.captures import PEAKS, capture_path
from tests.conftest import PYTHON_PATH
from tests.schemas import schema_errors

SNIPPETS = Path(__file__).resolve().parents[2] / "docs" / "ci"
ACTION = SNIPPETS / "github-action" / "action.yml"
JOB = SNIPPETS / "gitlab.yml"
GIVEN = [word for peak in PEAKS for word in ("--peak", peak)]
_EXPRESSION = re.compile(r"\$\{\{ *([\w.]+) *\}\}")


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


@pytest.mark.parametrize(("path", "schema"), [(ACTION, "github-action"), (JOB, "gitlab-ci")])
def test_snippets_are_valid(path: Path, schema: str) -> None:
    assert schema_errors(schema, _read(path)) == []


def test_the_schemas_refuse_what_the_runners_would() -> None:
    action, job = _read(ACTION), _read(JOB)
    action["runs"]["steps"].append({"run": "true"})  # a composite action must name the shell
    assert schema_errors("github-action", action)
    job["roofline"]["allow_failure"] = {"exit_code": 3}
    assert schema_errors("gitlab-ci", job)


@dataclass(kw_only=True)
class Runner:
    """Runs the `run` steps of a composite action as GitHub does: bash -eo pipefail, in order.

    A failed step stops the others, except those with `if: always()`; outputs go from step to step.
    """

    folder: Path
    inputs: dict[str, str]
    values: dict[str, str] = field(default_factory=dict)
    said: str = ""

    def run(self, action: dict[str, Any]) -> bool:
        """True if the action succeeds."""
        given = {name: str(one.get("default", "")) for name, one in action["inputs"].items()}
        given |= self.inputs
        self.values = {f"inputs.{name}": value for name, value in given.items()}
        ok = True
        for step in action["runs"]["steps"]:
            if ok or step.get("if") == "always()":
                ok = self._step(step) and ok
        return ok

    def _step(self, step: dict[str, Any]) -> bool:
        if "run" not in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"])
            assert (self.folder / step["with"]["path"]).is_dir()
            return True
        output = self.folder / "output.txt"
        env = {name: self._filled(str(text)) for name, text in step.get("env", {}).items()}
        env |= {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self.folder / "sum.md")}
        status, said = bash(step["run"], self.folder, env | {"GITHUB_ACTIONS": "true"})
        self.said += said
        for line in output.read_text().splitlines() if output.is_file() else []:
            name, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{name}"] = value
        output.unlink(missing_ok=True)
        return status == 0

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self.values.get(found[1], ""), text)


def bash(script: str, folder: Path, env: dict[str, str]) -> tuple[int, str]:
    """Status and output of `script`, with a `roofline` on the path as an installation has it."""
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": PYTHON_PATH, **env, "PATH": path},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a baseline, a budget and captures as the workflow's own step left them."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "roofline"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m roofline "$@"\n')
    command.chmod(0o755)
    (tmp_path / "perf").mkdir()
    run("baseline", "save", tmp_path / "perf" / "main.json", capture_path("layernorm"), *GIVEN)
    return tmp_path


def _leave(project: Path, name: str) -> str:
    (project / "out").mkdir()
    content = capture_path(name).read_bytes()
    (project / "out" / "host_0.xplane.pb").write_bytes(content)
    return "out/*.xplane.pb"


@pytest.mark.parametrize(
    ("capture", "budget", "status"),
    [
        ("layernorm", "", "0"),
        ("unfused", "", "1"),
        ("layernorm", "[exact]\nrooftime = 1\n", "2"),
        ("layernorm", '[exact]\nl2_bytes = "+1%"\n', "3"),
    ],
)
def test_the_action_follows_the_status(
    project: Path, capture: str, budget: str, status: str
) -> None:
    if budget:
        (project / "roofline.toml").write_text(budget)
    inputs = {"captures": _leave(project, capture), "baseline": "perf/main.json"}
    runner = Runner(folder=project, inputs=inputs | {"options": " ".join(GIVEN)})
    succeeded = runner.run(_read(ACTION))
    assert runner.values["steps.check.outputs.status"] == status, runner.said
    assert succeeded == (status == "0")
    report = project / "roofline-report"
    if status in ("0", "1", "3"):
        assert re.search("^Check ", (report / "report.txt").read_text(), re.MULTILINE)
        assert (report / "junit.xml").is_file()
        assert (project / "sum.md").read_text().startswith("### Roofline check ")
    assert ("::error file=train.py" in (report / "report.txt").read_text()) == (status == "1")


def test_the_job_of_gitlab_leaves_its_artifacts_and_allows_what_is_inconclusive(
    project: Path,
) -> None:
    job = _read(JOB)["roofline"]
    _leave(project, "unfused")
    script = "\n".join(job["script"]).replace("roofline check", f"roofline check {' '.join(GIVEN)}")
    status, said = bash(script, project, {})
    assert status == 1, said
    for path in (*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]):
        assert (project / path).stat().st_size > 0
    (project / "roofline.toml").write_text('[exact]\nl2_bytes = "+1%"\n')
    status, said = bash(script, project, {})
    assert status == job["allow_failure"]["exit_codes"], said
