"""`roofline advise`: every form, the number of findings, and what it refuses."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.test_main import refused, run

TABLE = (
    "name,time_us,flops,bytes\nslow,100,1000,1000000\nidle-ish,400,1000,9000000\n"
    "near,100,1000,167500000\n"
)
ON = ("--device", "h100-sxm")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "program.csv"
    path.write_text(TABLE)
    return path


def test_json_has_the_documented_keys(table: Path) -> None:
    found = json.loads(run("advise", table, *ON, "--format", "json").stdout)
    assert {"state", "unit", "now_us", "after_us", "floor_us", "findings", "summary"} <= set(found)
    (one, *_) = found["findings"]
    assert {
        "id", "rule", "ops", "lever", "observed", "predicted", "confidence", "verify", "source",
        "title", "why", "try", "formula",
        "group", "kind", "in_plan", "hypothetical", "changes_results", "measured",
    } <= set(one)  # fmt: skip
    assert found["first"]["title"] == one["title"]
    assert {
        "time_us", "saving_us", "saving_if_alone_us", "at_roof_saving_us", "range_us", "limited_by",
    } == set(one["predicted"])  # fmt: skip
    assert one["verify"]["command"] == "roofline compare program.csv AFTER"


def test_text_fits_a_terminal_and_markdown_has_a_heading(table: Path) -> None:
    text = run("advise", table, *ON).stdout.decode()
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "1. " in text
    markdown = run("advise", table, *ON, "-f", "markdown").stdout.decode()
    assert markdown.startswith("# What would help")


def test_a_higher_target_saves_more(table: Path) -> None:
    def after(target: str) -> float:
        arguments = ("advise", table, *ON, "-f", "json", "--target", target)
        return float(json.loads(run(*arguments).stdout)["after_us"])

    assert after("0.9") < after("0.5")


@pytest.mark.parametrize("option", [("--target", "0"), ("--target", "1.5"), ("--top", "0")])
def test_a_target_or_number_that_cannot_be_is_refused(table: Path, option: tuple[str, str]) -> None:
    assert option[0] in refused("advise", table, *option)


def test_what_was_accepted_is_measured_by_the_next_comparison(table: Path) -> None:
    ledger = table.parent / "ledger.jsonl"
    kept = ("--ledger", ledger)
    before = json.loads(run("advise", table, *ON, "-f", "json").stdout)
    text = run("advise", table, *ON, *kept, "--accept", "1", "--dismiss", "2", "--reason", "no")
    assert b"done: promised" in text.stdout and b"1 dismissed." in text.stdout
    after = table.parent / "after.csv"
    after.write_text(TABLE.replace("400,", "200,"))
    shown = run("compare", table, after, *ON, *kept).stdout.decode()
    assert "Predicted against measured" in shown
    begins = run("advise", after, *ON, *kept, "--before", table).stdout.decode()
    assert re.match(r"\w+ .*: promised −[\d.]+ \S+, measured ", begins)
    listed = json.loads(run("ledger", ledger, "-f", "json").stdout)
    first, second = listed["entries"][::-1]
    assert first["finding"] == before["findings"][0]["id"]
    assert first["measured"]["profile"] == "after.csv"
    assert second["state"] == "dismissed" and second["reason"] == "no"
    assert listed["rates"][0]["count"] == 1
    other = table.parent / "other.jsonl"
    run("ledger", other, "--add", ledger)
    assert other.read_bytes() == ledger.read_bytes()
    restored = json.loads(
        run("advise", table, *ON, *kept, "--restore", second["finding"], "-f", "json").stdout
    )
    assert restored["dismissed"] == []
    assert "such finding" in refused("advise", table, *ON, *kept, "--accept", "M9:none")
