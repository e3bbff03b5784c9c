"""`roofline ci init`: the workflows of docs/ci are those that it writes, and their steps run."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from roofline.cli.gating import workflow
from tests.browser.serving import Server, serving
from tests.cli.test_main import refused, run
from tests.compare.captures import PEAKS, capture_path
from tests.conftest import PYTHON_PATH
from tests.schemas import schema_errors

DOCS = Path(__file__).resolve().parents[2] / "docs" / "ci"
FILES = {"github": ".github/workflows/roofline.yml", "gitlab": ".gitlab/roofline.yml"}
PEAK_OPTIONS = "".join(f" --peak {peak}" for peak in PEAKS)


@pytest.mark.parametrize("service", FILES)
def test_the_documents_show_what_is_written_and_nothing_is_overwritten(
    service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = run("ci", "init", service).stdout.decode()
    assert "is written" in said and "in no public index yet" in said
    written = (tmp_path / FILES[service]).read_text()
    assert written == (DOCS / f"{service}.yml").read_text()
    again = ("ci", "init", service, "--capture", "make capture", "--device", "h100-sxm")
    assert "is there already" in refused(*again)
    assert (tmp_path / FILES[service]).read_text() == written
    run(*again, "--force")
    assert " make capture\n" in (tmp_path / FILES[service]).read_text()
    assert (tmp_path / FILES[service]).read_text().count(" --device h100-sxm") == 2


@pytest.mark.parametrize(
    ("service", "schema"), [("gitlab", "gitlab-ci"), ("github", "github-workflow")]
)
def test_what_is_written_is_valid(service: str, schema: str) -> None:
    written = workflow(service).replace("\non: ", '\n"on": ')  # YAML 1.1 reads it as true
    assert schema_errors(schema, yaml.safe_load(written)) == []


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


# Lists the ids in `comments`, and keeps what it was told to write.
_GH = """#!/bin/sh
echo "$@" >> {folder}/gh.log
case "$*" in
  *--jq*) cat {folder}/comments ;;
  *) for last; do :; done; cat "${{last#body=@}}" > {folder}/said.md ;;
esac
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository whose pull request changed the program: `capture.sh` leaves its capture."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "roofline"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m roofline "$@"\n')
    command.chmod(0o755)
    (tmp_path / "bin" / "gh").write_text(_GH.format(folder=tmp_path))
    (tmp_path / "bin" / "gh").chmod(0o755)
    (tmp_path / "comments").touch()
    repository = tmp_path / "repository"
    repository.mkdir()
    _git(repository, "init", "-q", "-b", "main")
    _commit(repository, "layernorm")
    _git(repository, "update-ref", "refs/remotes/origin/main", "main")
    return tmp_path


def _commit(repository: Path, capture: str) -> None:
    path = capture_path(capture)
    (repository / "capture.sh").write_text(f'cp {shlex.quote(str(path))} "$ROOFLINE_CAPTURE_DIR"\n')
    _git(repository, "add", "-A")
    _git(repository, "commit", "-q", "--allow-empty", "-m", capture)


def _git(repository: Path, *words: str) -> None:
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *names, *words], cwd=repository, check=True)


def _scripts(service: str, document: dict[str, Any]) -> list[str]:
    """The shell's steps; the first installs, which this machine has done."""
    if service == "gitlab":
        return [str(one) for one in document["roofline"]["script"]][1:]
    steps = document["jobs"]["roofline"]["steps"]
    assert all(("run" in one) != ("uses" in one) for one in steps)
    return [str(one["run"]) for one in steps if "run" in one][1:]


@pytest.mark.parametrize(
    ("service", "capture", "status"), [("github", "layernorm", 0), ("gitlab", "unfused", 1)]
)
def test_the_steps_capture_in_turns_and_follow_the_check(
    project: Path, started: Server, service: str, capture: str, status: int
) -> None:
    repository = project / "repository"
    _commit(repository, capture)
    document = yaml.safe_load(workflow(service, "sh capture.sh", "true", PEAK_OPTIONS))
    script = "\n".join(one for one in _scripts(service, document) if "warm-up" not in one)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=repository,
        env={
            **os.environ,
            "PATH": f"{project / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": PYTHON_PATH,
            "BASE": "main",
            "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
            "GITHUB_REPOSITORY": "owner/name",
            "NUMBER": "12",
            "ROOFLINE_SERVER": started.url if service == "github" else "",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert "time was not tested" not in done.stdout
    assert f"Check {'failed' if status else 'passed'}" in done.stdout
    report = repository / "roofline-report"
    files = {"junit.xml", "roofline.sarif"}
    if service == "github":
        assert "pr comment 12 --body-file" in (project / "gh.log").read_text()
        summary, said = ((project / name).read_text() for name in ("summary.md", "said.md"))
        assert said.startswith(summary)
        found = re.search(r"\[!\[Roofline of this branch\]\((\S+)\)\]\((\S+)\)\n$", said)
        assert found is not None, said
        answer = httpx.get(found[1])
        assert (answer.headers["content-type"], answer.content[:4]) == ("image/png", b"\x89PNG")
        assert httpx.get(found[2]).status_code == 200
        files |= {"comment.md"}
    assert {path.name for path in report.iterdir()} == files
    assert len(list((repository / "roofline-out").glob("*/*/*.zst"))) == 6


def test_a_pull_request_has_one_comment(project: Path) -> None:
    """The newest of ours is written anew, and none of another workflow."""
    (project / "comments").write_text("76\n77\n")
    (project / "roofline-report").mkdir()
    (project / "roofline-report" / "comment.md").write_text("<!-- roofline -->\nNo change.\n")
    script = _scripts("github", yaml.safe_load(workflow("github")))[-1]
    paths = {"PATH": f"{project / 'bin'}:{os.environ['PATH']}", "NUMBER": "12"}
    names = {"GITHUB_STEP_SUMMARY": str(project / "summary.md"), "GITHUB_REPOSITORY": "owner/name"}
    subprocess.run(["bash", "-ec", script], cwd=project, env=paths | names, check=True)
    asked, written = (project / "gh.log").read_text().splitlines()
    assert 'startswith("<!-- roofline -->")' in asked
    assert written.startswith("api --method PATCH repos/owner/name/issues/comments/77 ")
    assert (project / "said.md").read_text() == (project / "summary.md").read_text()
