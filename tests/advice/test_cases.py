"""The worked cases of diagnosis and gain, and the exact values at which rules begin."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from roofline.advice import formulas
from roofline.advice.diagnosis import Single, diagnose

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT.parent / "shared" / "model" / "advice_cases.csv"
# The formulas have words where the cases have letters.
WORDS = {"T": "time", "F": "width"}
H100: dict[str, Any] = {"peak": 989.4e12, "bw": 3350e9, "vec_peak": 67e12}


def cases() -> list[dict[str, str]]:
    """The shared cases; none where the folder is missing."""
    if not CASES.exists():
        return []
    with CASES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.skipif(not CASES.exists(), reason="the shared library is missing")
def test_there_are_43_cases() -> None:
    assert len(cases()) == 43


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["case_id"])
def test_case(case: dict[str, str]) -> None:
    inputs, expected = json.loads(case["inputs_json"]), json.loads(case["expected_json"])
    if case["function"] != "diagnose":
        named = {WORDS.get(name, name): value for name, value in inputs.items()}
        value = getattr(formulas, case["function"])(**named)
        assert value == pytest.approx(expected, abs=float(case["tolerance_abs"]), rel=0)
        return
    found, told = (
        diagnose(Single(**{WORDS.get(name, name): value for name, value in inputs.items()})),
        json.loads(case["computed_json"]),
    )
    assert found.rule[0] == expected["rule"]
    assert found.bound[0] == expected.get("bound", told["bound"])
    assert [one for one in found.also[0] if one != "M3"] == told["also"]
    if told["e"] is not None:
        assert found.e[0] == pytest.approx(told["e"], rel=1e-12)


@pytest.mark.parametrize(
    ("share", "rule"),
    [
        (1.04, "V1"),
        (1.03, "S1"),
        (0.95, "S1"),
        (0.6, "M2"),
        (0.59, "M1"),
        (0.4, "M1"),
        (0.39, "L2"),
    ],
)
def test_rules_of_a_memory_begin_where_they_say(share: float, rule: str) -> None:
    time = 3.35e9 / H100["bw"] / share
    assert diagnose(Single(time=time, bytes_=3.35e9, f_vec=1e6, **H100)).rule == (rule,)


@pytest.mark.parametrize(("share", "rule"), [(0.6, "K2"), (0.59, "K1")])
def test_rules_of_compute_begin_where_they_say(share: float, rule: str) -> None:
    assert diagnose(Single(time=1e-3 / share, f_mat=989.4e9, bytes_=1e6, **H100)).rule == (rule,)


@pytest.mark.parametrize(("time", "rule"), [(9.9e-6, "L1"), (10e-6, "L2")])
def test_a_launch_is_shorter_than_ten_microseconds(time: float, rule: str) -> None:
    assert diagnose(Single(time=time, bytes_=3.35e6, f_vec=1, **H100)).rule == (rule,)


@pytest.mark.parametrize(("exposed", "rule"), [(0.3, "C1"), (0.29, "M1")])
def test_exposed_communication_counts_from_30_percent_on(exposed: float, rule: str) -> None:
    op = Single(time=1.0, bytes_=0.5 * 3350e9, exposed_comm_s=exposed, **H100)
    assert diagnose(op).rule == (rule,)


def test_on_chip_memory_that_binds_is_named_beside_the_rule() -> None:
    op = Single(time=2e-3, bytes_=1e9, levels={"l2": (9.9e9, 5.5e12)}, **H100)
    assert (diagnose(op).rule, diagnose(op).also) == (("M2",), (("M3",),))


def test_work_that_nobody_knows_has_no_share_of_a_roof() -> None:
    assert diagnose(Single(time=1e-3, **H100)).rule == ("V7",)
