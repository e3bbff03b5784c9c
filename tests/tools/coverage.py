"""`python -m tests.tools.coverage` writes the column `shown_by` of docs/coverage-items.csv.

A test marked `covers(9)` asserts what row 9 says: the word or number in its column `asserts`
stands in the test, in what the test names in its file, or in a table of `tests/golden` that these
name. A row without such a test names a page of `docs`, which has the word. Nothing is run: files
are read as `ast` parses them.
"""

import ast
import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ITEMS = ROOT / "docs" / "coverage-items.csv"
_PAGE = re.compile(r"docs/[\w-]+\.md")
_GOLDEN = re.compile(r"[\w-]+\.csv")

Row = dict[str, str]


@dataclass(frozen=True)
class MarkedTest:
    """A test, the rows that it covers, and the text in which their words stand."""

    name: str
    rows: tuple[int, ...]
    text: str


def rows() -> list[Row]:
    """The things that the founding documents ask for."""
    with ITEMS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def marked_tests() -> list[MarkedTest]:
    """All tests with the marker `covers`."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return [one for path in paths if ".covers(" in path.read_text() for one in _marked_in(path)]


def _marked_in(path: Path) -> Iterator[MarkedTest]:
    source = path.read_text("utf-8")
    parts = dict(_parts(ast.parse(source)))
    for name, part in parts.items():
        found = tuple(_covered(part))
        if found:
            used = [parts[one] for one in sorted(_used(name, parts))]
            text = "\n".join(_text(source, one) for one in used)
            place = path.relative_to(ROOT).as_posix()
            yield MarkedTest(f"{place}::{name}", found, text + _tables(text))


def _parts(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    for part in tree.body:
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield part.name, part
        elif isinstance(part, ast.Assign | ast.AnnAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            yield from ((one.id, part) for one in targets if isinstance(one, ast.Name))


def _covered(part: ast.stmt) -> Iterator[int]:
    for one in getattr(part, "decorator_list", ()):
        if isinstance(one, ast.Call) and ast.unparse(one.func) == "pytest.mark.covers":
            yield from map(ast.literal_eval, one.args)


def _used(name: str, parts: Mapping[str, ast.stmt]) -> set[str]:
    """`name` and all that it names in its file, fixtures included."""
    found, left = {name}, [name]
    while left:
        inside = list(ast.walk(parts[left.pop()]))
        names = {one.id for one in inside if isinstance(one, ast.Name)}
        names |= {one.arg for one in inside if isinstance(one, ast.arg)}
        new = {one for one in names & parts.keys() if not one.startswith("test_")} - found
        found |= new
        left += new
    return found


def _text(source: str, part: ast.stmt) -> str:
    """The lines of `part` with its decorators, without the marker."""
    first = min([part.lineno, *(one.lineno for one in getattr(part, "decorator_list", ()))])
    lines = source.splitlines()[first - 1 : part.end_lineno]
    return "\n".join(one for one in lines if ".covers(" not in one)


def _tables(text: str) -> str:
    paths = (ROOT / "tests" / "golden").rglob("*.csv")
    named = set(_GOLDEN.findall(text))
    return "".join(path.read_text("utf-8") for path in sorted(paths) if path.name in named)


def written() -> str:
    """The table, with the tests and pages that show each row."""
    tests: dict[int, list[str]] = defaultdict(list)
    for one in marked_tests():
        for number in one.rows:
            tests[number].append(one.name)
    found = rows()
    for row in found:
        pages = _PAGE.findall(row["where_or_why_not"]) if row["answer"] == "yes" else []
        row["shown_by"] = " ".join(tests[int(row["number"])] or pages[:1])
    text = io.StringIO()
    table = csv.DictWriter(text, list(found[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(found)
    return text.getvalue()


if __name__ == "__main__":
    ITEMS.write_text(written(), "utf-8")
