"""Several hosts to one profile: ops add up, steps are aligned by time."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.reader import merge_hosts
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Diagnostic, Host, Profile, Severity
from tests.builders import counters, make_steps, profile_from_table, reported

US = 10**6
OPS = "op|category|self_us|flop|hbm_bytes|times|program\n"
SAME = OPS + "matmul|fusion|10|100|7|2|1"


def host(
    name: str,
    table: str = SAME,
    *,
    steps: Sequence[tuple[int, int]] | tuple[()] = (),
    device: ReportedDevice | None = None,
    **rest: Any,
) -> Profile:
    """The profile of one host; `steps` are (begin, end) in µs, each with a FLOP per µs."""
    device = device or reported()
    spans = [
        {"us": end - begin, "begin_us": begin, "end_us": end, "flop": end - begin, "hbm": 1}
        for begin, end in steps
    ]
    return profile_from_table(
        table,
        device=device,
        host=Host(file_name=f"{name}.pb", hostname=name, core_count=device.core_count),
        steps=make_steps(*spans),
        **rest,
    )


def merged(*hosts: Profile, compat: bool = False) -> Profile:
    return merge_hosts(hosts, Oddities(on=compat))


def steps_of(profile: Profile) -> list[tuple[str, int, int, int]]:
    """(label, begin, end, core-time) per step, in µs."""
    steps = profile.steps
    columns = (steps.begin_ps // US, steps.end_ps // US, steps.time_ps // US)
    return list(zip(steps.label, *(c.tolist() for c in columns), strict=True))


def codes(profile: Profile) -> list[str]:
    return [found.code for found in profile.diagnostics]


# ---------------------------------------------------------------------------------------------- ops


def test_equal_ops_of_one_program_become_one_row() -> None:
    profile = merged(host("a"), host("b", OPS + "matmul|fusion|30|5|1|3|1"))
    ops = profile.ops
    assert ops.name == ("matmul",)
    assert (ops.occurrences[0], ops.self_time_ps[0], ops.flop[0]) == (5, 40 * US, 105)
    assert ops.traffic_bytes[MemoryLevel.HBM].tolist() == [8]


def test_equal_names_of_several_programs_stay_apart() -> None:
    profile = merged(host("a"), host("b", OPS + "matmul|fusion|30|5|1|3|2"))
    assert profile.ops.name == ("matmul", "matmul")
    assert profile.ops.program_id.tolist() == [1, 2]


def test_category_is_the_first_known_one() -> None:
    profile = merged(host("a", OPS + "x|unknown|1|1|1|1|1"), host("b", OPS + "x|copy|1|1|1|1|1"))
    assert profile.ops.category == ("copy",)


def test_program_time_adds_up_and_wall_time_does_not() -> None:
    profile = merged(host("a", idle_us=5), host("b", idle_us=25))
    assert profile.time_ps == 50 * US
    assert profile.op_time_ps == 20 * US
    assert profile.wall_time_ps == 35 * US
    assert [one.hostname for one in profile.hosts] == ["a", "b"]


def test_program_names_of_all_hosts_are_known() -> None:
    one, two = host("a", program_names={1: "one"}), host("b", program_names={1: "x", 2: "two"})
    assert dict(merged(one, two).program_names) == {1: "one", 2: "two"}


def test_capture_starts_with_the_first_host() -> None:
    assert merged(host("a", captured_at_ns=7), host("b", captured_at_ns=5)).captured_at_ns == 5
    assert merged(host("a"), host("b")).captured_at_ns is None


# ----------------------------------------------------------------------------------------- device


FLAGGED = reported(cores=4, has_cmem=True, has_megacore=True, has_merged_vmem=True)


def test_on_chip_flags_survive_several_hosts_but_not_in_compat_mode() -> None:
    kept = merged(host("a", device=FLAGGED), host("b", device=FLAGGED)).device
    lost = merged(host("a", device=FLAGGED), host("b", device=FLAGGED), compat=True).device
    assert (kept.has_cmem, kept.has_megacore, kept.has_merged_vmem) == (True, True, True)
    assert (lost.has_cmem, lost.has_megacore, lost.has_merged_vmem) == (False, False, False)
    assert kept.core_count == lost.core_count == 8


def test_coordinator_without_device_adds_no_cores_and_hides_no_name() -> None:
    cpu = reported(kind=DeviceKind.CPU, name="", cores=0, gflops=None, gibs={})
    device = merged(host("a", device=FLAGGED), host("z", "", device=cpu)).device
    assert (device.kind, device.name, device.core_count) == (DeviceKind.TPU, "TPU v0", 4)
    assert device.peak_gflops == 1000


def test_hosts_without_any_device_keep_the_first() -> None:
    cpu = reported(kind=DeviceKind.CPU, name="", cores=0, gflops=None, gibs={})
    profile = merged(host("a", "", device=cpu), host("b", "", device=cpu))
    assert profile.device.kind is DeviceKind.CPU
    assert "no-steps" not in codes(profile)


def test_different_devices_are_reported() -> None:
    other = reported(name="TPU v9", gflops=2.0)
    assert "hosts-differ" in codes(merged(host("a"), host("b", device=other)))
    assert "hosts-differ" not in codes(merged(host("a"), host("b")))


@pytest.mark.parametrize(
    ("first", "second", "mean"),
    [((0.2, 0.4), (0.4, 0.0), (0.3, 0.2)), ((0.2, None), (0.4, 0.5), (0.3, None))],
    ids=["mean", "unknown where one host has none"],
)
def test_counters_are_the_mean_of_hosts(
    first: tuple[float, float | None], second: tuple[float, float], mean: tuple[float, float | None]
) -> None:
    hosts = [
        host(name, device=reported(counters=counters(*values)))
        for name, values in (("a", first), ("b", second))
    ]
    found = merged(*hosts).device.counters
    assert (found.matrix_unit_ratio, found.hbm_ratio) == pytest.approx(mean)


# ------------------------------------------------------------------------------------------- steps

# The chief is the host whose steps span the shortest time.
CASES = {
    "aligned": ([(0, 10), (10, 20)], [(1, 11), (11, 22)], [(0, 11), (10, 22)]),
    "one started earlier": (
        [(0, 10), (10, 20), (20, 30)],
        [(10, 20), (20, 30)],
        [(10, 20), (20, 30)],
    ),
    "one stopped earlier": ([(0, 10)], [(0, 10), (10, 20)], [(0, 10)]),
    "no overlap in time": ([(0, 10), (10, 20)], [(100, 110), (110, 121)], [(0, 110), (10, 121)]),
    "tie between no shift and one": (
        [(0, 10), (10, 20)],
        [(5, 15), (15, 27)],
        [(0, 15), (10, 27)],
    ),
    "tie between ahead and behind": ([(4, 8)], [(0, 6), (6, 12)], [(0, 8)]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("compat", [False, True])
def test_steps_are_shifted_to_where_they_overlap_most(case: str, compat: bool) -> None:
    first, second, expected = CASES[case]
    profile = merged(host("a", steps=first), host("b", steps=second), compat=compat)
    assert [(begin, end) for _, begin, end, _ in steps_of(profile)] == expected


def test_work_and_core_time_of_shared_steps_add_up() -> None:
    profile = merged(host("a", steps=[(0, 10), (10, 20)]), host("b", steps=[(10, 22)]))
    assert steps_of(profile) == [("0", 10, 22, 22)]
    assert profile.steps.sums.flop.tolist() == [[22, 0]]
    assert profile.steps.duration_ps.tolist() == [12 * US]


def test_equal_labels_are_kept_but_renumbered_in_compat_mode() -> None:
    steps = make_steps({"us": 5, "label": "7"}, {"us": 5, "label": "9"})
    hosts = [replace(host(name), steps=steps) for name in ("a", "b")]
    assert merged(*hosts).steps.label == ("7", "9")
    assert merged(*hosts, compat=True).steps.label == ("0", "1")


def test_different_labels_are_renumbered() -> None:
    labelled = [
        replace(host(name), steps=make_steps({"us": 5, "label": label}))
        for name, label in (("a", "7"), ("b", "9"))
    ]
    assert merged(*labelled).steps.label == ("0",)


def test_host_without_steps_leaves_none() -> None:
    profile = merged(host("a", steps=[(0, 10)]), host("b"))
    assert len(profile.steps) == 0
    assert codes(profile) == ["no-steps"]


def test_shifts_that_leave_nothing_are_reported() -> None:
    # Against the chief (a), b shifts by +2 and c by -1: no index is left in common.
    chief = host("a", steps=[(20, 22), (22, 24), (24, 26)])
    late = host("b", steps=[(24, 50)])
    early = host("c", steps=[(0, 19), (19, 23)])
    profile = merged(chief, late, early)
    assert len(profile.steps) == 0
    assert codes(profile) == ["steps-do-not-intersect"]


def test_steps_of_other_times_and_numbers_are_not_one_step() -> None:
    """One host has step 0 alone, one step 1, one both: added up, they were a step of no moment."""
    both = host("b", steps=[(0, 50), (50, 100)])
    first, second = host("a", steps=[(0, 50)]), host("c", steps=[(50, 100)])
    second = replace(second, steps=replace(second.steps, label=("1",)))
    for order in itertools.permutations([first, both, second]):
        profile = merged(*order)
        assert (len(profile.steps), codes(profile)) == (0, ["steps-do-not-intersect"])
    assert len(merged(first, both, second, compat=True).steps) == 1
    again = replace(second, steps=replace(second.steps, label=("0",)))
    assert len(merged(first, again).steps) == 1  # of one number: only the clocks differ


def test_coordinator_does_not_take_part_in_steps() -> None:
    cpu = reported(kind=DeviceKind.CPU, name="", cores=0, gflops=None, gibs={})
    profile = merged(host("a", steps=[(0, 10)]), host("b", "", device=cpu))
    assert len(profile.steps) == 1


# ------------------------------------------------------------------------------------- diagnostics


def noted(code: str, count: int = 1) -> Diagnostic:
    return Diagnostic(severity=Severity.WARNING, code=code, message=code, count=count)


def test_missing_steps_are_said_once_and_not_where_others_have_some() -> None:
    without = [host(name, diagnostics=[noted("no-steps")]) for name in ("a", "b")]
    assert codes(merged(*without)) == ["no-steps"]
    steps = [(0, 10)]
    stepped = [host(n, steps=steps, diagnostics=[noted("no-steps")]) for n in ("a", "b")]
    assert codes(merged(*stepped)) == []


def test_counts_of_hosts_add_up() -> None:
    hosts = [host(name, diagnostics=[noted("x", 3)]) for name in ("a", "b", "c")]
    (found,) = [d for d in merged(*hosts).diagnostics if d.code == "x"]
    assert found.count == 9


def test_count_of_one_is_added_too() -> None:
    hosts = [host(name, diagnostics=[noted("x", count)]) for name, count in (("a", 1), ("b", 3))]
    (found,) = [d for d in merged(*hosts).diagnostics if d.code == "x"]
    assert found.count == 4


# -------------------------------------------------------------------------------------- properties

LENGTHS = st.lists(st.integers(0, 6), max_size=5)


def consecutive(start: int, lengths: Sequence[int]) -> list[tuple[int, int]]:
    ends = list(itertools.accumulate(lengths, initial=start))
    return list(itertools.pairwise(ends))


def seen(
    profile: Profile,
) -> tuple[
    list[tuple[str, int, int]],
    int,
    list[tuple[str, int, int, int]],
    ReportedDevice,
    list[str],
    tuple[Host, ...],
]:
    """What a reader sees of a profile, comparable."""
    ops = sorted(
        zip(
            profile.ops.name,
            profile.ops.self_time_ps.tolist(),
            profile.ops.flop.tolist(),
            strict=True,
        )
    )
    return (ops, profile.time_ps, steps_of(profile), profile.device, codes(profile), profile.hosts)


@given(
    hosts=st.lists(st.tuples(st.integers(0, 20), LENGTHS), min_size=2, max_size=4),
    data=st.data(),
)
def test_order_of_hosts_does_not_matter(
    hosts: Sequence[tuple[int, Sequence[int]]], data: DataObject
) -> None:
    profiles = [
        host(
            f"host-{k}",
            OPS + f"matmul|fusion|{k}|{k}|1|1|1\nown{k}|copy|1|1|1|1|1",
            steps=consecutive(*steps),
        )
        for k, steps in enumerate(hosts)
    ]
    shuffled = data.draw(st.permutations(profiles))
    assert seen(merged(*shuffled)) == seen(merged(*profiles))


@given(hosts=st.lists(st.tuples(st.integers(0, 20), LENGTHS), min_size=2, max_size=4))
@pytest.mark.parametrize("compat", [False, True])
def test_no_host_has_more_steps_than_are_shared(
    compat: bool, hosts: Sequence[tuple[int, Sequence[int]]]
) -> None:
    profiles = [host(f"host-{k}", steps=consecutive(*steps)) for k, steps in enumerate(hosts)]
    profile = merged(*profiles, compat=compat)
    assert len(profile.steps) <= min(len(one.steps) for one in profiles)
    total = sum(int(one.steps.time_ps.sum(dtype=np.uint64)) for one in profiles)
    assert int(profile.steps.time_ps.sum(dtype=np.uint64)) <= total
