"""XProf's page: the rows, the digits and the points of XProf's own table."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from roofline.presentation.xprof_view import XprofChoice, XprofView, number, xprof_view

GOLDEN = Path(__file__).parents[1] / "golden/xspace"
WITH_CMEM = next(GOLDEN.glob("s01_*"))
GPU = next(GOLDEN.glob("s09_*"))


def tables(case: Path) -> list[dict[str, Any]]:
    """XProf's own answer for a golden case."""
    (file,) = case.glob("*.json*")
    content = file.read_bytes()
    found: list[dict[str, Any]] = json.loads(
        gzip.decompress(content) if file.suffix == ".gz" else content
    )
    return found


def view(case: Path = WITH_CMEM, **choice: Any) -> XprofView:
    return xprof_view(tables(case), XprofChoice(**choice))


def column(found: XprofView, name: str) -> list[str]:
    at = [head.id for head in found.ops.heads].index(name)
    return [row[at].text for row in found.ops.rows]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("total_time_per_core", 38433.6, "38,434"),
        ("measured_flop_rate", 38604.5, "38,604.50"),
        ("model_flop_rate", 34744.047, "34,744.047"),
        ("occurrences", 4.0, "4"),
        ("roofline_efficiency", 0.0004, "0%"),
        ("roofline_efficiency", 0.0456, "4.6%"),
        ("compute_efficiency", 0.16, "16%"),
        ("max_mem_bw_utilization", 12.3456, "1234.6%"),
    ],
)
def test_numbers_have_xprofs_digits(name: str, value: float, text: str) -> None:
    assert number(name, value) == text


@pytest.mark.parametrize(("case", "columns"), [(WITH_CMEM, (11, 18)), (GPU, (8, 15))])
def test_tables_have_xprofs_columns_and_rows(case: Path, columns: tuple[int, int]) -> None:
    found = view(case)
    assert (len(found.program.heads), len(found.ops.heads)) == columns
    rows = _rows(case, lambda row: row["include_infeed_outfeed"])
    assert len(found.ops.rows) == sum(row["step"] == "Total" for row in rows)
    assert len(found.program.rows) == sum(row["category"] == "Program" for row in rows)


def test_points_are_those_with_a_bound_and_a_place() -> None:
    found = view()
    drawn = [trace for trace in found.ops.figure["data"] if trace["meta"]["role"] == "marks"]
    wanted = [
        row["measured_flop_rate"]
        for row in _rows(WITH_CMEM, lambda row: row["include_infeed_outfeed"])
        if row["step"] == "Total"
        and row["bound_by"] != "Unknown"
        and row["bottleneck_operational_intensity"] > 0 < row["measured_flop_rate"]
    ]
    heights = sorted(y for trace in drawn for y in trace["y"])
    assert heights == pytest.approx(sorted(wanted), rel=1e-5)
    assert found.ops.figure["layouts"]["wide"]["xaxis"]["range"] == [-5, 5]


def test_filters_are_joined_by_and() -> None:
    found = view()
    category, bound = column(found, "category")[1], column(found, "bound_by")[1]
    left = view(category=category, bound=bound, name=column(found, "operation")[1].upper())
    assert 0 < len(left.ops.rows) < len(found.ops.rows)
    assert set(column(left, "category")) == {category}
    assert set(column(left, "bound_by")) == {bound}
    without = view(infeed="out")
    assert not {"infeed", "outfeed"} & set(column(without, "category"))
    assert "infeed" in without.categories  # still on offer, as in XProf


def test_header_sorts_and_says_the_next_order() -> None:
    found = view(sort="-occurrences")
    counts = [float(text.replace(",", "")) for text in column(found, "occurrences")]
    assert counts == sorted(counts, reverse=True)
    head = next(one for one in found.ops.heads if one.id == "occurrences")
    assert (head.order, head.next_sort) == ("descending", "occurrences")


def _rows(case: Path, wanted: Any) -> Sequence[dict[str, Any]]:
    table = tables(case)[0]
    names = [one["id"] for one in table["cols"]]
    rows = [
        dict(zip(names, (cell["v"] for cell in row["c"]), strict=True)) for row in table["rows"]
    ]
    return [row for row in rows if wanted(row)]
