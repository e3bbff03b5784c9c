"""Which modules a module needs: as `ast` sees it, in all of this package."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from roofline.source_closure import PACKAGE, PACKAGE_FOLDER, imported_names, source_closure


def _with_ast(source: bytes) -> Iterator[str]:
    """What `imported_names` promises, found by parsing."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not found"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _own(names: Iterator[str]) -> set[str]:
    return {name for name in names if name.split(".")[0] == PACKAGE}


def test_pattern_finds_the_imports_that_ast_finds() -> None:
    modules = sorted(PACKAGE_FOLDER.rglob("*.py"))
    assert len(modules) > 150
    for path in modules:
        source = path.read_bytes()
        missed = _own(_with_ast(source)) - _own(imported_names(source))
        assert not missed, path


def test_closure_of_an_import_is_that_of_ast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples in docstrings look like imports, too: here none adds a module."""
    entry = "roofline.imports.child"
    found = source_closure(entry)
    assert len(found) > 100
    monkeypatch.setattr("roofline.source_closure.imported_names", _with_ast)
    assert source_closure(entry) == found


def test_imports_in_parentheses_with_comments_and_in_functions_are_found() -> None:
    source = b"""
from roofline.model import (  # how a profile is kept
    units,  # (a note)
    device as d,
)
def later():
    import roofline.errors as e, json
"""
    assert set(imported_names(source)) >= {
        "roofline.model",
        "roofline.model.units",
        "roofline.model.device",
        "roofline.errors",
    }


def test_closure_goes_to_any_depth_through_packages_and_circles(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    files = {
        "__init__.py": "",
        "entry.py": "from roofline.near import value\nimport json\n",
        "near.py": "def f():\n    from roofline.far import place\n",
        "far/__init__.py": "import roofline.side\n",
        "far/place.py": "from roofline.entry import anything\n",
        "side.py": "",
        "other.py": "",
    }
    for name, source in files.items():
        (tmp_path / name).write_text(source)

    def found(**options: bool) -> set[str]:
        closure = source_closure("roofline.entry", tmp_path, **options)
        assert all(path.read_bytes() == source for path, source in closure.items())
        return {path.relative_to(tmp_path).as_posix() for path in closure}

    assert found() == files.keys() - {"other.py"}
    assert found(with_packages=False) == {"entry.py", "near.py", "far/place.py"}
