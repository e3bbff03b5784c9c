"""The terms of a change: they add up, swapping negates them, and the formula is the design's."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from roofline.compare.attribution import Costs, attribute, log_mean, regrouped

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "compare" / "attribution.json"

_amounts = st.one_of(st.just(0.0), st.floats(1e-3, 1e9))
_peaks = st.one_of(st.just(0.0), st.floats(1.0, 1e4))
_side = st.fixed_dictionaries(
    {
        "calls": st.floats(0.01, 1e4),
        "time_us": _amounts,
        "flop": st.tuples(_amounts, _amounts),
        "bytes": st.tuples(_amounts, _amounts),
        "flop_peaks": st.tuples(_peaks, _peaks),
        "bytes_peaks": st.tuples(_peaks, _peaks),
        "is_known": st.booleans(),
    }
)


def costs_of(side: dict[str, Any]) -> Costs:
    row = {name: np.array([value]) for name, value in side.items() if name != "is_known"}
    return Costs(**row, is_known=np.array([side["is_known"]]))


def terms_of(a: dict[str, Any], b: dict[str, Any]) -> dict[str, float]:
    found = attribute(costs_of(a), costs_of(b))
    return {name: float(column[0]) for name, column in found.items()}


@given(_side, _side)
def test_the_terms_add_up_to_the_change(a: dict[str, Any], b: dict[str, Any]) -> None:
    change = b["time_us"] - a["time_us"]
    terms = terms_of(a, b)
    most = max([abs(value) for value in terms.values()] + [a["time_us"], b["time_us"]])
    assert math.isclose(sum(terms.values()), change, rel_tol=0, abs_tol=1e-9 * most)


@given(_side, _side)
def test_swapping_the_sides_negates_every_term(a: dict[str, Any], b: dict[str, Any]) -> None:
    there, back = terms_of(a, b), terms_of(b, a)
    most = max([abs(value) for value in there.values()] + [a["time_us"], b["time_us"]])
    for name, value in there.items():
        assert math.isclose(value, -back[name], rel_tol=0, abs_tol=1e-9 * most), name


@given(_side)
def test_a_side_against_itself_has_no_term(side: dict[str, Any]) -> None:
    assert not any(terms_of(side, side).values())


@given(st.floats(1e-6, 1e12), st.floats(1e-6, 1e12))
def test_the_logarithmic_mean_lies_between_its_arguments(x: float, y: float) -> None:
    mean = float(log_mean(np.array([x]), np.array([y]))[0])
    assert min(x, y) * (1 - 1e-12) <= mean <= max(x, y) * (1 + 1e-12)


def _roof(flop: Any, moved: Any, peaks: Any) -> float:
    pairs = zip((*flop, *moved), (*peaks[0], *peaks[1]), strict=True)
    return max(float(work / peak) for work, peak in pairs if peak)


def _by_orders(a: dict[str, Any], b: dict[str, Any]) -> list[float]:
    """The Shapley values as they are defined: the mean over all orders of replacing."""

    def parts(side: dict[str, Any]) -> list[Any]:
        return [side["flop"], side["bytes"], (side["flop_peaks"], side["bytes_peaks"])]

    totals = [0.0] * 3
    for order in itertools.permutations(range(3)):
        now = parts(a)
        for player in order:
            before = math.log(_roof(*now))
            now[player] = parts(b)[player]
            totals[player] += math.log(_roof(*now)) - before
    return [total / 6 for total in totals]


_positive = st.floats(1e-2, 1e6)
_worked = st.fixed_dictionaries(
    {
        "calls": st.floats(1, 500),
        "time_us": _positive,
        "flop": st.tuples(_positive, _positive),
        "bytes": st.tuples(_positive, _positive),
        "flop_peaks": st.tuples(st.floats(10, 1e4), st.floats(10, 1e4)),
        "bytes_peaks": st.tuples(st.floats(10, 1e4), st.floats(10, 1e4)),
        "is_known": st.just(True),
    }
)


@given(_worked, _worked)
def test_work_traffic_and_peaks_are_shapley_values(a: dict[str, Any], b: dict[str, Any]) -> None:
    # Equal counts of FLOPs by other units are a change of peaks: see below.
    assume(not math.isclose(sum(a["flop"]), sum(b["flop"]), rel_tol=1e-6))
    weight = float(log_mean(np.array([b["time_us"]]), np.array([a["time_us"]]))[0])
    terms = terms_of(a, b)
    expected = [weight * value for value in _by_orders(a, b)]
    most = max(a["time_us"], b["time_us"], *map(abs, expected))
    for name, value in zip(("work", "traffic", "peaks"), expected, strict=True):
        assert math.isclose(terms[name], value, rel_tol=0, abs_tol=1e-9 * most), name


# The worked example of the design: A100, int8 weights, bytes about half, 4 calls of 100 and 58 us.
_A100 = {"flop_peaks": (312e6,), "bytes_peaks": (2e6,), "is_known": True}
_BEFORE = {"calls": 4.0, "flop": (4e9,), "bytes": (180e6,), "time_us": 400.0, **_A100}


@pytest.mark.covers(245)
def test_half_the_bytes_of_a_memory_bound_operation_are_traffic() -> None:
    terms = terms_of(_BEFORE, {**_BEFORE, "bytes": (92e6,), "time_us": 232.0})
    weight = (232 - 400) / math.log(232 / 400)
    assert terms["traffic"] == pytest.approx(weight * math.log(92 / 180), rel=1e-12)
    assert terms["work"] == terms["calls"] == terms["peaks"] == 0.0
    assert sum(terms.values()) == pytest.approx(-168.0, rel=1e-12)


def test_half_the_flops_of_a_memory_bound_operation_change_nothing() -> None:
    assert not any(terms_of(_BEFORE, {**_BEFORE, "flop": (2e9,)}).values())


def test_another_device_is_peaks_and_closeness() -> None:
    h100 = {"flop_peaks": (989e6,), "bytes_peaks": (3.35e6,)}
    terms = terms_of(_BEFORE, {**_BEFORE, **h100, "time_us": 280.0})
    assert terms["peaks"] == pytest.approx((280 - 400) / math.log(0.7) * math.log(2 / 3.35))
    assert terms["closeness"] > 0
    assert terms["work"] == terms["traffic"] == 0.0


_UNITS = {"flop_peaks": (156e6, 19.5e6), "bytes_peaks": (2e6,), "is_known": True}
_TF32 = {"calls": 1.0, "flop": (4e9, 0.0), "bytes": (1e6,), "time_us": 40.0, **_UNITS}


def test_the_same_flops_on_a_slower_unit_are_peaks() -> None:
    """TF32 at 156 TFLOP/s on one side, fp32 at 19.5 on the other: not "FLOPs per call"."""
    after = {**_TF32, "flop": (0.0, 4e9), "time_us": 320.0}
    terms = terms_of(_TF32, after)
    assert terms["peaks"] == pytest.approx(280.0, rel=1e-12)
    assert terms["work"] == terms["traffic"] == terms["calls"] == 0.0
    assert terms["closeness"] == pytest.approx(0.0, abs=1e-9)
    assert terms_of(after, _TF32)["peaks"] == pytest.approx(-280.0, rel=1e-12)


def test_half_the_flops_on_a_slower_unit_are_work() -> None:
    terms = terms_of(_TF32, {**_TF32, "flop": (0.0, 2e9), "time_us": 160.0})
    assert terms["work"] == pytest.approx(120.0, rel=1e-12)
    assert terms["peaks"] == 0.0


def test_an_operation_without_time_before_is_closeness_alone() -> None:
    """The analytic limit: work and calls are the same, so only the time per roof changed."""
    terms = terms_of({**_BEFORE, "time_us": 0.0}, _BEFORE)
    assert terms["closeness"] == 400.0
    assert sum(map(abs, terms.values())) == 400.0


def test_unknown_cost_is_calls_and_time_per_call() -> None:
    unknown = {**_BEFORE, "is_known": False}
    terms = terms_of(unknown, {**unknown, "calls": 8.0, "time_us": 800.0})
    assert terms["calls"] == pytest.approx(400.0)
    assert terms["unknown"] == pytest.approx(0.0, abs=1e-9)


def test_a_group_is_regrouped_and_closeness() -> None:
    terms = regrouped((100.0, 60.0), (50.0, 30.0))
    assert terms["regrouped"] == pytest.approx(-40.0)
    assert terms["closeness"] == pytest.approx(0.0, abs=1e-12)
    assert regrouped((100.0, 60.0), (50.0, math.nan)) == {"unknown": -40.0}


def test_worked_cases_have_their_terms() -> None:
    for case in json.loads(GOLDEN.read_text()):
        assert terms_of(case["a"], case["b"]) == pytest.approx(case["terms"], rel=1e-12, abs=1e-12)
