"""`.ci/setup` and the Makefile: an environment is made once, and again where the checkout moved."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.conftest import ROOT

# In the place of Python: makes an environment whose scripts name its folder, and installs nothing.
PYTHON = """#!/bin/sh
[ "$1 $2" = "-m venv" ] || exit 0
mkdir -p .venv/bin
for name in python pip uv; do
    printf '#!/bin/sh\n# %s/.venv/bin/python\n' "$(pwd -P)" >.venv/bin/$name
    chmod +x .venv/bin/$name
done
echo made >>"$MADE"
"""


def set_up(checkout: Path) -> int:
    """Runs the script there; how many environments have been made until now."""
    made = checkout.parent / "made"
    fakes = checkout.parent / "programs"
    path = f"{fakes}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "MADE": str(made)}
    subprocess.run([".ci/setup", "python-run"], cwd=checkout, env=environment, check=True)
    return len(made.read_text().splitlines())


def due(checkout: Path) -> bool:
    """True where `make` would set up."""
    said = subprocess.run(
        ["make", "--dry-run", ".venv/.ready-run"], cwd=checkout, capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr
    return ".ci/setup python-run" in said.stdout


def test_checkout_that_was_moved_makes_its_environment_anew(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    (first / ".ci").mkdir(parents=True)
    (tmp_path / "programs").mkdir()
    python = tmp_path / "programs" / "python3"
    python.write_text(PYTHON)
    python.chmod(0o755)
    for name in (".ci/setup", ".ci/uv.txt", "Makefile", "pyproject.toml", "uv.lock"):
        shutil.copy2(ROOT / name, first / name)
    assert due(first)
    assert set_up(first) == 1
    assert not due(first)
    assert set_up(first) == 1, "it is there already"
    first.rename(second)
    assert due(second)
    assert set_up(second) == 2
    assert not due(second)
    assert set_up(second) == 2
