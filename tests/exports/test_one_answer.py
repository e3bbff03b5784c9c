"""One subject, one number: what must be equal in every place that says it.

Length, floor, share of the roof, idle share and first saving of ten profiles, read from the JSON of
`analyze`, its text, its CSV, the page data, `advise` and the line of a list.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import pytest

from roofline.exports.answering import answered
from roofline.exports.records import analysis_to_json, ops_to_csv
from roofline.exports.text import describe
from roofline.imports.child import found_in
from roofline.presentation.page import PageIdentity, page_data
from tests.shared_profiles import SHARED, needs_shared, shared

EXPECTED = SHARED / "design" / "next" / "one_subject_expected.csv"
CASES = list(csv.DictReader(EXPECTED.read_text().splitlines())) if EXPECTED.is_file() else []
QUANTITIES = ("length", "floor", "roof_share", "idle", "saving")
# The cost of most of this step is not known: its second line says how to record it.
WITHOUT_FIRST = {"v100"}

_US = {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}
_UNIT = r"(?P<unit>ns|µs|ms|s)"
_LENGTH = re.compile(rf"^(?P<number>[\d.,]+) {_UNIT}\b")
_FLOOR = re.compile(r"; (?P<number>[\d.,]+) (?:would|might) do")
_ROOF = re.compile(r"At (?P<number>[\d.,]+) % of the roof")
_SAVING = re.compile(rf"Do first: [^−]*−(?P<number>[\d.,]+) {_UNIT}\.")
_IDLE = re.compile(r"\+ ([\d.,]+) (?:waiting for the host|idle, cause unknown)")


@dataclass(frozen=True)
class Places:
    """Every document of one profile. Numbers are in us, or ratios."""

    case: str
    json: dict[str, Any]
    text: str
    rows: list[dict[str, str]]
    page: dict[str, Any]
    advice: dict[str, Any]


@cache
def places(case: str) -> Places:
    files = next(one["files"] for one in CASES if one["case"] == case)
    analysis = shared(*files.split(" + "))
    found = answered(analysis)
    table = ops_to_csv(analysis, include_infeed_outfeed=True, subject=found.answer.subject)
    identity = PageIdentity(id="a" * 12, created_at="2026-01-01T00:00:00Z")
    return Places(
        case=case,
        json=json.loads(
            analysis_to_json(analysis, include_infeed_outfeed=True, answer=found.answer)
        ),
        text=describe(analysis, analysis.view(include_infeed_outfeed=True), found.answer),
        rows=list(csv.DictReader(io.StringIO(table.decode()))),
        page=page_data(analysis, found.answer, identity),
        advice=found.advice,
    )


@dataclass(frozen=True)
class Statement:
    """A quantity as one place says it; `within` is half of the last digit that is printed."""

    place: str
    quantity: str
    value: float | None
    within: float = 0.0


def wanted(record: dict[str, Any]) -> dict[str, float | None]:
    """The quantities of a subject as JSON has it."""
    first = record["first"]
    return {
        "length": record["time_us"],
        "floor": record["floor_us"],
        "roof_share": record["roof_ratio"],
        "idle": record["idle_ratio"],
        "saving": None if first is None else first["saving_us"],
    }


def statements(of: Places) -> Iterator[Statement]:
    """What all places beside the JSON say."""
    for name, value in wanted(of.page["subject"]).items():
        yield Statement("page data", name, value)
    yield from in_segments(of)
    yield from in_text(of)
    yield from in_table(of)
    advice, first = of.advice, of.advice["first"]
    yield Statement("advice", "length", advice["now_us"])
    yield Statement("advice", "floor", advice["floor_us"])
    yield Statement("advice", "saving", None if first is None else first["saving_us"])


def in_segments(of: Places) -> Iterator[Statement]:
    """The numbers that the first lines of the page mark, at full precision."""
    said = of.page["views"]["in"]["verdict"]
    for one in [*said["headline"], *said["lead"]]:
        if one.get("quantity") in QUANTITIES:
            yield Statement("page's lines", one["quantity"], one["raw"])


def in_text(of: Places) -> Iterator[Statement]:
    """The numbers of the report, in the unit of its length."""
    text = " ".join(of.text.split("\n\n")[1].split())
    equation = " ".join(of.text.split("\n\n")[2].split())
    length = _LENGTH.match(text)
    assert length is not None, text
    scale = _US[length["unit"]]
    yield printed("text", "length", length["number"], scale)
    if floor := _FLOOR.search(text):
        yield printed("text", "floor", floor["number"], scale)
    roof = _ROOF.search(text)
    yield (
        Statement("text", "roof_share", None)
        if roof is None
        else printed("text", "roof_share", roof["number"], 0.01)
    )
    saving = _SAVING.search(text)
    if saving is not None:
        yield printed("text", "saving", saving["number"], _US[saving["unit"]])
    elif of.case not in WITHOUT_FIRST:
        yield Statement("text", "saving", None)
    share = scale / of.json["subject"]["time_us"]
    parts = [printed("text", "idle", one, share) for one in _IDLE.findall(equation)]
    # The largest part of a sum takes what rounding leaves of up to eight others.
    digit = printed("text", "idle", length["number"], share).within
    idle = sum(one.value or 0.0 for one in parts)
    yield Statement("text", "idle", idle, (8 if idle > 0.5 else max(len(parts), 1)) * digit)


def in_table(of: Places) -> Iterator[Statement]:
    """Sums over the rows of the CSV."""
    parts, rows = of.json["subject"]["parts"], of.rows
    known = [row for row in rows if row["part"] == "work"]

    def total(column: str, among: list[dict[str, str]]) -> float:
        return sum(float(row[column] or 0) for row in among)

    length = total("width_us", rows) + parts["host_wait"] + parts["unknown_wait"]
    yield Statement("CSV", "length", length)
    yield Statement("CSV", "floor", length - total("gain_us", rows))
    if of.json["subject"]["roof_ratio"] is not None:
        roof = total("needed_us", known) / total("width_us", known)
        yield Statement("CSV", "roof_share", roof)


def printed(place: str, quantity: str, number: str, scale: float) -> Statement:
    """A number as it is printed, in us or as a ratio."""
    _, _, decimals = number.partition(".")
    value = float(number.replace(",", "")) * scale
    return Statement(place, quantity, value, 0.5 * 10.0 ** -len(decimals) * scale)


def differences(of: Places) -> list[str]:
    """Statements that are missing or differ from the JSON's."""
    right = wanted(of.json["subject"])
    return [
        f"{one.place}: {one.quantity} is {one.value}, not {right[one.quantity]}"
        for one in statements(of)
        if not is_same(one, right[one.quantity])
    ]


def is_same(said: Statement, right: float | None) -> bool:
    if said.value is None or right is None:
        return said.value is right
    least = max(abs(right) * 1e-5, 1e-6)  # page data have six digits
    return abs(said.value - right) <= max(said.within * 1.001, least)


IDS = [one["case"] for one in CASES]


@needs_shared
@pytest.mark.parametrize("case", IDS)
def test_no_statement_differs(case: str) -> None:
    assert differences(places(case)) == []


@needs_shared
@pytest.mark.parametrize("case", IDS)
def test_no_statement_is_missing(case: str) -> None:
    of = places(case)
    said = {(one.place, one.quantity) for one in statements(of)}
    has_roof = of.json["subject"]["roof_ratio"] is not None
    assert {("text", name) for name in ("length", "idle", "roof_share")} <= said
    assert {("CSV", "length"), ("CSV", "floor"), ("page's lines", "length")} <= said
    assert (("page's lines", "roof_share") in said) == has_roof
    assert (("page's lines", "saving") in said) == (of.case not in WITHOUT_FIRST)
    headline = "".join(one.get("text", "") for one in of.page["views"]["in"]["verdict"]["headline"])
    has_goal = "is not known" not in headline
    assert (("page's lines", "floor") in said) == has_goal == (("text", "floor") in said)


@needs_shared
@pytest.mark.parametrize("case", IDS)
def test_the_first_finding_is_the_same_everywhere(case: str) -> None:
    of = places(case)
    first, finding = of.json["subject"]["first"], of.advice["findings"][0]
    assert of.page["subject"]["first"] == first
    assert first["finding"] == of.advice["first"]["finding"]
    assert first["title"] == of.advice["first"]["title"] == finding["title"]
    assert of.json["verdict"]["largest_saving"] == first
    if case not in WITHOUT_FIRST:
        assert first["title"][1:] in " ".join(of.text.split())


@needs_shared
@pytest.mark.parametrize("case", IDS)
def test_class_and_ceiling_are_the_same_everywhere(case: str) -> None:
    of = places(case)
    for name in ("class", "ceiling"):
        said = {of.json["subject"][name], of.page["subject"][name], of.page["verdict"][name]}
        assert said == {of.json["verdict"][name]}


@needs_shared
@pytest.mark.parametrize("case", IDS)
def test_the_line_of_a_list_is_of_the_same_subject(case: str) -> None:
    of = places(case)
    summary = asdict(found_in(of.page).summary)
    if "subject" not in summary:
        pytest.skip("lists do not have the subject yet")
    right = wanted(of.json["subject"])
    for name, value in wanted(summary["subject"]).items():
        assert is_same(Statement("list", name, value), right[name]), name


@needs_shared
def test_a_changed_number_is_found_in_every_place() -> None:
    """Each place by itself: the comparison above cannot pass by looking at nothing."""
    of = places(IDS[0])
    for name in ("time_us", "floor_us", "roof_ratio", "idle_ratio"):
        other = dict(of.json["subject"]) | {name: of.json["subject"][name] * 1.1}
        found = differences(replace(of, json={**of.json, "subject": other}))
        assert {"page data", "text"} <= {one.partition(":")[0] for one in found}
