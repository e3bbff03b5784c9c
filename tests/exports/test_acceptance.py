"""Checks of the model on two runs: what each finds on runs made by hand."""

from dataclasses import replace

import pytest

from roofline.compare.comparison import compare
from roofline.exports.acceptance import Check, checks_of
from roofline.exports.comparison import Detail, comparison_record, render_comparison
from tests.compare.runs import Row, make_run

# At 1e6 FLOP/us and 1e3 bytes/us: 10 us of memory, 1 us of arithmetic, at half of the roof.
BASE = Row(name="fusion.1", operands="bf16[100,50]; bf16[50,10]", time_us=20.0)
DOT = replace(BASE, name="dot.1", flop=4e7, bytes=1e4, time_us=80.0)  # 40 us of arithmetic


def checks(a: list[Row], b: list[Row], exposed: tuple[float, float] = (0, 0)) -> dict[str, Check]:
    found = compare([make_run(a, exposed_us=exposed[0])], [make_run(b, exposed_us=exposed[1])])
    return {one.id: one for one in checks_of(found)}


def test_equal_runs_test_no_change() -> None:
    found = checks([BASE, DOT], [BASE, DOT])
    states = {name: one.state.value for name, one in found.items()}
    assert states == {
        "classification": "untested",
        "time_bounds": "held",
        "lever": "untested",
        "dtype": "untested",
        "distributed_flip": "untested",
    }
    assert found["classification"].numbers["memory_bound_share_a"] == pytest.approx(0.2)


@pytest.mark.covers(248)
@pytest.mark.parametrize(("time_us", "state"), [(10.0, "held"), (20.0, "broken")])
def test_time_follows_the_resource_that_binds(time_us: float, state: str) -> None:
    """Half of the bytes with the same FLOPs: a memory-bound operation takes half of the time."""
    found = checks([BASE], [replace(BASE, bytes=5e3, time_us=time_us)])
    assert found["classification"].state == state
    assert found["lever"].state == state
    assert found["lever"].numbers["predicted_us"] == pytest.approx(-10)
    assert found["lever"].numbers["measured_us"] == pytest.approx(time_us - 20)


@pytest.mark.covers(246)
def test_a_changed_bound_is_counted() -> None:
    found = checks([BASE], [replace(BASE, flop=2e7, bytes=1e4, time_us=40.0)])
    assert found["classification"].numbers["flips"] == 1
    assert found["classification"].numbers["memory_bound_share_b"] == 0


@pytest.mark.covers(247)
def test_time_is_between_its_bounds_or_the_rest_is_told() -> None:
    between = replace(BASE, time_us=10.5)  # T min 10, T max 11
    found = checks([BASE], [between])["time_bounds"]
    assert (found.state, found.numbers["between_share"]) == ("held", 1.0)
    beyond = checks([BASE], [BASE])["time_bounds"].numbers
    assert beyond["above_t_max_us"] == pytest.approx(9)
    impossible = checks([BASE], [replace(BASE, time_us=5.0)])["time_bounds"]
    assert (impossible.state, impossible.numbers["below_share"]) == ("broken", 1.0)


@pytest.mark.covers(249)
@pytest.mark.parametrize(("left", "state"), [(0.52, "held"), (1.0, "broken")])
def test_bytes_follow_the_element_types(left: float, state: str) -> None:
    """bf16 to int8 with all tensors: half of the bytes, unless the program converts them back."""
    after = replace(BASE, operands="s8[100,50]; s8[50,10]", bytes=1e4 * left)
    found = checks([BASE], [after])["dtype"]
    assert found.state == state
    assert found.numbers["expected_bytes_ratio"] == pytest.approx(0.5)
    assert found.numbers["bytes_ratio"] == pytest.approx(left)


@pytest.mark.covers(219, 220)
def test_threshold_in_rows_halves_with_the_weights_alone() -> None:
    """B* = ridge · w / 2 with a ridge of 1000: 1000 rows of two bytes, 500 of one."""
    after = replace(BASE, operands="bf16[100,50]; s8[50,10]", bytes=9.5e3)
    numbers = checks([BASE], [after])["dtype"].numbers
    assert (numbers["rows_a"], numbers["rows_b"]) == pytest.approx((1000, 500))
    after = replace(BASE, operands="s8[100,50]; bf16[50,10]", bytes=6e3)
    numbers = checks([BASE], [after])["dtype"].numbers
    assert (numbers["rows_a"], numbers["rows_b"]) == pytest.approx((1000, 1000)), "inputs alone"


@pytest.mark.covers(250)
def test_communication_that_becomes_longer_than_the_work_is_told() -> None:
    found = checks([BASE], [BASE], exposed=(1.0, 30.0))["distributed_flip"]
    assert found.state == "told"
    assert (found.numbers["exposed_b_us"], found.numbers["at_roof_b_us"]) == pytest.approx((30, 10))
    assert found.said[0].get("text") == "The longer of the two changed"


def test_a_run_without_a_known_roof_time_has_no_longer_part() -> None:
    """Unknown work at the roof is not a work of 0 s."""
    unknown = replace(BASE, flop=float("nan"), bytes=float("nan"))
    found = checks([BASE], [unknown], exposed=(1.0, 30.0))["distributed_flip"]
    assert found.state == "untested"


def test_crossover_is_that_of_the_link_of_the_device() -> None:
    """TPU v5e: 2 bytes · 197e12 ÷ 50e9; the guide has 8,755 with a link of 45 GB/s."""
    runs = [make_run([BASE], exposed_us=1, device="TPU v5e", peaks=(1.97e8, 8.2e5))] * 2
    found = checks_of(compare(runs[:1], runs[1:]))[-1]
    assert found.numbers["crossover_size"] == pytest.approx(7_880)


def test_operations_without_cost_are_not_tested() -> None:
    unknown = replace(BASE, flop=float("nan"), bytes=float("nan"))
    assert {one.state for one in checks([unknown], [unknown]).values()} == {"untested"}


def test_checks_are_in_every_form() -> None:
    found = compare([make_run([BASE])], [make_run([replace(BASE, bytes=5e3, time_us=10.0)])])
    lever = comparison_record(found)["checks"][2]
    assert (lever["id"], lever["state"], lever["hit_ratio"]) == ("lever", "held", 1.0)
    for form in ("text", "markdown"):
        said = " ".join(
            render_comparison(found, form, detail=Detail(has_terms=True)).decode().split()
        )
        assert "Lever: yes. 1 operation changed work" in said
