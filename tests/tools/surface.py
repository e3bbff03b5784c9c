"""The public surface of `import roofline` as text: tests/golden/python/surface.txt.

    python -m tests.tools.surface

A change of the file is a change of what users' code relies on; docs/python.md has the rule.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import roofline
from roofline.api.results import Result

SURFACE = Path(__file__).resolve().parents[1] / "golden" / "python" / "surface.txt"
# Attributes of results that their docstrings call not stable.
_NOT_STABLE = {"answered", "cell", "page"}


def surface() -> str:
    """A line for each function, class, field, property and method, with names of parameters."""
    return "".join(f"{line}\n" for name in sorted(roofline.__all__) for line in _lines(name))


def _lines(name: str) -> Iterator[str]:
    found = getattr(roofline, name)
    if not inspect.isclass(found):
        yield f"{name}{_parameters(found)}" if callable(found) else name
        return
    yield f"class {name}"
    if is_dataclass(found) and not issubclass(found, Result):
        yield from (f"  {one.name}: {one.type}" for one in fields(found))
    own = {member for kind in found.__mro__ if kind.__module__.startswith("roofline")
           for member in vars(kind)}  # fmt: skip
    for member in sorted(own - _NOT_STABLE):
        value = getattr(found, member)
        if not member.startswith("_") and not inspect.ismemberdescriptor(value):
            yield f"  {member}{_parameters(value) if inspect.isfunction(value) else ''}"


def _parameters(function: Callable[..., Any]) -> str:
    """Names of the parameters; `=` follows those that have a default."""
    parameters = inspect.signature(function).parameters.values()
    plain = [
        one.replace(annotation=one.empty, default=one.empty if one.default is one.empty else ...)
        for one in parameters
    ]
    return str(inspect.Signature(plain)).replace("=Ellipsis", "=…")


if __name__ == "__main__":
    SURFACE.parent.mkdir(exist_ok=True)
    SURFACE.write_text(surface(), "utf-8")
