"""importers/README.md adds a format from nothing: its files work as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "app" / "roofline" / "importers" / "README.md"
FILES = dict(
    re.findall(
        r"^File `(\S+)`:\n\n```\w+\n(.*?)^```$",
        TUTORIAL.read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
)
REGISTRY = "app/roofline/importers/registry.py"
# What the tests of a format need of a checkout.
NEEDED = (
    "app",
    "sample_profiles",
    "tests/conftest.py",
    "tests/profiles.py",
    "tests/tools",
    "tests/importers",
    "pyproject.toml",
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of this checkout with the tutorial's files, and the format registered."""
    for name in NEEDED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-r", ROOT / name, tmp_path / name], check=True)
    if any((ROOT / name).exists() for name in FILES):
        pytest.skip("this checkout follows the tutorial: the toy's own tests run instead")
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    registry = tmp_path / REGISTRY
    text = registry.read_text("utf-8")
    assert text.count("    pytorch,\n") == 2  # its import, and its place in IMPORTERS
    text = text.replace("    pytorch,\n", "    pocket,\n    pytorch,\n")
    registry.write_text(text, encoding="utf-8")
    return tmp_path


def test_the_tutorial_has_every_file() -> None:
    assert list(FILES) == [
        "sample_profiles/pocket/a100-two-kernels.pocket",
        "app/roofline/importers/pocket/__init__.py",
        "app/roofline/importers/pocket/notes.json",
        "app/roofline/importers/pocket/reader.py",
        "tests/importers/test_pocket.py",
    ]


def run(folder: Path, *command: str) -> str:
    """What `python -m …` prints in `folder`, which must end well."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_toy_format_is_read_and_passes_the_tests_of_every_format(checkout: Path) -> None:
    tests = ["tests/importers/test_pocket.py", "tests/importers/test_conformance.py"]
    options = ["-q", "-p", "no:cacheprovider", "-n", "0", "-k", "pocket"]
    assert re.search(r"\b1\d passed", run(checkout, "pytest", *options, *tests))


def test_the_toy_format_is_laid_out_as_all_code_is(checkout: Path) -> None:
    code = [name for name in FILES if name.endswith(".py")]
    run(checkout, "ruff", "check", *code)
    run(checkout, "ruff", "format", "--check", *code)
