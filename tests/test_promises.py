"""docs/promises.md names the tests that hold its promises: each of them exists."""

import re

import pytest

from tests.conftest import ROOT, TESTS

PAGE = (ROOT / "docs" / "promises.md").read_text("utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and "held by" not in line]
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2:50])
def test_every_promise_has_tests_that_exist(row: str) -> None:
    promise, held_by = row.strip("| ").rsplit(" | ", 1)
    named = NAMED.findall(held_by)
    assert named, f"no test is named for: {promise}"
    for path, name in named:
        source = (TESTS / path).read_text("utf-8")
        assert re.search(rf"^(async )?def {name}\(", source, re.MULTILINE), f"{path}::{name}"


def test_there_are_promises() -> None:
    assert len(ROWS) >= 3
