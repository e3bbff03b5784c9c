"""How large and how tangled the program is, against the ceilings of tests/house.toml: `make house`.

`python -m tests.tools.house` counts and fails above a ceiling; with `--rooms` it lists the lines of
each room, with `--start` it also times the start of Python's parts, which no test may judge.
Counted are app/**/*.py and the JavaScript, TypeScript and style sheets of static, without what is
vendored or says in its head that it is generated.
"""

import ast
import os
import re
import resource
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CEILINGS = ROOT / "tests" / "house.toml"
SMALL_LINES = 60

_SKIPPED = {"vendor", "node_modules", "__pycache__", "generated"}
# Hooks that a library calls by name.
_CALLED_BY_LIBRARIES = {"pytest_addoption", "_repr_html_"}
_QUANTITY = (
    r"(?:gflops|gibs|gbs|bandwidths?|intensit(?:y|ies)|attainable|ridge|[a-z_]*peaks?|flop_?rate"
    r"|efficiency|GIB_PER_GB|GB_PER_US|FLOP_PER_US)"
)
# A product or a quotient of a peak, a rate, a bandwidth or an intensity.
_ARITHMETIC = re.compile(
    rf"\b{_QUANTITY}(?:\[\w+\])?\)*\s*[*/](?![*/])|[*/]\s*\(?(?:1 - )?(?:\w+\.)*{_QUANTITY}\b",
    re.IGNORECASE,
)
_SCRIPT_TEXT = re.compile(r"/\*.*?\*/|//[^\n]*|`[^`]*`|\"[^\"\n]*\"|'[^'\n]*'", re.DOTALL)
_UVICORN = re.compile(r"^\s*(?:from|import)\s+uvicorn\.", re.MULTILINE)
# What a fresh interpreter does, and how many times the processor time of `import numpy` it takes.
_STARTS = {
    "import roofline": "import roofline",
    "analyze a small file": (
        "import sys; from roofline.cli.main import main; sys.stdout = open('/dev/null', 'w');"
        " main(['analyze', 'sample_profiles/generic/cfd-cpu.csv'])"
    ),
}


@dataclass(frozen=True)
class House:
    """The checkout at `root`, read once."""

    root: Path = ROOT

    def _texts(self, top: str, endings: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
        for folder, folders, names in os.walk(self.root / top):
            folders[:] = sorted(set(folders) - _SKIPPED)
            for name in sorted(names):
                if name.endswith(endings) and not name.endswith(("_pb2.py", ".bundle.js")):
                    path = Path(folder, name)
                    text = path.read_text("utf-8")
                    head = text[:300].lower()
                    if not ("generated" in head and "do not edit" in head):
                        yield path, text

    @cached_property
    def python(self) -> dict[Path, str]:
        """The text of each Python file of the product."""
        return dict(self._texts("app", (".py",)))

    @cached_property
    def page(self) -> dict[Path, str]:
        """The text of each file that the browser gets and people write."""
        return dict(self._texts("static", (".js", ".ts", ".css")))

    @cached_property
    def trees(self) -> dict[Path, ast.Module]:
        """The syntax tree of each Python file."""
        return {path: ast.parse(text) for path, text in self.python.items()}

    def small_files(self) -> list[Path]:
        """Python files too short to be worth a visit; `__init__` left out."""
        return [
            path
            for path, text in self.python.items()
            if text.count("\n") < SMALL_LINES and path.name != "__init__.py"
        ]

    def uncalled(self) -> list[str]:
        """Functions whose name stands once in the product. `vulture` finds more."""
        templates = dict(self._texts("templates", (".html", ".txt", ".jinja"))).values()
        project = (self.root / "pyproject.toml").read_text("utf-8")
        words = Counter(
            word
            for text in (*self.python.values(), *templates, project)
            for word in re.findall(r"\w+", text)
        )
        return [
            f"{path.relative_to(self.root)}: {node.name}"
            for path, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and words[node.name] == 1
            and not node.decorator_list
            and not node.name.startswith("__")
            and node.name not in _CALLED_BY_LIBRARIES
        ]

    def circles(self) -> list[list[str]]:
        """Modules that need each other, imports in functions and for types counted."""
        return sorted(sorted(circle) for circle in _circles(self._imports()))

    def _imports(self) -> dict[str, set[str]]:
        modules = {self._module(path): path for path in self.python}
        graph: dict[str, set[str]] = {}
        for module, path in modules.items():
            package = module if path.name == "__init__.py" else module.rpartition(".")[0]
            names = {
                name for node in ast.walk(self.trees[path]) for name in _imported(node, package)
            }
            # `from a import b` names the module a.b where there is one, else a.
            found = {name if name in modules else name.rpartition(".")[0] for name in names}
            graph[module] = (found & modules.keys()) - {module}
        return graph

    def _module(self, path: Path) -> str:
        parts = path.relative_to(self.root / "app").with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def roofline_scripts(self) -> list[Path]:
        """Scripts of the page that compute with peaks, rates or intensities."""
        return [
            path
            for path, text in self.page.items()
            if path.suffix in {".js", ".ts"}
            and not path.name.endswith(".d.ts")
            and _ARITHMETIC.search(_SCRIPT_TEXT.sub('""', text))
        ]

    def inside_uvicorn(self) -> list[Path]:
        """Modules that import from inside the web server."""
        return [path for path, text in self.python.items() if _UVICORN.search(text)]

    def distributions(self) -> int:
        """What `pip install .` brings on Linux, by the lock file, Roofline itself among them."""
        lock = tomllib.loads((self.root / "uv.lock").read_text("utf-8"))
        needs = {
            package["name"]: [
                need["name"]
                for need in package.get("dependencies", ())
                if not re.search(r"win32|Windows|python_full_version <", need.get("marker", ""))
            ]
            for package in lock["package"]
        }
        found: set[str] = set()
        waiting = ["roofline"]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += needs[name]
        return len(found)

    def rooms(self) -> list[tuple[str, int, int]]:
        """Name, lines and files of each room of the package and of the page's code."""
        counts: dict[str, list[int]] = {}
        for path, text in (*self.python.items(), *self.page.items()):
            parts = path.relative_to(self.root).parts
            room = "/".join(parts[:3]) if len(parts) > 3 else "/".join(parts[:2])
            sums = counts.setdefault(room, [0, 0])
            sums[0] += text.count("\n")
            sums[1] += 1
        return [(room, lines, files) for room, (lines, files) in sorted(counts.items())]


def _imported(node: ast.AST, package: str) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*above, *([node.module] if node.module else [])])
    return [f"{base}.{alias.name}" for alias in node.names]


def _circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Groups of modules that reach each other: two of one group lie on a common circle."""
    reached = {module: _reached(graph, module) for module in graph}
    circles: list[set[str]] = []
    for module in graph:
        if module in reached[module] and not any(module in circle for circle in circles):
            circles.append({other for other in reached[module] if module in reached[other]})
    return circles


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for module in graph[waiting.pop()] - reached:
            reached.add(module)
            waiting.append(module)
    return reached


def counts(house: House) -> dict[str, int]:
    """What is counted, by the names of the ceilings."""
    return {
        "python_lines": sum(text.count("\n") for text in house.python.values()),
        "python_files": len(house.python),
        "small_files": len(house.small_files()),
        "page_lines": sum(text.count("\n") for text in house.page.values()),
        "functions_without_a_caller": len(house.uncalled()),
        "circles": len(house.circles()),
        "scripts_with_roofline_arithmetic": len(house.roofline_scripts()),
        "modules_inside_uvicorn": len(house.inside_uvicorn()),
        "distributions": house.distributions(),
    }


def listed(house: House) -> dict[str, Callable[[], list[object]]]:
    """What stands behind the counts that should be 0."""
    return {
        "functions_without_a_caller": lambda: list(house.uncalled()),
        "circles": lambda: list(house.circles()),
        "scripts_with_roofline_arithmetic": lambda: list(house.roofline_scripts()),
        "modules_inside_uvicorn": lambda: list(house.inside_uvicorn()),
    }


def ceilings() -> dict[str, int]:
    """The most of each count."""
    table: dict[str, int] = tomllib.loads(CEILINGS.read_text("utf-8"))["ceilings"]
    return table


def aims() -> dict[str, int]:
    """What each count should come down to."""
    table: dict[str, int] = tomllib.loads(CEILINGS.read_text("utf-8"))["aims"]
    return table


def processor_seconds(code: str, rounds: int = 4) -> float:
    """The least processor time of `code` in a fresh interpreter, in s."""
    spent = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-P", "-c", code], check=True, cwd=ROOT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _print_starts() -> None:
    numpy_seconds = processor_seconds("import numpy") - processor_seconds("pass")
    for name, code in _STARTS.items():
        seconds = processor_seconds(code) - processor_seconds("pass")
        _say(f"{name:36}{seconds / numpy_seconds:9.1f} times `import numpy`")


def main() -> int:
    """Prints the counts; 1 where one is above its ceiling."""
    house = House()
    found, most, aim = counts(house), ceilings(), aims()
    _say(f"{'':36}{'now':>9}{'ceiling':>9}{'aim':>9}")
    for name, count in found.items():
        _say(f"{name:36}{count:9,}{most[name]:9,}{aim[name]:9,}")
    for name, entries in listed(house).items():
        for entry in entries() if found[name] > most[name] else ():
            _say(f"  {name}: {entry}")
    if "--rooms" in sys.argv:
        for room, lines, files in house.rooms():
            _say(f"{room:36}{lines:9,}{files:9,} files")
    if "--start" in sys.argv:
        _print_starts()
    too_many = [name for name, count in found.items() if count > most[name]]
    if too_many:
        _say(f"Above the ceiling of {CEILINGS.relative_to(ROOT)}: {', '.join(too_many)}.")
    return 1 if too_many else 0


if __name__ == "__main__":
    sys.exit(main())
