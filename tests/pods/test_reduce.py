"""Order, batches and repetition cannot change a byte; a partial is the same after a round trip."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.exports.run_report import render_run
from roofline.pods.blocks import blocks
from roofline.pods.partial import Names, Partial, spool
from roofline.pods.reduce import reduce_run
from roofline.pods.report import Unreadable
from tests.pods import runs

HOSTS = [
    runs.with_collective(one, [[100 + 7 * k, 50]] * runs.CHIPS, group_size=4 * 12)
    for k, one in enumerate(runs.run(11, hosts=12, fault=runs.slow_chip(3, 1, 1.04)))
]
BROKEN = [Unreadable(name="a.pb", digest="1", reason="cut off at byte 7")]
WANTED = render_run(reduce_run(HOSTS, BROKEN), "json")


@settings(max_examples=100, deadline=None)
@given(st.permutations(range(len(HOSTS))), st.lists(st.sampled_from(range(len(HOSTS)))))
def test_order_and_repetition_change_no_byte(order: list[int], again: list[int]) -> None:
    given_hosts = [HOSTS[k] for k in (*order, *again)]
    assert render_run(reduce_run(given_hosts, BROKEN * 2), "json") == WANTED


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1))
def test_batches_of_bytes_change_no_byte(sizes: list[int]) -> None:
    """Partials travel as bytes, in batches that come in any order."""
    table = {one.names.digest: Names.read(one.names.content) for one in HOSTS}
    rest, batches = [one.content() for one in HOSTS], []
    for size in sizes:
        batches.append(rest[:size])
        rest = rest[size:]
    arrived = [content for batch in reversed([*batches, rest]) for content in batch]
    hosts = [Partial.read(content, table.__getitem__) for content in arrived]
    assert render_run(reduce_run(hosts, BROKEN), "json") == WANTED


def test_partials_on_disk_give_the_same_bytes() -> None:
    with spool() as kept:
        for host in HOSTS:
            kept.add(host)
        report = reduce_run(kept.partials(), BROKEN, release=kept.release)
        assert render_run(report, "json") == WANTED


def test_blocks_of_any_size_hold_the_same_operations() -> None:
    (whole,) = blocks(HOSTS)
    parts = list(blocks(HOSTS, size=7))
    assert len(parts) == 3
    assert np.array_equal(np.concatenate([one.work_ps for one in parts], axis=1), whole.work_ps)
    assert np.array_equal(
        np.concatenate([one.quantities for one in parts], axis=2), whole.quantities
    )


def test_hosts_of_other_programs_keep_their_operations_apart() -> None:
    other = Names(tuple(replace(key, program="jit_other") for key in HOSTS[1].names.keys))
    header = replace(HOSTS[1].header, names=other.digest)
    report = reduce_run([HOSTS[0], replace(HOSTS[1], names=other, header=header), HOSTS[2]])
    hosts = {one.key.program: one.hosts for one in report.ops}
    assert hosts == {"jit_step": 2, "jit_other": 1}


def test_another_file_changes_the_digest() -> None:
    digests = {
        reduce_run(hosts, broken).digest for hosts in (HOSTS, HOSTS[:-1]) for broken in (BROKEN, [])
    }
    assert len(digests) == 4


def test_files_of_one_host_are_told_apart_by_name() -> None:
    first = HOSTS[0]
    header = replace(first.header, file_name="copy.pb", file_digest="f" * 64)
    found = [one.host for one in reduce_run([first, replace(first, header=header)]).hosts]
    assert found == ["host-0000 (copy.pb)", "host-0000 (host-0000.xplane.pb)"]


def test_numbers_in_names_of_hosts_count() -> None:
    names = ["w-10", "w-9", "w-1", "x", "w-010", "10", "9"]
    hosts = [
        replace(one, header=replace(one.header, host=name))
        for one, name in zip(runs.run(1, hosts=len(names)), names, strict=True)
    ]
    found = [one.host for one in reduce_run(hosts).hosts]
    assert found == ["9", "10", "w-1", "w-9", "w-010", "w-10", "x"]


def test_a_run_without_hosts() -> None:
    report = reduce_run([], BROKEN)
    assert (report.ops, report.steps, report.representative) == ((), (), None)
    assert render_run(report, "text").startswith(b"0 of 1 host read.")


def test_other_content_is_not_a_partial() -> None:
    with pytest.raises(ValueError, match="not a partial"):
        Partial.read(b"PK\x03\x04 something else", lambda _digest: runs.names())
