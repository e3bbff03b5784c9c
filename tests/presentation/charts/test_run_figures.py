"""The charts of a run of hosts: shades and their key, steps, roofline of the median host."""

from typing import Any

import pytest

from roofline.figures.scale import linear_ticks
from roofline.presentation.charts.host_values import EVEN, HostValues
from roofline.presentation.charts.run_figures import (
    critical_hosts,
    run_roofline_figure,
    steps_figure,
)


def values_of(
    *values: float | None,
    metric: str = "ratio",
    outliers: tuple[int, ...] = (),
    judged: bool = True,
) -> HostValues:
    names = [f"<h{at}>" for at in range(len(values))]
    return HostValues(
        metric=metric, values=values, names=names, outliers=outliers, is_judged=judged
    )


def test_shades_turn_where_more_is_better() -> None:
    assert values_of(1.001, 1.05, 0.9, None).shades == [3, 8, 0, None]
    assert values_of(500, 450, 500, metric="bandwidth").shades == [3, 8, 3]
    assert values_of(10, 0, 20, 10, metric="wait").shades == [3, 8, 0, 3]


@pytest.mark.parametrize("metric", ["ratio", "work", "wait", "bandwidth"])
def test_a_shade_says_nothing_where_hosts_cannot_be_judged(metric: str) -> None:
    assert values_of(1, 7, 9, metric=metric, judged=False).shades == [EVEN] * 3


def test_the_histogram_counts_each_host_once_and_outliers_lie_beyond_the_cut() -> None:
    figure = values_of(1, 1.01, 1.02, 1.02, 1.5, None, outliers=(4,)).figure()
    bars, near, far = figure["data"]
    assert (sum(bars["y"]), bars["x"][0]) == (4, pytest.approx(1 + 0.01 / 26))
    assert (near["x"], far["x"], far["xaxis"]) == ([], [1.5], "x2")
    assert far["hovertext"] == ["&lt;h4&gt; 1.500"]
    axes = figure["layouts"]["wide"]
    assert axes["xaxis"]["domain"][1] < axes["xaxis2"]["domain"][0]
    assert axes["xaxis"]["ticktext"] == ["1.000", "1.020"]


def test_a_histogram_of_one_value_has_one_bar_and_of_none_says_so() -> None:
    assert len(values_of(1, 1).figure()["data"][0]["x"]) == 1
    empty = values_of(None, metric="wait").figure()
    assert empty["layouts"]["wide"]["xaxis"]["ticktext"] == ["Wait in collectives: not known"]
    assert empty["alt"] == "Wait in collectives of the hosts is not known"


STEPS = [
    {
        "step": str(at),
        "critical_host": host,
        "min_work_us": 98.0,
        "median_work_us": 100.0,
        "p95_work_us": 101.0,
        "max_work_us": 108.0,
        "max_us": 120.0,
    }
    for at, host in enumerate("ccb")
]


def test_the_host_that_is_critical_most_often_comes_first_and_has_its_own_look() -> None:
    assert critical_hosts(STEPS) == [("c", 2), ("b", 1)]
    figure = steps_figure(STEPS, ["a", "b", "c"])
    marks = [one for one in figure["data"] if one["meta"]["role"] == "marks"]
    assert [(one["x"], one["customdata"]) for one in marks[:2]] == [([0, 1], [2, 2]), ([2], [1])]
    assert marks[0]["marker"]["color"] != marks[1]["marker"]["color"]
    lines = [one for one in figure["data"] if one["meta"]["role"] == "reach"]
    assert lines[1]["y"] == [101.0, 108.0, None]
    (length,) = (one for one in figure["data"] if one["meta"]["role"] == "length")
    assert (length["x"], length["y"]) == ([0, 1, 2], [120.0] * 3)
    low, high = figure["layouts"]["wide"]["yaxis"]["range"]
    assert low < 98 and high > 120


def test_steps_without_spread_or_without_steps_have_an_axis() -> None:
    flat = [{**STEPS[0], **dict.fromkeys(("min_work_us", "max_work_us", "max_us"), 100.0)}]
    low, high = steps_figure(flat, ["c"])["layouts"]["wide"]["yaxis"]["range"]
    assert (low + high) / 2 == pytest.approx(100)
    assert steps_figure([], [])["data"] == []


def test_ticks_are_round_and_written_with_as_many_digits_as_tell_them_apart() -> None:
    assert linear_ticks(9.3, 12.1) == pytest.approx([9.5, 10, 10.5, 11, 11.5, 12])
    near = [{**STEPS[0], "min_work_us": 122_500.0, "max_work_us": 123_500.0, "max_us": 123_500.0}]
    texts = steps_figure(near, ["c"])["layouts"]["wide"]["yaxis"]["ticktext"]
    assert len(set(texts)) == len(texts)


def test_an_op_lies_at_its_median_and_one_of_unknown_work_has_no_mark() -> None:
    op = {"flop": 1e9, "bytes": 1e7, "median_us": 50.0, "p95_us": 80.0, "max_us": 100.0}
    ops: list[dict[str, Any]] = [{**op, "flop": None, "category": "dot"}, {**op, "category": "dot"}]
    peaks = {"gflops": 197_000.0, "unit": "MXU bf16", "gbs": 819.0, "memory": "HBM"}
    styles = {"dot": {"token": "--c1", "symbol": "circle"}}
    figure = run_roofline_figure(ops, peaks, styles)
    (marks,) = (one for one in figure["data"] if one["meta"]["role"] == "marks")
    assert marks["customdata"] == [1]
    assert (marks["x"], marks["y"]) == (pytest.approx([100]), pytest.approx([20_000]))
    (reach,) = (one for one in figure["data"] if one["meta"]["role"] == "reach")
    assert reach["y"] == [pytest.approx(20_000), pytest.approx(10_000), None]
    names = [text for one in figure["data"] for text in one.get("text", ())]
    assert "MXU bf16 197\xa0TFLOP/s" in names
    bare = run_roofline_figure(ops, dict.fromkeys(peaks), styles)
    assert not [one for one in bare["data"] if one["meta"]["role"] == "roof"]
