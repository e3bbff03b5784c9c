"""Operations that the page does not list are found by name and in another order."""

import csv
import io
from typing import Any

import orjson
import pytest

from roofline.analysis.records import MAX_OPS
from roofline.analysis.subjects.choose import choose
from roofline.errors import BadViewError
from roofline.exports.render import render
from roofline.presentation.listing import Listing, found_beside
from roofline.presentation.shown import listed_ops
from tests.builders import analysed

COUNT = 2_500
ROWS = [f"fusion.{k}|copy|{COUNT - k}|{k}|8" for k in range(COUNT)]
LONG = analysed("\n".join(["op|category|self_us|flop|hbm_bytes", *ROWS]), idle_us=100)
SUBJECT = choose(LONG)


def names(analysis: Any) -> list[str]:
    return [analysis.ops.name[op] for op in listed_ops(analysis).tolist()]


def csv_rows(**asked: str) -> list[dict[str, str]]:
    content = render(LONG, "csv", infeed=True, listing=Listing(**asked))
    return list(csv.DictReader(io.StringIO(content.decode())))


@pytest.mark.covers(33)
def test_every_operation_is_found_by_its_name_and_the_longest_keep_their_places() -> None:
    longest = names(LONG)
    assert len(longest) == MAX_OPS + 1
    for wanted in ("FUSION.2499", "fusion.1001"):
        found = found_beside(LONG, SUBJECT, Listing(q=wanted))
        assert names(found) == [*longest, wanted.lower()]
        assert found.with_infeed.beyond_ops == COUNT - MAX_OPS - 1
    assert names(found_beside(LONG, SUBJECT, Listing(q="fusion.7"))) == [
        *longest,
        *(f"fusion.{k}" for k in range(MAX_OPS, COUNT) if str(k).startswith("7")),
    ]


def test_another_order_lists_its_first_thousand() -> None:
    found = names(found_beside(LONG, SUBJECT, Listing(sort="-flop_rate_gflops")))
    assert found[MAX_OPS + 1 :] == [
        f"fusion.{k}" for k in range(COUNT - 1, COUNT - 1 - MAX_OPS, -1)
    ]
    with pytest.raises(BadViewError, match="“nothing” is not a column"):
        found_beside(LONG, SUBJECT, Listing(sort="nothing"))


def test_exports_have_what_was_found_alone_in_the_order_asked_for() -> None:
    assert [row["name"] for row in csv_rows(q="fusion.24", sort="self_time_us")][:2] == [
        "fusion.2499",
        "fusion.2498",
    ]
    assert len(csv_rows(sort="-name")) == COUNT
    assert csv_rows(q="nothing") == []
    listing = Listing(q="fusion.2499")
    document = orjson.loads(render(LONG, "json", infeed=True, listing=listing))
    assert [op["name"] for op in document["ops"]] == ["fusion.2499"]
    assert document["subject"] == orjson.loads(render(LONG, "json", infeed=True))["subject"]
    assert "fusion.2499" in render(LONG, "text", infeed=True, listing=listing).decode()


def test_what_is_not_known_comes_last_in_both_directions() -> None:
    few = analysed("op|self_us|flop|hbm_bytes\na|1|–|–\nb|2|4|4\nc|3|9|3")
    for sort, expected in (("flop_rate_gflops", "bca"), ("-flop_rate_gflops", "cba")):
        content = render(few, "csv", infeed=True, listing=Listing(sort=sort)).decode()
        assert "".join(row["name"] for row in csv.DictReader(io.StringIO(content))) == expected
