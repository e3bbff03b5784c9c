"""Unit constants stand in `model/units.py` only: a second one drifts, and hides what is meant.

A scale such as 1e9 or 2**30 in a product or quotient, or behind a name such as `_PS_PER_NS`, is a
unit conversion. Limits of counts (`MAX_ROWS = 1_000_000`) and tolerances are none.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "app" / "roofline"
UNITS = PACKAGE / "model" / "units.py"
SCRIPTS = PACKAGE / "capture" / "replay"  # each is one file that runs elsewhere, without Roofline
MODULES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != UNITS and path.parent != SCRIPTS and not path.name.endswith("_pb2.py")
]
SCALES = {
    *(float(10**power) for power in (3, 6, 9, 12, 15)),
    *(10.0**-power for power in (3, 6, 9, 12)),
    *(float(2**power) for power in (10, 20, 30, 40)),
}
UNIT_NAME = re.compile(r"(?<![A-Z])(PER|KILO|MEGA|GIGA|TERA|[KMGT]I?B|[MNUP]S)(?![A-Z])")


def number(node: ast.expr) -> float | None:
    """The value of a literal, or of a power such as 2**30."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, exponent = number(node.left), number(node.right)
        if base is not None and exponent is not None and base in (2, 10, 1000, 1024):
            return float(base**exponent)
    return None


def conversions(source: str) -> Iterator[str]:
    """Every place of `source` that converts units by a number of its own."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv):
            if number(node.left) in SCALES or number(node.right) in SCALES:
                yield f"line {node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named = any(UNIT_NAME.search(ast.unparse(target)) for target in targets)
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            if named and any(number(value) in SCALES for value in values):
                yield f"line {node.lineno}: {ast.unparse(node)}"


def test_no_module_has_unit_constants_of_its_own() -> None:
    found = {path: list(conversions(path.read_text("utf-8"))) for path in MODULES}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    [
        "_PS_PER_NS = 1_000",
        "_GIGA, _KILO = 1e9, 1e3",
        "PS_PER_US: float = 10**6",
        "rate / 1e9",
        "size // 2**30",
        "seconds * 1000",
        "value / 1024.0",
        "BYTES_PER_GIB = 2**30",
    ],
)
def test_conversion_is_found(source: str) -> None:
    assert len(list(conversions(source))) == 1


@pytest.mark.parametrize("source", ["MAX_ROWS = 1_000_000", "abs(a - b) < 1e-9", "size / MIB"])
def test_count_or_tolerance_is_no_conversion(source: str) -> None:
    assert list(conversions(source)) == []
