"""The import table of README.md, executed: what each package may import, and who owns a library."""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
APP = ROOT / "app"
FILES = sorted(path.relative_to(APP) for path in APP.rglob("*.py"))
GENERATED = re.compile(r"_pb2$")

# pandas costs a second to import: only where CSV is read or a frame is handed out, when it is.
LAZY_ONLY = {"pandas"}
# What several formats share; every other module of `importers` belongs to one format.
NO_FORMAT = {"__init__", "archives", "registry", "source"}


@dataclass(frozen=True)
class Row:
    """One row of the table; `text` is the row as README shows it."""

    may_import: frozenset[str]
    owns: frozenset[str]
    text: str


@dataclass(frozen=True)
class Import:
    module: str
    line: int
    in_function: bool
    relative: bool

    @property
    def top(self) -> str:
        return self.module.split(".")[0]


@lru_cache
def table() -> dict[str, Row]:
    """The table below "Import rule" in README.md, by package."""
    section = (ROOT / "README.md").read_text("utf-8").split("### Import rule")[1].split("\n#")[0]
    rows = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| `"):
            continue
        packages, _, imports, owns = cells
        for package in _names(packages):
            rows[package] = Row(frozenset(_names(imports)), frozenset(_names(owns)), line)
    return rows


def _names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def _package(file: Path) -> str:
    return file.parts[0].removesuffix(".py")


def _module(file: Path) -> tuple[str, ...]:
    """The names below `app.importers` a file belongs to: ("xspace", "wire")."""
    return tuple(part.removesuffix(".py") for part in file.parts[1:])


@lru_cache
def imports(file: Path) -> tuple[Import, ...]:
    tree = ast.parse((APP / file).read_text("utf-8"))
    return tuple(_walk(tree, in_function=False))


def _walk(node: ast.AST, *, in_function: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for name in node.names:
            yield Import(name.name, node.lineno, in_function, relative=False)
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        inner = in_function
        if module in {"app", "app.importers"}:  # `from app import x` names the package itself
            for name in node.names:
                yield Import(f"{module}.{name.name}", node.lineno, inner, relative=node.level > 0)
        else:
            yield Import(module, node.lineno, inner, relative=node.level > 0)
    inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    # What only a type checker imports costs nobody anything.
    inside = inside or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, in_function=inside)


def _is_library(name: str) -> bool:
    return name not in sys.stdlib_module_names and name not in {"app", "__future__"}


def _fail(file: Path, imported: Import, why: str, row: str) -> None:
    pytest.fail(
        f"app/{file}:{imported.line} imports {imported.module}: {why}\n\n"
        f"Import rule (README.md):\n{row}",
        pytrace=False,
    )


def test_every_package_has_a_row():
    packages = {_package(file) for file in FILES} - {"__init__"}
    assert packages <= set(table()), "add the new package to the import rule in README.md"
    assert set(table()) <= packages, "the import rule in README.md names a package that is gone"


@pytest.mark.parametrize("file", FILES, ids=str)
def test_packages_import_only_what_their_row_names(file):
    package = _package(file)
    if package == "__init__":
        assert not imports(file)
        return
    row = table()[package]
    for imported in imports(file):
        parts = imported.module.split(".")
        if parts[0] != "app" or len(parts) == 1 or parts[1] in {package, "__version__"}:
            continue
        if parts[1] not in row.may_import:
            _fail(file, imported, f"`{package}` may not import `{parts[1]}`.", row.text)


@pytest.mark.parametrize("file", FILES, ids=str)
def test_libraries_are_imported_by_their_owners_only(file):
    package = _package(file)
    row = table().get(package, Row(frozenset(), frozenset(), ""))
    for imported in imports(file):
        if not _is_library(imported.top) or GENERATED.search(file.stem):
            continue
        if imported.top not in row.owns:
            _fail(file, imported, f"`{package}` does not own `{imported.top}`.", row.text)
        if imported.top in LAZY_ONLY and not imported.in_function:
            _fail(file, imported, "import it in the function that needs it.", row.text)


@pytest.mark.parametrize("file", FILES, ids=str)
def test_imports_are_absolute(file):
    for imported in imports(file):
        if imported.relative:
            _fail(file, imported, "imports are absolute.", "")


def test_protobuf_stays_inside_its_format():
    for file in FILES:
        if any(imported.top == "google" for imported in imports(file)):
            assert file.parts[:2] == ("importers", "xspace"), f"app/{file} imports protobuf"


@pytest.mark.parametrize("file", [f for f in FILES if _package(f) == "importers"], ids=str)
def test_formats_do_not_import_each_other(file):
    own = _module(file)[0]
    if own in NO_FORMAT or own.startswith("_"):
        return
    for imported in imports(file):
        parts = imported.module.split(".")
        if parts[:2] != ["app", "importers"] or len(parts) < 3:
            continue
        other = parts[2]
        if other != own and other not in NO_FORMAT and not other.startswith("_"):
            _fail(file, imported, f"the format `{own}` may not import `{other}`.", "")
