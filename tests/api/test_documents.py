"""docs/python.md and the notebook of docs/ run as they stand."""

import ast
import doctest
import json
from pathlib import Path
from typing import Any

import pytest

import roofline
from roofline.api import calibration
from roofline.api.calibration.kernels import Effort
from roofline.api.results import Result

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_examples_of_the_library_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = DOCS / "python.md"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(calibration, "QUICK", Effort(seconds=1e-4, timings=3, counted=2))
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = doctest.testfile(str(document), module_relative=False, optionflags=flags)
    assert found.attempted > 10
    assert found.failed == 0
    said = document.read_text("utf-8")
    missing = [name for name in roofline.__all__ if f"`{name}" not in said]
    assert missing == [], "names that the document does not have"


def test_notebook_tells_its_story(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    notebook = json.loads((DOCS / "notebooks" / "first-hour.ipynb").read_text("utf-8"))
    space: dict[str, Any] = {}
    shown = [
        result
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
        for result in [_run("".join(cell["source"]), space)]
        if result is not None
    ]
    results = [one for one in shown if isinstance(one, Result)]
    assert [type(one).__name__ for one in results] == [
        "Profile",
        "Advice",
        "Comparison",
        "CheckResult",
        "Estimate",
    ]
    assert all("<script" not in one._repr_html_() for one in results)
    assert "a step" in space["before"].sentence
    tested = space["change"].tested
    assert tested.low < tested.high, "three captures of a side: which is faster is the machine's"
    assert ". " in space["change"].sentence
    assert len(json.dumps(results[0]._repr_html_())) < 60_000


def _run(code: str, space: dict[str, Any]) -> object:
    """The value of the last line of a cell, as a notebook shows it."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), space)
    if not isinstance(last, ast.Expr):
        return None
    shown: object = eval(compile(ast.Expression(last.value), "cell", "eval"), space)
    return shown
