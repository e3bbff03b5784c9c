"""What docs/ say of the code is so: floors, libraries, files and links."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "app" / "roofline"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "app/**/*.md", "bench/*.md", "sample_profiles/*.md")
    for path in ROOT.glob(pattern)
)
# A floor plan that a newcomer reads at once.
MOST_FLOORS, MOST_ROOMS = 9, 27
# Folders in which documents name files by a short path.
SHORT_FOR = ("", "app/roofline/", "app/roofline/importers/")


def rows(path: Path, heading: str) -> list[list[str]]:
    """The rows of the first table below `heading`, without its head."""
    section = path.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


FLOORS = rows(ROOT / "docs" / "architecture.md", "Floors")


def quoted(cell: str) -> list[str]:
    """The words of a cell that are set as code, without what stands in brackets."""
    return re.findall(r"`([^`]+)`", re.sub(r"\([^)]*\)", "", cell))


def test_floors_are_those_that_the_linter_checks() -> None:
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    (layers,) = (one["layers"] for one in contracts if one["id"] == "floors")
    assert [set(quoted(cells[0])) for cells in FLOORS] == [
        {room.strip() for room in re.split("[|:]", floor)} for floor in layers
    ]


def test_the_house_stays_small() -> None:
    rooms = [room for cells in FLOORS for room in quoted(cells[0])]
    assert len(FLOORS) <= MOST_FLOORS
    assert len(rooms) <= MOST_ROOMS


def test_libraries_are_imported_on_the_floors_that_own_them() -> None:
    for cells in FLOORS:
        assert libraries(quoted(cells[0])) == set(quoted(cells[2])), cells[0]


def test_inside_of_uvicorn_is_not_imported() -> None:
    """A release of it may change all but its own names without a word."""
    sources = (path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    assert not [
        line for text in sources for line in re.findall(r"(?:from|import) uvicorn\..*", text)
    ]


def libraries(rooms: list[str]) -> set[str]:
    """The packages of others that these rooms import, at the top of a module or in a function."""
    found = {name for room in rooms for path in files_of(room) for name in imported(path)}
    of_the_hook = {"record_hook", "sitecustomize"}  # files of a folder in PYTHONPATH, no libraries
    return found - set(sys.stdlib_module_names) - {"roofline", "__future__"} - of_the_hook


def files_of(room: str) -> list[Path]:
    """The modules of a room, which is a module or a package."""
    module = PACKAGE / f"{room}.py"
    return [module] if module.is_file() else list((PACKAGE / room).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """The top names of all that a module imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_files_that_a_document_names_exist() -> None:
    lacking = {document: missing_of(document) for document in DOCUMENTS}
    assert {document: names for document, names in lacking.items() if names} == {}


def missing_of(document: Path) -> list[str]:
    """What a document links to or names as ours, and is not there."""
    text = re.sub(r"^```.*?^```", "", document.read_text("utf-8"), flags=re.M | re.S)
    links = [
        link.partition("#")[0]
        for link in re.findall(r"\]\(([^)\s]+)\)", text)
        if "://" not in link and not link.startswith("#")
    ]
    named = re.findall(r"`((?:[\w.-]+/)+[\w.-]*\w)(?::\w+)?`", text)
    missing = [name for name in named if is_ours(name) and not exists(name)]
    return [name for name in (*links, *missing) if not (document.parent / name).exists()]


def is_ours(name: str) -> bool:
    """True for a path in this repository; paths of others, made ones and the toy are not."""
    tops = {path.name for folder in SHORT_FOR for path in (ROOT / folder).iterdir()}
    made = ("data", "build", "dist", "node_modules", ".venv")
    is_not_kept = name.startswith("bench/.work") or "pocket" in name
    return name.partition("/")[0] in tops - set(made) and not is_not_kept


def exists(name: str) -> bool:
    return any((ROOT / folder / name).exists() for folder in SHORT_FOR)


def test_every_library_is_explained() -> None:
    text = (ROOT / "docs" / "libraries.md").read_text("utf-8")
    project = PROJECT["project"]
    lists = (project["dependencies"], *project["optional-dependencies"].values())
    wanted = {re.split(r"[\[~>=]", line)[0] for lines in lists for line in lines} - {"roofline"}
    assert wanted == set(
        re.findall(r"`([a-z0-9-]+)`", "".join(re.findall(r"^\|([^|]*)\|", text, re.M)))
    )


def test_every_decision_is_listed_under_its_number() -> None:
    folder = ROOT / "docs" / "decisions"
    records = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    listed = re.findall(
        r"^\| \[(\d{3})\]\((\S+)\) \| (.+) \|$", (folder / "README.md").read_text("utf-8"), re.M
    )
    assert [name for _, name, _ in listed] == [path.name for path in records]
    assert len({shown for shown, _, _ in listed}) == len(listed)
    for shown, name, title in listed:
        assert name.startswith(f"{shown}-")
        assert (folder / name).read_text("utf-8").startswith(f"# {shown}. {title}\n")


def test_ids_of_the_glossary_are_those_of_the_data() -> None:
    glossary = ROOT / "docs" / "glossary.md"
    contract = "".join(
        (ROOT / "docs" / name).read_text("utf-8")
        for name in ("page-data.md", "budget.md", "groups.md", "subject.md", "verdict.md")
    )
    headings = ("What a program did", "What it did in that time", "What it was held against")
    for heading in headings:
        for word, _, where in rows(glossary, heading):
            for name in quoted(where):
                assert name.partition(".")[0] in contract, word


def test_every_package_has_its_tests() -> None:
    packages = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    assert [name for name in packages if not any((ROOT / "tests" / name).rglob("test_*.py"))] == []
