"""Commands and their values in the shared folder: collectives, steps, thresholds, requests."""

import csv
import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from roofline.cli.main import main
from tests.shared_profiles import SHARED

CASES = SHARED / "model" / "network_cases.csv"
NAMED = re.compile(r"(?P<list>[\w.]+)\[(?P<name>[^\]]+)\](?:\.(?P<rest>.+))?")
AREAS = {"collective": 34, "predict": 11, "threshold": 10, "request": 6, "training": 6}
EXACT = 1e-9


def _cases() -> Iterator[dict[str, str]]:
    if CASES.is_file():
        with CASES.open(encoding="utf-8", newline="") as lines:
            yield from (row for row in csv.DictReader(lines) if row["area"] in AREAS)


def value(document: Any, path: str) -> Any:
    """The value at a path such as `ops[attn_allreduce].time_us`."""
    named = NAMED.fullmatch(path)
    if named:
        entries = value(document, named["list"])
        document = next(one for one in entries if one["name"] == named["name"])
        path = named["rest"]
    for key in path.split("."):
        document = document[key]
    return document


@pytest.mark.parametrize("case", list(_cases()), ids=lambda case: case["case_id"])
def test_command_gives_its_stated_values(
    case: dict[str, str], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(case["command"])[1:])
    assert not ended.value.code
    document = json.loads(capsysbinary.readouterr().out)
    for path, expected in json.loads(case["expected_json"]).items():
        if isinstance(expected, int | float):
            near = pytest.approx(expected, rel=float(case["rel_tolerance"]), abs=EXACT)
            assert value(document, path) == near, path
        else:
            assert value(document, path) == expected, path


@pytest.mark.skipif(not CASES.is_file(), reason="needs the shared folder")
def test_no_case_is_left_out() -> None:
    found = [case["area"] for case in _cases()]
    assert {area: found.count(area) for area in AREAS} == AREAS
