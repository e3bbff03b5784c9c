"""Each thing that the founding documents ask for has an answer: where it is, or why it is not."""

import csv
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.test_main import run

ROOT = Path(__file__).parents[1]
SEEDS = ROOT.parent / "shared" / "product" / "seed-coverage.md"
COUNT = 262


def rows() -> list[Mapping[str, str]]:
    with (ROOT / "docs" / "coverage-items.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_thing_has_one_answer() -> None:
    assert [int(row["number"]) for row in rows()] == list(range(1, COUNT + 1))
    for row in rows():
        told = row["where_or_why_not"]
        if row["answer"] == "no":
            assert told.endswith(".") and len(told.split()) > 8, row
        else:
            assert row["answer"] == "yes" and told, row
            assert (ROOT / row["shown_by"]).is_file(), row


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
