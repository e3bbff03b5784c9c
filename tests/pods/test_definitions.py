"""Formulas of a run, by hand; planted faults are found, and clean runs have none."""

from dataclasses import replace

import numpy as np
import pytest

from roofline.exports.run_page import answer_of
from roofline.exports.run_report import run_record, run_verdict
from roofline.pods import definitions
from roofline.pods.partial import KNOWN, Names, Partial
from roofline.pods.reduce import reduce_run
from roofline.pods.report import NoVerdict, RunReport, State, Unreadable, Verdict, WaitBound
from roofline.presentation.sentences import plain_text
from tests.pods import runs


def verdicts(report: RunReport) -> dict[str, str]:
    """The hosts that have a verdict."""
    return {one.host: one.verdict.value for one in report.hosts if one.verdict is not None}


def test_spread_by_hand() -> None:
    found = definitions.spread(np.array([[10], [30], [20], [20]], np.int64))
    columns = (found.least, found.median, found.p95, found.largest, found.worst)
    assert [one.tolist() for one in columns] == [[10], [20], [30], [30], [1]]
    # Each host's time below the largest: 20 + 0 + 10 + 10.
    assert found.lost == 40


def test_the_lower_median_and_p95_are_real_values() -> None:
    assert definitions.lower_median(np.array([1, 4, 2, 8], np.int64)) == 2
    assert [definitions.rank_of_p95(count) + 1 for count in (1, 4, 20, 21, 100)] == [
        1, 4, 19, 20, 95,
    ]  # fmt: skip


def test_score_by_hand() -> None:
    values = np.array([100, 101, 99, 100, 110], np.int64)
    # Median 100, deviations 0 0 1 1 10, MAD 1: 10 / 1.4826.
    assert definitions.scores(values)[-1] == pytest.approx(10 / 1.4826)
    # All equal but one: half a percent of the median is the least spread.
    assert definitions.scores(np.array([200, 200, 200, 206]))[-1] == pytest.approx(6.0)


@pytest.mark.parametrize("seed", range(5))
def test_a_slow_chip_is_found_though_its_host_dilutes_it(seed: int) -> None:
    report = reduce_run(runs.run(seed, fault=runs.slow_chip(7, 2, 1.03)))
    assert verdicts(report) == {"host-0007": Verdict.SLOW_CHIP}
    host = report.hosts[7]
    assert [chip.is_slow for chip in host.chips] == [False, False, True, False]
    assert host.same_work_ratio == pytest.approx(1.03, abs=0.003)
    # The mean over the host's chips is only 0.75 % more.
    assert host.work_ps is not None
    others = [one.work_ps for one in report.hosts if one.work_ps is not None and one is not host]
    assert host.work_ps < 1.02 * float(np.median(others))
    assert "(/device:TPU:2)" in run_verdict(report)


def test_all_chips_of_a_host_slow_is_a_slow_host() -> None:
    steps = range(runs.STEPS)
    report = reduce_run(runs.run(1, fault=runs.slow_now_and_then(3, steps, 1.05)))
    assert verdicts(report) == {"host-0003": Verdict.SLOW_HOST}
    assert report.cost_ratio == pytest.approx(1 - 1 / 1.05, abs=0.004)


@pytest.mark.parametrize("seed", range(5))
def test_slow_now_and_then_is_intermittent(seed: int) -> None:
    report = reduce_run(runs.run(seed, fault=runs.slow_now_and_then(5, (2, 6, 7), 1.08)))
    assert verdicts(report) == {"host-0005": Verdict.INTERMITTENT}
    assert report.hosts[5].slow_steps == 3
    assert [one.critical_host for one in report.steps if one.step in ("2", "6", "7")] == [
        "host-0005"
    ] * 3


@pytest.mark.parametrize("seed", range(5))
def test_more_work_everywhere_is_divided_by_the_work(seed: int) -> None:
    hosts = runs.run(seed)
    hosts[4] = runs.given_more(hosts[4], 1.05)
    report = reduce_run(hosts)
    assert verdicts(report) == {"host-0004": Verdict.MORE_WORK}
    assert all(chip.divided for chip in report.hosts[4].chips)
    assert report.hosts[4].same_work_ratio == pytest.approx(1.0, abs=0.01)


def test_without_known_work_the_cause_of_a_straggler_is_unknown() -> None:
    hosts = runs.run(0, fault=runs.slow_now_and_then(4, range(runs.STEPS), 1.05))
    for host in hosts:
        host.ops[KNOWN] = 0
    report = reduce_run(hosts)
    assert verdicts(report) == {"host-0004": Verdict.STRAGGLER}
    assert report.hosts[4].same_work_ratio is None


def test_late_network_accuses_no_host() -> None:
    """A long collective is the wait of a victim: hosts are judged by their work."""
    clean = runs.run(3)
    late = [
        runs.with_collective(one, [[9_000 if k else 100] * 3] * runs.CHIPS, group_size=96)
        for k, one in enumerate(clean)
    ]
    report = reduce_run(late)
    assert verdicts(report) == {}
    assert report.collectives[0].waited_for == "host-0000"


def test_no_verdict_in_clean_runs() -> None:
    for seed in range(100):
        assert verdicts(reduce_run(runs.run(seed))) == {}, seed


@pytest.mark.parametrize(("hosts", "chips"), [(24, 4), (8, 1)])
def test_noise_of_a_short_capture_accuses_no_chip(hosts: int, chips: int) -> None:
    """Noise of 8 %: by score and limit alone, one host of 150 was accused."""
    for seed in range(25):
        noisy = runs.run(seed, hosts=hosts, chips=chips, noise=0.08)
        assert verdicts(reduce_run(noisy)) == {}, seed


def test_a_slow_chip_is_found_through_noise() -> None:
    noisy = runs.run(1, noise=0.08, fault=runs.slow_chip(7, 2, 1.12))
    assert verdicts(reduce_run(noisy)) == {"host-0007": Verdict.SLOW_CHIP}


def test_three_hosts_have_values_and_no_verdict() -> None:
    report = reduce_run(runs.run(0, hosts=3, fault=runs.slow_chip(1, 0, 1.5)))
    assert verdicts(report) == {}
    assert report.no_verdict is NoVerdict.FEW_HOSTS
    assert report.hosts[1].same_work_ratio == pytest.approx(1.5, abs=0.01)
    assert "A verdict needs at least 4" in run_verdict(report)


def test_too_few_readable_hosts_have_no_verdict() -> None:
    hosts = runs.run(0, hosts=17, fault=runs.slow_chip(1, 0, 1.5))
    broken = [Unreadable(name=f"{k}.pb", digest=str(k), reason="cut off") for k in range(3)]
    report = reduce_run(hosts, broken)
    assert report.no_verdict is NoVerdict.UNREADABLE
    assert verdicts(report) == {}
    assert [one.host for one in report.hosts if one.state is State.UNREADABLE] == [
        "0.pb", "1.pb", "2.pb",
    ]  # fmt: skip
    # One of 18 is less than a tenth.
    assert verdicts(reduce_run(hosts, broken[:1])) == {"host-0001": Verdict.SLOW_CHIP}


def test_a_host_without_an_accelerator_takes_no_part() -> None:
    hosts = runs.run(0)
    hosts[2] = replace(hosts[2], header=replace(hosts[2].header, has_accelerator=False))
    report = reduce_run(hosts)
    assert report.hosts[2].state is State.NO_ACCELERATOR
    assert report.hosts[2].work_ps is None
    assert {one.hosts for one in report.ops} == {len(hosts) - 1}


@pytest.mark.parametrize("has_each", [True, False])
def test_a_host_whose_input_is_late_is_named_though_it_does_not_work_longer(
    has_each: bool,
) -> None:
    """All wait for it in collectives, in which it is the shortest time.

    Sums would be the same after one long stall: they name no host.
    """
    clean = runs.run(3, hosts=8)
    step_ps = int(clean[0].step_work_ps[0].mean())
    for late_at, share in ((5, 0.04), (5, 0.005), (None, 0.0)):
        waits = [round(step_ps * share) * (k != late_at) + 1_000 for k in range(8)]
        hosts = [
            runs.with_collective(one, [[wait] * runs.STEPS] * runs.CHIPS, group_size=32)
            for one, wait in zip(clean, waits, strict=True)
        ]
        if not has_each:
            hosts = [replace(one, each=one.each[:, :0]) for one in hosts]
        report = reduce_run(hosts)
        assert verdicts(report) == {}
        if share < 0.02 or not has_each:
            assert report.late is None
            assert run_verdict(report) == "8 of 8 hosts read. No host works longer than the others."
        else:
            assert report.late is not None
            assert report.late.host == "host-0005"
            assert report.late.share == pytest.approx(share, rel=0.02)
            assert "they wait for host-0005 in collectives" in run_verdict(report)


def test_one_long_wait_of_many_is_not_being_late() -> None:
    """As when one profiler starts later: of single times the median counts."""
    clean = runs.run(3, hosts=8)
    whole_ps = int(clean[0].chip_ps[0])
    hosts = [
        runs.with_collective(one, [[1_000 + whole_ps * (k != 5)] + [1_000] * 11] * 4, group_size=32)
        for k, one in enumerate(clean)
    ]
    assert reduce_run(hosts).late is None


def test_two_times_of_a_collective_tell_nobody_late() -> None:
    hosts = [
        runs.with_collective(one, [[9**9 * (k != 5)] * 2] * 4, group_size=32)
        for k, one in enumerate(runs.run(3, hosts=8))
    ]
    assert reduce_run(hosts).late is None


@pytest.mark.parametrize("times", [3, 60])
def test_noise_before_collectives_makes_nobody_late(times: int) -> None:
    """Heavy tails, where a wait is as often half a step as not: by sums half of runs named one."""
    clean = runs.run(3, hosts=16, chips=1)
    step_ps = int(clean[0].step_work_ps[0].mean()) * runs.STEPS // times
    for seed in range(20):
        begun = np.abs(np.random.default_rng(seed).standard_t(2, (16, times))) * 0.2
        waits = np.rint((begun.max(axis=0) - begun) * step_ps).astype(np.int64) + 1_000
        hosts = [
            runs.with_collective(one, [own.tolist()], group_size=16)
            for one, own in zip(clean, waits, strict=True)
        ]
        assert reduce_run(hosts).late is None, seed


def test_hosts_of_several_programs_are_not_judged() -> None:
    hosts = runs.run(0, hosts=20)
    for others, is_judged in ((1, True), (2, True), (3, False), (10, False)):
        mixed = [*hosts[others:], *map(runs.of_another_run, hosts[:others])]
        report = reduce_run(mixed)
        assert (report.no_verdict is None) == is_judged, others
        assert verdicts(report) == {}


def test_a_host_of_another_program_is_named_and_takes_no_part() -> None:
    """It was said to have more work."""
    hosts = runs.run(0, hosts=20, fault=runs.slow_chip(7, 2, 1.05))
    mixed = [*hosts[:3], runs.of_another_run(hosts[3]), *hosts[4:]]
    report = reduce_run(mixed)
    assert verdicts(report) == {"host-0007": Verdict.SLOW_CHIP}
    other = report.hosts[3]
    assert (other.state, other.work_ps) == (State.OTHER_PROGRAM, None)
    assert other.reason == "It ran jit_other, in which most hosts did no work."
    assert {one.key.program for one in report.ops} == {"jit_step"}
    assert "1 of them with another program (host-0003), which takes no part" in run_verdict(report)
    page = plain_text(answer_of(run_record(report)).lead)
    assert "host-0003 ran another program and takes no part." in page


def test_the_longer_one_of_two_equal_programs_does_not_part_hosts() -> None:
    hosts = []
    for k, one in enumerate(runs.run(0, hosts=12)):
        half = len(one.names.keys) // 2
        keys = [
            replace(key, program="jit_train" if at < half else "jit_eval")
            for at, key in enumerate(one.names.keys)
        ]
        # One host has no operation of its own name: tables differ, or all were equal at once.
        keys[0] = replace(keys[0], name=f"fusion.{'x' * (k % 2)}")
        order = sorted(range(len(keys)), key=lambda at: keys[at])
        names = Names(tuple(keys[at] for at in order))
        work = one.work_ps[:, order].copy()
        longer = "jit_train" if k % 2 else "jit_eval"
        work[:, [key.program == longer for key in names.keys]] *= 3
        header = replace(one.header, names=names.digest)
        hosts.append(replace(one, names=names, header=header, work_ps=work))
    report = reduce_run(hosts)
    assert report.no_verdict is None
    assert {one.state for one in report.hosts} == {State.READ}


def test_numbers_of_namesakes_are_not_several_programs() -> None:
    hosts = [runs.of_another_run(one) for one in runs.run(0, hosts=8)]
    renamed = [
        replace(one, names=names, header=replace(one.header, names=names.digest))
        for k, one in enumerate(hosts)
        for names in [Names(tuple(replace(key, program=f"f({k})") for key in one.names.keys))]
    ]
    assert reduce_run(renamed).no_verdict is None


def test_a_shorter_capture_is_said_to_be_shorter() -> None:
    hosts = runs.run(0, hosts=8)
    hosts[2], hosts[5] = runs.first_steps(hosts[2], 5), runs.first_steps(hosts[5], 11)
    found = [one.reason for one in reduce_run(hosts).hosts]
    assert found[2] == "Its capture is shorter: it has 5 steps, that of the median host 12."
    assert found[:2] + found[3:] == [""] * 7, "one step of twelve is lost at either end"


def test_a_host_whose_accelerator_did_nothing_takes_no_part() -> None:
    hosts = runs.run(0, hosts=8)
    names = ("work_ps", "chip_ps", "step_work_ps", "ops")
    hosts[4] = replace(hosts[4], **{name: getattr(hosts[4], name) * 0 for name in names})
    report = reduce_run(hosts)
    assert report.hosts[4].state is State.NO_ACCELERATOR
    assert {one.imbalance_ratio for one in report.ops if (one.imbalance_ratio or 0) > 0.05} == set()
    assert "8 of 8 hosts read, 1 of them without work on an accelerator" in run_verdict(report)


def test_waits_by_instance_by_hand() -> None:
    first, second = runs.run(0, hosts=2, chips=1)
    hosts = [
        runs.with_collective(first, [[10, 50, 12]], group_size=2),
        runs.with_collective(second, [[30, 20, 12]], group_size=2),
    ]
    report = reduce_run(hosts)
    (found,) = report.collectives
    # Transfers 10 + 20 + 12; the first host waits 30 in the second instance, the other 20.
    assert (found.transfer_ps, found.instances, found.ranks) == (42, 3, 2)
    assert [one.wait_ps for one in report.hosts] == [30, 20]
    assert (found.wait_bound, found.waited_for) == (WaitBound.EXACT, "host-0001")


def test_sums_bound_the_wait_from_below() -> None:
    first, second = runs.run(0, hosts=2, chips=1)
    hosts = [
        runs.with_collective(first, [[10, 50, 12]], group_size=2),
        runs.with_collective(second, [[30, 20, 12]], group_size=2),
    ]
    sums_only = [replace(one, each=one.each[:, :0]) for one in hosts]
    report = reduce_run(sums_only)
    assert [one.wait_ps for one in report.hosts] == [10, 0]
    assert report.hosts[0].wait_bound is WaitBound.AT_LEAST


def test_a_rank_that_took_part_less_often_did_not_wait_less() -> None:
    """Its capture is shorter: mean times are compared, and the wait is "about"."""
    first, second = runs.run(0, hosts=2, chips=1)
    hosts = [
        runs.with_collective(first, [[10, 10, 10, 30]], group_size=2),
        runs.with_collective(second, [[10, 10]], group_size=2),
    ]
    report = reduce_run(hosts)
    # The shortest mean is 10: 60 - 4 x 10. By sums alone the first waited 40.
    assert [one.wait_ps for one in report.hosts] == [20, 0]
    assert {one.wait_bound for one in report.collectives} == {WaitBound.ABOUT}
    assert report.collectives[0].instances == 0


def test_two_files_of_one_rank_are_not_judged() -> None:
    hosts = [_as_rank(one, k % 8) for k, one in enumerate(runs.run(0, hosts=16))]
    slow = runs.run(0, hosts=16, fault=runs.slow_chip(3, 0, 1.5))
    report = reduce_run([*hosts[:3], _as_rank(slow[3], 3), *hosts[4:]])
    assert report.no_verdict is NoVerdict.SEVERAL_CAPTURES
    assert verdicts(report) == {}
    assert "a rank has several files" in run_verdict(report)


def _as_rank(partial: Partial, number: int) -> Partial:
    header = replace(partial.header, known_rank=number, format_id="pytorch")
    return replace(partial, header=header)


def test_a_group_that_the_file_does_not_tell_is_all_ranks_at_most() -> None:
    hosts = [
        runs.with_collective(one, [[10 + k]], group_size=0, ranks="")
        for k, one in enumerate(runs.run(0, hosts=3, chips=1))
    ]
    report = reduce_run(hosts)
    assert report.collectives[0].wait_bound is WaitBound.AT_MOST
    assert [one.wait_ps for one in report.hosts] == [0, 1, 2]


def test_groups_wait_apart() -> None:
    hosts = [
        runs.with_collective(one, [[10 * (k + 1)]], group_size=2, ranks=f"[{k // 2}]")
        for k, one in enumerate(runs.run(0, hosts=4, chips=1))
    ]
    report = reduce_run(hosts)
    assert [one.wait_ps for one in report.hosts] == [0, 10, 0, 10]
    assert {one.wait_bound for one in report.collectives} == {WaitBound.EXACT}


def test_a_host_without_collectives_has_no_known_wait() -> None:
    report = reduce_run(runs.run(0, hosts=4))
    assert {one.wait_ps for one in report.hosts} == {None}


def test_time_lost_and_its_host_by_hand() -> None:
    report = reduce_run(runs.run(0, hosts=5, fault=runs.slow_chip(2, 1, 2.0)))
    assert {one.max_host for one in report.ops} == {"host-0002"}
    assert [one.lost_ps for one in report.ops] == sorted(
        (one.lost_ps for one in report.ops), reverse=True
    )
    worst = report.ops[0]
    # One of four chips takes twice as long: the host's mean is 5/4 of the others'.
    assert worst.max_ps == pytest.approx(1.25 * worst.median_ps, rel=0.01)
    assert worst.lost_ps == pytest.approx(4 * 0.25 * worst.median_ps, rel=0.03)
    assert worst.imbalance_ratio == pytest.approx(5 * 1.25 / 5.25 - 1, abs=0.01)
