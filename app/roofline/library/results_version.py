"""The version of stored results, a digest of all that computes them, and what changed in numbers.

Results are a cache. They are stored under this version, so a change of anything that could change a
number makes the next reader wait for them to be computed again. Hashed are:

- the source of every module that an import's child imports, at any depth;
- the data files of those modules' packages: the catalogue of devices, protobuf schemas, the steps
  of the database's schema;
- the versions of numpy and numba.

What `roofline calibrate` measured is not part of it, because it counts for few profiles: the
results that depend on it carry its digest themselves (`storage.results`).

A change of a number that users see is a row of the next version in `number_changes.json`, in plain
words: a profile that another release computed says so.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from roofline.model.plain_data import read_beside
from roofline.source_closure import PACKAGE_FOLDER, source_closure

# The program of an import's child; `imports.children` starts it.
_ENTRY = "roofline.imports.child"
_LIBRARIES = ("numpy", "numba")
# Beside the sources, but nothing that a result depends on.
_NO_DATA = frozenset({".py", ".pyc", ".pyi", ".md"})
_CACHE_FOLDER = "__pycache__"


@cache
def results_version(folder: Path = PACKAGE_FOLDER) -> str:
    """The version of the results that the sources in `folder` compute."""
    digest = hashlib.sha256()
    for name, content in hashed_parts(folder):
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return f"v{RESULTS_VERSION}-{digest.hexdigest()[:16]}"


def hashed_parts(folder: Path = PACKAGE_FOLDER) -> Iterator[tuple[str, bytes]]:
    """Everything that is hashed, by name: files relative to `folder`, and versions of libraries."""
    sources = source_closure(_ENTRY, folder)
    packages = sorted({path.parent for path in sources} - {folder})
    data = {path: path.read_bytes() for package in packages for path in _data_files(package)}
    for path, content in (*sorted(sources.items()), *data.items()):
        yield path.relative_to(folder).as_posix(), content
    for name in _LIBRARIES:
        yield name, version(name).encode()


def _data_files(package: Path) -> Iterator[Path]:
    """Data in the folder of a package, and below it in folders that are not packages."""
    for path in sorted(package.iterdir()):
        if path.is_file():
            if path.suffix not in _NO_DATA:
                yield path
        elif path.name != _CACHE_FOLDER and not (path / "__init__.py").exists():
            yield from _below(path)


def _below(folder: Path) -> Iterator[Path]:
    """Every file below a folder of data: the steps of the schema are Python, and data here."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and _CACHE_FOLDER not in path.parts:
            yield path


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberChange:
    """A change of numbers: its sentence, and how the names of its formats begin (none: all)."""

    results_version: int
    said: str
    formats: tuple[str, ...] = ()


CHANGES = tuple(
    NumberChange(**{**row, "formats": tuple(row.get("formats", ()))})
    for row in read_beside(__file__, "number_changes.json")
)
RESULTS_VERSION = max(one.results_version for one in CHANGES)


def changes_since(version: str | None, format_name: str) -> tuple[str, ...]:
    """The sentences on numbers of a format that changed after results of `version`.

    `version` is one of `results_version`, none for results that were not computed before.
    """
    if version is None:
        return ()
    before = results_number(version)
    return tuple(
        one.said
        for one in CHANGES
        if one.results_version > before and format_name.startswith(one.formats or "")
    )


def results_number(version: str) -> int:
    """The results version in the name of a version, 0 in one of another form."""
    number = version.partition("-")[0].removeprefix("v")
    return int(number) if number.isdecimal() else 0
