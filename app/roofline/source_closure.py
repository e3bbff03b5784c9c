"""Which of this package's modules a module needs, read from their sources without running them.

Results and compiled functions stay valid as long as the code behind them is the same. Two caches
are keyed by it: stored results (`library.results_version`) and compiled kernels
(`importers.kernels`).

Imports are found by a pattern: parsing the sources that a result needs takes 0.3 s of every start,
this 10 ms. Tests hold what it finds against what `ast` finds in every module.
"""

import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "roofline"
PACKAGE_FOLDER = Path(__file__).parent
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<base>roofline[\w.]*)[ \t]+import[ \t]+"
    rb"(?P<names>\((?:[^)#]|#[^\n]*)*\)|[^\n]+)"
    rb"|import[ \t]+(?P<modules>[^\n]+))",
    re.MULTILINE,
)
_COLLECTS = b"iter_modules(__path__"
"""What a package says that imports every module of its folder."""

_INIT = "__init__.py"
_COMMENT = re.compile(rb"#[^\n]*")


def source_closure(
    module: str, folder: Path = PACKAGE_FOLDER, *, with_packages: bool = True
) -> dict[Path, bytes]:
    """The sources of `module` and of all that it imports from this package, by their files.

    At any depth; imports inside functions count. `folder` holds the package's sources.
    `with_packages` is for what packages do when they are imported: without it, their `__init__`
    and what that imports are left out.
    """
    found: dict[Path, bytes] = {}
    due, seen = [module], set[str]()
    while due:
        name = due.pop()
        if name in seen:
            continue
        seen.add(name)
        path = _file_of(name, folder)
        if path is None or (path.name == _INIT and not with_packages):
            continue
        found[path] = path.read_bytes()
        due += imported_names(found[path])
        if _COLLECTS in found[path]:
            due += (f"{name}.{module.stem}" for module in path.parent.glob("*.py"))
        if with_packages and name != PACKAGE:
            due.append(name.rpartition(".")[0])
    return found


def imported_names(source: bytes) -> Iterator[str]:
    """What `source` imports from this package: modules, and names that may be modules.

    A relative import, which this package does not use, is not found.
    """
    for match in _IMPORT.finditer(source):
        if match["modules"] is None:
            base = match["base"].decode()
            yield base
            yield from (f"{base}.{name}" for name in _names(match["names"]))
        else:
            yield from _names(match["modules"])


def _names(listed: bytes) -> Iterator[str]:
    """The names of `a as b, c`, in parentheses or not."""
    for part in _COMMENT.sub(b"", listed).strip(b"( )").split(b","):
        if words := part.split():
            yield words[0].decode()


def _file_of(name: str, folder: Path) -> Path | None:
    """The source of a module; `None` for what is not a module of this package."""
    first, *rest = name.split(".")
    if first != PACKAGE or (rest and rest[-1][:1].isupper()):  # a class is not a module
        return None
    place = folder.joinpath(*rest)
    package = place / _INIT
    if package.is_file():
        return package
    module = place.with_suffix(".py")
    return module if module.is_file() else None
