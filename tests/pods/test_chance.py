"""Chance by hand, and clean runs of many kinds of noise, none of which accuses a host."""

from math import comb

import numpy as np
import pytest

from roofline.pods import judging
from roofline.pods.reduce import reduce_run
from roofline.pods.report import Verdict
from tests.pods import noises, runs

HOSTS = np.arange(12)
NONE_APART = np.zeros(12, np.bool_)


def excess(first: float, steps: int = 4) -> noises.F64:
    """Hosts whose values are 0.1 % out, up and down, but for the first."""
    found = np.where(np.arange(12 * steps) % 2, 0.001, -0.001).reshape(12, steps)
    found[0] = first
    return found


def test_lasting_chance_by_hand() -> None:
    found = judging.lasting_chance(excess(0.003), HOSTS, NONE_APART)
    # 4 steps of 10 hosts tell the noise, of which 0.1 % is the largest tenth: place 36 of 40, so 5
    # and more lie there. Three of four steps lie three times as far out: Chernoff's bound of it.
    share = (5 / 41 * 6 / 42 * 7 / 43) ** (1 / 3)
    each = share / 3**2
    wanted = 12 * (each / 0.75) ** 3 * (1 - each) / 0.25
    assert found[0] == pytest.approx(wanted)
    assert wanted > 12 * 4 * each**3 * (1 - each)  # the bound is above the probability itself
    # Values that are not above the largest tenth say nothing.
    assert found[1:].tolist() == [1.0] * 11


def test_far_out_chance_falls_as_that_of_heavy_tails() -> None:
    near, far = (
        judging.lasting_chance(excess(one, steps=3), HOSTS, NONE_APART)[0] for one in (0.004, 0.04)
    )
    # Of all of three steps: to the power of three; ten times as far is a thousandth, as with t3.
    assert far / near == pytest.approx(1e-3**3)


def test_of_few_values_none_is_chance_free() -> None:
    alone = judging.lasting_chance(excess(0.5, steps=1)[:7], HOSTS[:7], NONE_APART[:7])
    assert alone.tolist() == [1.0] * 7


def test_repeated_chance_by_hand() -> None:
    far_out = np.zeros((24, 12), np.bool_)
    far_out[3, [2, 6, 7]] = True
    found = judging.repeated_chance(far_out)
    # None of 276 elsewhere: three of twelve with a rate of which Beta(1/2, 276.5) is known.
    three = comb(12, 3) * 0.5 * 1.5 * 2.5 / (277 * 278 * 279)
    assert found[3] == pytest.approx(24 * three, rel=0.1)
    assert found[0] == 1.0
    # Two such steps among 24 hosts are met by chance too often, and a rate seen elsewhere counts.
    far_out[3, 7] = False
    assert judging.repeated_chance(far_out)[3] > judging.ALLOWED_REPEATED
    far_out[[3, 9, 10], [7, 1, 1]] = True
    assert judging.repeated_chance(far_out)[3] > judging.ALLOWED_REPEATED


def test_thousands_of_steps_are_counted_without_overflow() -> None:
    far_out = np.zeros((4, 5_000), np.bool_)
    far_out[1, ::3] = True
    assert judging.repeated_chance(far_out)[1] == pytest.approx(0.0)


@pytest.mark.parametrize("name", noises.NOISES)
def test_no_noise_accuses_a_host(name: str) -> None:
    """By score and limit alone, one of two such runs with heavy tails accused a host."""
    for shape in ((4, 1, 4), (6, 8, 3), (8, 1, 12), (24, 4, 12)):
        assert noises.false_alarms(name, shape, 8) == 0, shape


@pytest.mark.parametrize("seed", [137, 220, 348])
def test_the_median_host_of_a_step_tells_no_noise(seed: int) -> None:
    """Its value is 0 by definition. With it 6 of 1,000 such runs accused one of four hosts."""
    times = noises.factors(seed, (4, 1, 4), noises.NOISES["whole steps, 3 %"])
    assert noises.accused(times) == [None] * 4


@pytest.mark.parametrize("slow", [1, 4])
def test_slow_hosts_are_found_beside_each_other(slow: int) -> None:
    times = noises.factors(1, (24, 2, 3), noises.NOISES["normal, 0.4 %"])
    times[:slow] *= 1.05
    assert noises.accused(times) == [Verdict.SLOW_HOST] * slow + [None] * (24 - slow)


def test_one_stall_is_not_a_slow_host() -> None:
    times = noises.factors(1, (24, 2, 3), noises.NOISES["normal, 0.4 %"])
    times[5, :, 1] *= 30
    assert noises.accused(times) == [None] * 24


@pytest.mark.parametrize("steps", [1, 2])
def test_of_few_steps_the_spread_of_hosts_decides(steps: int) -> None:
    """A capture without marks of steps counts as one; most captures of pods have none."""
    hosts = [runs.first_steps(one, steps) for one in runs.run(0, fault=runs.slow_chip(1, 0, 1.03))]
    report = reduce_run(hosts)
    assert report.no_verdict is None
    assert [one.verdict for one in report.hosts] == [None, Verdict.SLOW_CHIP] + [None] * 22
    assert report.hosts[1].same_work_ratio == pytest.approx(1.03, abs=0.01)


@pytest.mark.parametrize("name", ["normal, 0.4 %", "normal, 8 %", "steps of all hosts, 8 %"])
def test_few_steps_accuse_a_host_in_one_of_a_hundred_clean_runs(name: str) -> None:
    shapes = ((4, 1, 1), (5, 8, 2), (8, 1, 1), (24, 4, 2))
    assert sum(noises.false_alarms(name, shape, 50) for shape in shapes) <= 2


def test_apart_chance_by_hand() -> None:
    # The others: -0.002, 0, 0.002: a deviation of 0.002, with two degrees of freedom.
    values = np.array([0.0, -0.002, 0.002, 0.05])
    apart = np.array([False, False, False, True])
    found = judging.apart_chance(values, np.arange(4), apart)
    out = 0.05 / (0.002 * (4 / 3) ** 0.5)
    tail = 0.5 - out / (2 * (2 + out**2) ** 0.5)  # of Student's t with two degrees of freedom
    assert found.tolist() == [1.0, 1.0, 1.0, pytest.approx(4 * tail)]
    assert judging.apart_chance(values[2:], np.arange(2), apart[2:]).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("freedom", "value", "tail"),
    [(1, 1.0, 0.25), (2, 1.885618, 0.1), (3, 2.353363, 0.05), (10, 2.763769, 0.01),
     (31, 3.374899, 0.001), (200, 2.345137, 0.01), (1_000, 2.326348, 0.01)],
)  # fmt: skip
def test_tail_of_students_t_as_in_tables(freedom: int, value: float, tail: float) -> None:
    assert judging._student_tail(value, freedom) == pytest.approx(tail, rel=1e-4)


@pytest.mark.parametrize(
    ("hosts", "steps", "wanted"),
    [(24, [2, 5], Verdict.INTERMITTENT), (8, [1, 2, 6], Verdict.INTERMITTENT), (8, [2, 5], None)],
)
def test_slow_steps_that_no_other_host_has(
    hosts: int, steps: list[int], wanted: Verdict | None
) -> None:
    """Two stalls meet on one of eight hosts now and then; three do not."""
    report = reduce_run(runs.run(1, hosts=hosts, fault=runs.slow_now_and_then(3, steps, 1.085)))
    assert report.hosts[3].verdict is wanted
    assert [one.host for one in report.hosts if one.verdict] == ["host-0003"] * bool(wanted)


@pytest.mark.parametrize(("hosts", "steps"), [(4, 4), (5, 3), (6, 3), (4_096, 3)])
def test_steps_that_tell_the_noise(hosts: int, steps: int) -> None:
    assert judging.fewest_steps(hosts) == steps
