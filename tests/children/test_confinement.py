"""Hostile code in a child gets nothing beyond its file and its folder."""

import subprocess
from pathlib import Path

import pytest

from roofline.children import confinement
from roofline.children.messages import DONE
from roofline.children.program import Program
from tests.children.hostile import ATTEMPTS
from tests.children.test_program import ask


@pytest.mark.skipif(bool(confinement.missing()), reason="; ".join(confinement.missing()))
def test_hostile_code_gets_nothing(tmp_path: Path) -> None:
    secret, file = tmp_path / "data" / "secret", tmp_path / "upload"
    folder = tmp_path / "folder"
    for place in (secret.parent, folder):
        place.mkdir()
    secret.write_text("hunter2")
    file.write_text("profile")
    program = Program("roofline.children.forkserver", "tests.children.hostile")
    server = subprocess.Popen(["sleep", "60"])
    try:
        last = ask(
            program,
            "hostile:work",
            reads=[str(file)],
            writes=str(folder),
            writes_to=str(folder),
            file=str(file),
            secret=str(secret),
            beside=str(tmp_path),
            server=server.pid,
        ).last()
    finally:
        program.close()
        server.kill()
        server.wait()
    assert last.kind == DONE, last.body
    assert last.body["failed"] == []
    assert (last.body["got"], last.body["tried"]) == ([], len(ATTEMPTS))
    assert secret.read_text() == "hunter2"
    assert not Path("/var/tmp/roofline-hostile").exists()


def test_system_without_landlock_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "_landlock_version", lambda: -1)
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert len(confinement.missing()) == 2


@pytest.mark.parametrize("starts", [False, True])
@pytest.mark.parametrize("architecture", ["x86_64", "aarch64"])
def test_filter_has_whole_instructions_and_jumps_inside(architecture: str, starts: bool) -> None:
    steps = list(confinement._filter(architecture, 4711, starts=starts))
    assert all(len(step) == 8 for step in steps)
    assert all(at + 1 + max(step[2], step[3]) < len(steps) for at, step in enumerate(steps[:-1]))
