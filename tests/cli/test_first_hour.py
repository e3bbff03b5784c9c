"""docs/first-hour.md, followed word by word: each command runs, and says what the page shows."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PYTHON_PATH

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "first-hour.md").read_text()
# Amounts, shares and their units differ from machine to machine, and so do spaces of tables.
_NUMBER = re.compile(r"[-+−]?\d[\d.,]*\s?(?:[munµ]?s|[KMGT]?(?:FLOP|B)(?:/s)?|%\*?)?(?![\w.])")
_STABLE = ("FAIL ", "better ", "not tested ", "exact.", "  embed: ", "Module ", "Check ")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def _stable(text: str) -> set[str]:
    """The lines that no clock changes, without their numbers."""
    lines = (line for line in text.splitlines() if line.startswith(_STABLE))
    return {" ".join(_NUMBER.sub("N", line).split()) for line in lines}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("first-hour")
    for name in ("python", "roofline"):
        words = [sys.executable, *(["-m", "roofline"] if name == "roofline" else [])]
        (made / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        (made / name).chmod(0o755)
    (made / "train.py").write_text(_blocks("python")[0])
    return made


@pytest.mark.long  # JAX starts twice, the command five times
def test_each_command_says_what_the_page_shows(folder: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": PYTHON_PATH,
        "JAX_PLATFORMS": "cpu",
        "ROOFLINE_DATA_DIR": str(folder / "data"),
    }
    for block in _blocks("console"):
        for shown in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = shown.partition("\n")
            if re.match("roofline (check|baseline)", command):  # as `calibrate` measures
                command += " --peak compute=100GFLOP/s --peak dram=20GB/s"
            done = subprocess.run(
                ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True
            )
            assert done.returncode == ("failed" in expected), done.stdout + done.stderr
            assert _stable(expected) <= _stable(done.stdout), done.stdout
            if command.startswith("roofline compare"):
                assert re.search(r"^embed .*−.* train\.py:10$", done.stdout, re.MULTILINE)
                assert re.match(r"after takes \S+ m?s less a step", done.stdout)
    assert (folder / "main.json").is_file()
    assert 'return w["table"][tokens]' in (folder / "train.py").read_text()
