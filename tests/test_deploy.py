"""The files of deploy/, checked as far as that goes without the systems they are for."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
UNITS = ("roofline.service", "roofline-worker.service")
PROGRAM = "/opt/roofline/bin/roofline"


def settings_of(name: str) -> set[str]:
    """The lines of a unit, without comments."""
    lines = (DEPLOY / name).read_text("utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


@pytest.mark.parametrize("name", UNITS)
def test_unit_is_understood_by_systemd(name: str, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / name
    unit.write_text((DEPLOY / name).read_text("utf-8").replace(PROGRAM, "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_worker_is_confined_as_the_server_is() -> None:
    server, worker = map(settings_of, UNITS)
    own = re.compile(
        r"Description|Documentation|ExecStart=|Restart|Environment|LoadCredential|IPAddressAllow"
        r"|StateDirectory=|CacheDirectory="
    )
    assert {line for line in server - worker if not own.match(line)} == set()
    assert "Restart=always" in worker


def test_image_copies_what_is_there_and_starts_what_is_installed() -> None:
    text = (DEPLOY / "Containerfile").read_text("utf-8")
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    for path in " ".join(copied).split():
        assert (ROOT / path).exists(), path
    scripts = (ROOT / "pyproject.toml").read_text("utf-8")
    assert 'ENTRYPOINT ["/opt/roofline/bin/roofline"]' in text
    assert 'roofline = "roofline.cli.main:main"' in scripts
    assert re.search(r"^USER \d+$", text, re.MULTILINE), "not root"


def test_readme_of_the_wheel_and_packaged_folders_are_in_the_image() -> None:
    """The wheel is built inside: all that its configuration names must have been copied."""
    text = (DEPLOY / "Containerfile").read_text("utf-8")
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    included = re.findall(r'^(\w+) = "roofline/_assets/\w+"$', project, re.MULTILINE)
    assert included
    for name in [*included, "pyproject.toml", "README.md", "app"]:
        assert re.search(rf"^COPY .*\b{re.escape(name)}\b", text, re.MULTILINE), name
