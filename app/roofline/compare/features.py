"""What matching of two runs rests on: features of operations, and the cheapest pairing of lists.

Measured time is not a feature. The pairing is the Hungarian method with potentials, after Kuhn and
Munkres in the form of shortest augmenting paths (Jonker and Volgenant 1987), one row at a time,
O(n² m). SciPy has the same and is not worth its 35 MB for lists of this length.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

import numpy as np

from roofline.analysis.kernel_names import natural_order, stem
from roofline.analysis.paths import OpPath, op_path
from roofline.analysis.roofline import Floats
from roofline.compare.run import Run

_LAYOUT = re.compile(r"\{[^{}]*\}")
_SHAPES_IN_NAME = re.compile(r" (\[.*)$", re.DOTALL)

Quantities = tuple[float, float, float]
"""Calls per unit, FLOPs and bytes per call; NaN is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Op:
    """One operation as matching sees it. `rank` is its place, 0 to 1, among those of its stem.

    `work` are its quantities in a form that equal ones share, NaN included.
    """

    row: int
    name: str
    category: str
    program: str
    path: OpPath | None
    operands: str
    results: str
    stem: str
    rank: float
    quantities: Quantities
    work: tuple[str, ...]


def ops_of(run: Run, unit: str) -> list[Op]:
    """The operations that take part in a `unit` of `run`."""
    times = run.units[unit]
    rows = np.flatnonzero((times.calls > 0) | (times.time_us > 0)).tolist()
    names = run.text("name")
    ranks = _ranks([names[row] for row in rows])
    calls, flop, moved = times.calls.tolist(), run.flop.tolist(), run.bytes.tolist()
    texts = {column: run.text(column) for column in run.texts}
    return [
        Op(
            row=row,
            name=names[row],
            category=texts["category"][row],
            program=texts["program"][row],
            path=op_path(texts["path"][row]),
            operands=_shapes(texts["operands"][row]) or _shapes_in(names[row]),
            results=_shapes(texts["results"][row]),
            stem=stem(names[row]),
            rank=rank,
            quantities=(calls[row], flop[row], moved[row]),
            work=tuple(f"{value:.12g}" for value in (calls[row], flop[row], moved[row])),
        )
        for row, rank in zip(rows, ranks, strict=True)
    ]


def digest(run: Run, unit: str) -> bytes:
    """Tells runs apart by what they hold: the order in which two are matched never matters."""
    told = sha256()
    for column in ("name", "path"):
        told.update("\0".join(run.text(column)).encode("utf-8", "replace"))
    columns: list[Floats] = [run.flop, run.bytes, run.units[unit].calls, run.units[unit].time_us]
    for values in columns:
        told.update(values.tobytes())
    return told.digest()


@lru_cache(maxsize=65_536)
def _shapes(text: str) -> str:
    """Shapes with their types, without layouts: the compiler chooses those anew."""
    return _LAYOUT.sub("", text)


def _shapes_in(name: str) -> str:
    """The shapes in an operator's name: `aten::mm [64x64, 64x64] bf16`."""
    found = _SHAPES_IN_NAME.search(name)
    return found.group(1) if found else ""


def _ranks(names: list[str]) -> list[float]:
    """The place of each name among those with its stem, from 0 (first) to 1 (last)."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        places[stem(name)].append(place)
    ranks = [0.0] * len(names)
    for same in places.values():
        if len(same) == 1:
            continue
        for rank, place in enumerate(sorted(same, key=lambda one: natural_order(names[one]))):
            ranks[place] = rank / (len(same) - 1)
    return ranks


def assign(cost: Floats) -> list[tuple[int, int]]:
    """Pairs (row, column) of the least total cost; every row or every column has one."""
    n_rows, n_columns = cost.shape
    if n_rows > n_columns:
        return sorted((row, column) for column, row in assign(cost.T))
    of_column = _shortest_paths(np.ascontiguousarray(cost))
    return sorted((row, column) for column, row in enumerate(of_column) if row >= 0)


def _shortest_paths(cost: Floats) -> list[int]:
    """The row of each column, -1 for none; there are no more rows than columns."""
    n_rows, n_columns = cost.shape
    row_price, column_price = np.zeros(n_rows), np.zeros(n_columns)
    row_of = np.full(n_columns, -1)
    for start in range(n_rows):
        distance = np.full(n_columns, np.inf)
        came_from = np.full(n_columns, -1)
        is_done = np.zeros(n_columns, np.bool_)
        row, column, reached = start, -1, 0.0
        in_tree = [(start, 0.0)]
        while row >= 0:
            through = reached + cost[row] - row_price[row] - column_price
            nearer = ~is_done & (through < distance)
            distance[nearer] = through[nearer]
            came_from[nearer] = column
            column = int(np.where(is_done, np.inf, distance).argmin())
            reached = float(distance[column])
            is_done[column] = True
            row = int(row_of[column])
            if row >= 0:
                in_tree.append((row, reached))
        for one, at in in_tree:
            row_price[one] += reached - at
        column_price[is_done] -= reached - distance[is_done]
        while column >= 0:
            before = int(came_from[column])
            row_of[column] = start if before < 0 else row_of[before]
            column = before
    return [int(row) for row in row_of]
