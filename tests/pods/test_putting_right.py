"""What putting hosts right would bring, bandwidths, deviations, and the work of the median host."""

from dataclasses import replace

import numpy as np
import pytest

from roofline.exports.run_report import run_record
from roofline.pods.definitions import gains
from roofline.pods.partial import BYTES, BYTES_KNOWN, FLOP, FLOP_KNOWN, KNOWN, SELF, Names, Partial
from roofline.pods.reduce import reduce_run
from tests.pods import runs

SLOW = runs.run(5, hosts=16, fault=runs.slow_chip(7, 1, 1.08))


def without_bytes(host: Partial, op: int) -> Partial:
    ops = host.ops.copy()
    ops[KNOWN, op] &= FLOP_KNOWN
    return replace(host, ops=ops)


def test_gains_add_up_to_the_cost() -> None:
    two = [*SLOW]
    two[11] = runs.run(5, hosts=16, fault=runs.slow_chip(11, 0, 1.05))[11]
    run = reduce_run(two)
    assert [one.host for one in run.gains] == ["host-0007", "host-0011", None]
    assert sum(one.share for one in run.gains) == pytest.approx(run.cost_ratio)
    first, second, rest = (one.share for one in run.gains)
    # With the worst host right, the next one sets the pace: 1.08 falls to 1.05, not to 1.
    assert first == pytest.approx(1 - 1.05 / 1.08, abs=0.004)
    assert second > first
    assert 0 < rest < 0.01


def test_a_host_that_never_sets_the_pace_brings_nothing() -> None:
    hosts = reduce_run(SLOW).hosts
    work = np.full((16, 3), 100)
    work[7], work[2] = 110, 120  # the one that sets the pace has no verdict
    found = gains(hosts, work)
    assert [(one.host, one.share) for one in found] == [
        ("host-0007", 0.0),
        (None, pytest.approx(1 / 6)),
    ]


def test_without_a_verdict_there_are_no_gains() -> None:
    few = reduce_run(SLOW[:3])
    assert few.gains == ()
    assert {one.score for one in few.hosts} == {None}
    assert reduce_run([]).gains == ()


def test_only_outliers_have_deviations_and_the_largest_come_first() -> None:
    run = reduce_run(SLOW)
    assert [one.host for one in run.hosts if one.deviations] == ["host-0007"]
    found = run.hosts[7].deviations
    away = [one.time_ps - one.representative_ps for one in found]
    assert len(found) == 10
    assert away == sorted(away, key=abs, reverse=True)
    own = dict(zip(SLOW[7].names.keys, SLOW[7].ops[SELF] // runs.CHIPS, strict=True))
    assert all(one.time_ps == own[one.key] for one in found)
    assert run.hosts[7].score is not None
    assert run.hosts[7].score > 3.5


def test_a_bandwidth_counts_only_work_of_known_bytes() -> None:
    host = SLOW[0]
    run = reduce_run([without_bytes(host, 3), *SLOW[1:]])
    kept = np.arange(runs.OPS) != 3
    wanted = host.ops[BYTES, kept].sum() * 1e12 / host.ops[SELF, kept].sum()
    assert run.hosts[0].bandwidth == pytest.approx(wanted)
    by_name = {one.key.name: one for one in run.ops}
    assert by_name["fusion.0003"].bytes is None
    assert by_name["fusion.0003"].flop == SLOW[0].ops[FLOP, 3] // runs.CHIPS
    record = run_record(run)
    assert record["hosts"][0]["memory_bandwidth_gibs"] == pytest.approx(wanted / 2**30)


def test_collectives_and_containers_are_no_part_of_the_bandwidth() -> None:
    kinds = {0: "all-reduce", 1: "while", 2: "copy-start"}
    keys = runs.names().keys
    names = Names(tuple(replace(k, category=kinds.get(n, k.category)) for n, k in enumerate(keys)))
    hosts = [
        replace(one, names=names, header=replace(one.header, names=names.digest)) for one in SLOW
    ]
    found = reduce_run(hosts).hosts[0].bandwidth
    assert found == pytest.approx(SLOW[0].ops[BYTES, 3:].sum() * 1e12 / SLOW[0].ops[SELF, 3:].sum())


def test_without_known_bytes_the_bandwidth_is_unknown() -> None:
    host = SLOW[0]
    ops = host.ops.copy()
    ops[KNOWN] &= ~BYTES_KNOWN
    assert reduce_run([replace(host, ops=ops)]).hosts[0].bandwidth is None
