"""Each thing that the founding documents ask for has an answer: where it is, or why it is not."""

import re
from collections import defaultdict

import pytest

from tests.cli.test_main import run
from tests.tools.coverage import ITEMS, ROOT, marked_tests, rows, written

SEEDS = ROOT.parent / "shared" / "product" / "seed-coverage.md"
COUNT = 262


def test_every_thing_has_one_answer() -> None:
    assert [int(row["number"]) for row in rows()] == list(range(1, COUNT + 1))
    for row in rows():
        told = row["where_or_why_not"]
        if row["answer"] == "no":
            assert told.endswith(".") and len(told.split()) > 8, row
        else:
            assert row["answer"] == "yes" and told and row["shown_by"], row


def test_citations_are_those_of_the_markers() -> None:
    assert written() == ITEMS.read_text("utf-8"), "python -m tests.tools.coverage writes them"


def test_what_a_row_says_is_asserted_by_a_marked_test_or_stands_on_the_page_that_it_names() -> None:
    texts: dict[int, list[str]] = defaultdict(list)
    for one in marked_tests():
        for covered in one.rows:
            texts[covered].append(one.text)
    claimed = {int(row["number"]): row for row in rows() if row["answer"] == "yes"}
    assert texts.keys() <= claimed.keys(), "a marker names a row that claims nothing"
    for number, row in claimed.items():
        shown = texts[number] or [(ROOT / row["shown_by"]).read_text("utf-8")]
        assert row["asserts"] and any(row["asserts"] in text for text in shown), row


def test_every_page_of_the_documents_is_listed_once_and_every_link_leads_somewhere() -> None:
    docs = ROOT / "docs"
    index = re.findall(r"\]\(([\w-]+\.md)\)", (docs / "README.md").read_text("utf-8"))
    assert sorted(index) == sorted({one.name for one in docs.glob("*.md")} - {"README.md"})
    for page in docs.glob("*.md"):
        text = page.read_text("utf-8")
        for name, anchor in re.findall(r"\]\(([\w-]*(?:\.md)?)(?:#([\w-]+))?\)", text):
            target = docs / name if name else page
            assert target.is_file(), f"{page.name}: {name}"
            there = target.read_text("utf-8")
            heads = re.findall(r"^#+ (.*)$", there, flags=re.M)
            known = {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in heads}
            known |= set(re.findall(r'id="([\w-]+)"', there))
            assert not anchor or anchor in known, f"{page.name}: {name}#{anchor}"


def test_commands_that_are_named_exist() -> None:
    told = " ".join(row["where_or_why_not"] for row in rows())
    named = set(re.findall(r"`roofline ([a-z]+)", told))
    known = set(re.findall(r"^    ([a-z-]+)\b", run("--help").stdout.decode(), flags=re.M))
    assert len(named) > 5 and named <= known


@pytest.mark.skipif(not SEEDS.exists(), reason="the shared library is missing")
def test_no_thing_was_left_out() -> None:
    line = re.compile(r"^\| (\d+) \| (.*?) \| (?:yes|no|partly) \|", re.M)
    asked = line.findall(SEEDS.read_text("utf-8"))
    assert [(row["number"], row["item"]) for row in rows()] == asked
