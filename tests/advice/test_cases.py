"""The worked cases of diagnosis through `advise`, and the values at which its rules begin.

Gains are in `test_advise`, `test_rules` and `test_plan`, and each rule has cases of its formula.
"""

import csv
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.advice.advise import advise
from roofline.advice.findings import Advice
from roofline.analysis.subjects.choose import choose
from roofline.devices.resolve import resolve
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.units import GIGA, US_PER_S
from tests.builders import analysis_on, profile_from_table

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT.parent / "shared" / "model" / "advice_cases.csv"
H100: dict[str, Any] = {"peak": 989.4e12, "bw": 3350e9, "vec_peak": 67e12}
BOUNDS = {"matrix_bf16": "compute", "vector_fp32": "vector", "hbm": "memory"}
# Links, counters and asynchronous halves: `test_advise` and `test_rules` have their profiles.
OTHER_PROFILES = frozenset({"comm", "comm.bound", "wrong.roof", "bytes.under", "async"})


def cases() -> list[dict[str, str]]:
    """The shared cases of a diagnosis; none where the folder is missing."""
    if not CASES.exists():
        return []
    with CASES.open(encoding="utf-8", newline="") as file:
        found = [one for one in csv.DictReader(file) if one["function"] == "diagnose"]
    return [one for one in found if one["case_id"] not in OTHER_PROFILES]


def advised(inputs: Mapping[str, Any]) -> Advice:
    """Advice on a thousand calls of one op with this work, on a device with these peaks."""
    levels = {level: tuple(pair) for level, pair in inputs.get("levels", {}).items()}
    moved = {"hbm": (inputs.get("bytes_", 0.0), inputs["bw"]), **levels}
    units = {ComputeUnit.MATRIX_BF16: "peak", ComputeUnit.VECTOR_FP32: "vec_peak"}
    device = ReportedDevice(
        kind=DeviceKind.GPU,
        name="a case",
        core_count=1,
        bandwidth_gbs={MemoryLevel(name): rate / GIGA for name, (_, rate) in moved.items()},
        unit_gflops={unit: inputs[peak] / GIGA for unit, peak in units.items()},
    )
    flop = [round(inputs.get(name, 0.0) * 1000) for name in ("f_mat", "f_vec")]
    bytes_ = {name: round(amount * 1000) for name, (amount, _) in moved.items()}
    work = [sum(flop) or "–", bytes_["hbm"] or "–"]
    took_us = inputs["T"] * US_PER_S * 1000
    row = f"op | {inputs.get('kind', 'loop')} | {took_us:.9f} | {work[0]} | {work[1]} | 1000"
    profile = profile_from_table(f"op | category | self_us | flop | bytes | times\n{row}")
    ops = replace(
        profile.ops,
        unit_flop={
            unit: np.array([one], np.uint64) for unit, one in zip(units, flop, strict=True) if one
        },
        traffic_bytes={
            MemoryLevel(name): np.array([one], np.uint64) for name, one in bytes_.items()
        },
        traffic_known=np.array([bool(levels)]),
    )
    profile = replace(profile, ops=ops, device=device)
    analysis = analysis_on(profile, resolve(device))
    return advise(analysis, choose(analysis))


def rule_of(advice: Advice) -> str:
    """The rule of the op: S1 has no finding, only its time in the summary; V7 only a note."""
    beside = "S1" if advice.at_roof_us else "V7" if advice.unjudged_ratio else ""
    return beside or advice.findings[0].of.rule


@pytest.mark.skipif(not CASES.exists(), reason="the shared library is missing")
def test_there_are_enough_cases() -> None:
    assert len(cases()) == 14


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["case_id"])
def test_case_of_a_diagnosis(case: dict[str, str]) -> None:
    expected, told = json.loads(case["expected_json"]), json.loads(case["computed_json"])
    advice = advised(json.loads(case["inputs_json"]))
    assert rule_of(advice) == expected["rule"]
    if expected["rule"] in {"S1", "V1", "V7"}:
        return
    (of,) = (one.of for one in advice.findings if one.of.rule == expected["rule"])
    bound = expected.get("bound", told["bound"])
    assert BOUNDS.get(str(of.bound), of.bound) == bound
    assert [one for one in of.also if one != "M3"] == told["also"]
    assert of.e == pytest.approx(told["e"], rel=1e-6)


@pytest.mark.covers(112, 113, 129, 244, 255)
@pytest.mark.parametrize(
    ("share", "rule"),
    [
        (1.04, "V1"),
        (1.03, "S1"),
        (0.95, "S1"),
        (0.6, "M2"),
        (0.59, "M1"),
        (0.2, "M1"),
        (0.19, "L2"),
    ],
)
def test_rules_of_a_memory_begin_where_they_say(share: float, rule: str) -> None:
    time = 3.35e9 / H100["bw"] / share
    assert rule_of(advised({"T": time, "bytes_": 3.35e9, "f_vec": 1e6, **H100})) == rule


@pytest.mark.covers(222, 255)
@pytest.mark.parametrize(("share", "rule"), [(0.6, "K2"), (0.59, "K1")])
def test_rules_of_compute_begin_where_they_say(share: float, rule: str) -> None:
    inputs = {"T": 1e-3 / share, "f_mat": 989.4e9, "bytes_": 1e6, **H100}
    found = advised(inputs).findings
    assert found[0].of.rule == rule


@pytest.mark.covers(236, 259)
@pytest.mark.parametrize(
    ("of_sum", "rule"), [(0.89, "K2"), (0.9, "O1"), (1.0, "O1"), (1.1, "O1"), (1.11, "K1")]
)
def test_clocks_that_add_up_do_not_overlap(of_sum: float, rule: str) -> None:
    """1 ms of arithmetic and 0.6 ms of a memory: one after the other, neither at the ridge."""
    work = {"f_mat": 989.4e9, "bytes_": 0.6e-3 * H100["bw"]}
    assert rule_of(advised({"T": of_sum * 1.6e-3, **work, **H100})) == rule


@pytest.mark.covers(177, 255)
@pytest.mark.parametrize(
    ("of_compute", "near"), [(0.79, False), (0.81, True), (1.24, True), (1.26, False)]
)
def test_near_its_ridge_an_op_is_told_so(of_compute: float, near: bool) -> None:
    """Arithmetic of 1 ms beside a memory that takes about as long, at 70 % of the nearer roof."""
    work = {"f_mat": 989.4e9, "bytes_": of_compute * 1e-3 * H100["bw"]}
    advice = advised({"T": 1e-3 * max(1, of_compute) / 0.7, **work, **H100})
    assert ("B1" in advice.findings[0].of.also) is near


@pytest.mark.covers(106)
@pytest.mark.parametrize(("time", "rule"), [(9.9e-6, "L1"), (10e-6, "L2")])
def test_a_launch_is_shorter_than_ten_microseconds(time: float, rule: str) -> None:
    assert rule_of(advised({"T": time, "bytes_": 3.35e6, "f_vec": 1, **H100})) == rule


def test_on_chip_memory_that_binds_is_named_beside_the_rule() -> None:
    advice = advised({"T": 2e-3, "bytes_": 1e9, "levels": {"l2": (9.9e9, 5.5e12)}, **H100})
    assert rule_of(advice) == "M2"
    assert advice.findings[0].of.also == ("M3",)


def test_work_that_nobody_knows_has_no_share_of_a_roof() -> None:
    advice = advised({"T": 1e-3, "kind": "custom-call", **H100})
    assert (advice.unjudged_ratio, advice.findings) == (1.0, ())
