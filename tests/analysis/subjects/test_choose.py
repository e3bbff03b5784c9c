"""Which subject is chosen, and how its time divides, on the smallest profiles that show it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.analyse import analyse
from roofline.analysis.records import RooflineAnalysis, Scope
from roofline.analysis.subjects.choose import choose
from roofline.analysis.subjects.options import options
from roofline.analysis.subjects.records import Kind, OpPart
from roofline.analysis.time_range import in_range
from roofline.model.ceilings import Ceiling
from roofline.model.memory import MemoryLevel
from roofline.model.profile import StepTable
from roofline.model.timeline import (
    Timeline,
)
from tests.builders import profile_from_table
from tests.conftest import SAMPLES
from tests.moving import NAN, Moved, analysis_with_ici, one_core, transfers_of
from tests.shared_profiles import analysed, needs_shared, shared
from tests.subject_sums import check_sums

PS_PER_US = 1_000_000.0
OPS = """
op    | category   | self_us | times | flop | hbm_bytes
near  | fusion     | 100     | 10    | 1    | 5000000
blind | custom     | 50      | 1     | –    | –
moved | all-reduce | 40      | 1     | –    | –
"""
NEAR, BLIND, MOVED, IDLE = range(4)


def timeline(*scopes: tuple[float, float, float, float], moved_bytes: float = 0.0) -> Timeline:
    """One core: time of `near` and `blind`, exposed and idle time, of the capture and each step."""
    exposed = scopes[0][2]
    moved = Moved(MOVED, -1, "all-reduce", MemoryLevel.ICI, moved_bytes, exposed, NAN, exposed)
    return one_core(*scopes, transfers=transfers_of([moved], 4) if moved_bytes else None)


def analysis_of(line: Timeline | None, ops: str = OPS, **rest: Any) -> RooflineAnalysis:
    return analysis_with_ici(profile_from_table(ops, timeline=line, **rest))


def steps(*us: float) -> StepTable:
    ends = np.cumsum(us)
    times = (np.array(us) * PS_PER_US).astype(np.uint64)
    table = profile_from_table(OPS).steps
    return StepTable(
        label=tuple(str(number) for number in range(len(us))),
        begin_ps=((ends - us) * PS_PER_US).astype(np.uint64),
        end_ps=(ends * PS_PER_US).astype(np.uint64),
        duration_ps=times,
        time_ps=times,
        sums=table.sums.zeros((len(us), 2), [MemoryLevel.HBM]),
    )


# ----------------------------------------------------------------------------------------- choice


def test_a_timeline_without_steps_is_a_capture() -> None:
    subject = choose(analysis_of(timeline((100, 50, 0, 50))))
    assert (subject.of, subject.kind, subject.unit_word) == ("capture", Kind.CAPTURE, "")
    assert subject.time_us == pytest.approx(200)


def test_steps_come_before_the_capture_and_each_can_be_asked_for() -> None:
    line = timeline((100, 50, 0, 50), (60, 20, 0, 20), (40, 30, 0, 30))
    analysis = analysis_of(line, steps=steps(100, 100))
    assert [one.of for one in options(analysis)] == ["step", "step:0", "step:1", "capture"]
    mean, one = choose(analysis), choose(analysis, "step:1")
    assert (mean.label, mean.count) == ("Step, mean of 2", 2)
    assert mean.time_us == pytest.approx(100)
    assert (one.label, one.unit_word) == ("Step 1", "this step")
    assert one.ops.width_us[NEAR] == pytest.approx(40)
    assert mean.ops.width_us[NEAR] == pytest.approx(50)


def test_a_single_step_has_its_label() -> None:
    analysis = analysis_of(timeline((100, 50, 0, 50), (60, 20, 0, 20)), steps=steps(100))
    subject = choose(analysis)
    assert (subject.of, subject.label, subject.unit_word) == ("step", "Step 0", "a step")


@pytest.mark.parametrize(("first_us", "used"), [(131, 4), (69, 4), (129, 5), (71, 5)])
def test_a_first_step_that_is_far_off_the_others_is_left_out(first_us: float, used: int) -> None:
    line = timeline((600, 0, 0, 0), (first_us, 0, 0, 0), *[(100.0, 0.0, 0.0, 0.0)] * 4)
    subject = choose(analysis_of(line, steps=steps(first_us, 100, 100, 100, 100)))
    assert subject.sample is not None
    assert (subject.sample.used, subject.sample.found) == (used, 5)
    assert subject.label == ("Step, mean of 4 of 5" if used == 4 else "Step, mean of 5")
    assert subject.time_us == pytest.approx((400 + (first_us if used == 5 else 0)) / used)
    ratio = subject.sample.left_out.get("first")
    assert ratio == (pytest.approx(first_us / 100) if used == 4 else None)


@pytest.mark.parametrize(("last_us", "used"), [(39, 4), (71, 5), (131, 5)])
def test_a_last_step_that_ends_with_the_capture_is_left_out(last_us: float, used: int) -> None:
    """Its wait for the host lies behind its last kernel, where nothing tells it."""
    line = timeline((600, 0, 0, 0), *[(100.0, 0.0, 0.0, 0.0)] * 4, (last_us, 0, 0, 0))
    analysis = analysis_of(line, steps=steps(100, 100, 100, 100, last_us), has_average=True)
    subject = choose(analysis)
    sample = subject.sample
    assert sample is not None and sample.used == used
    assert sample.left_out == ({"last": pytest.approx(0.39)} if used == 4 else {})
    program = analysis.with_infeed.program
    average_us = program.measures.total_time_per_core_us[program.scope.index(Scope.AVERAGE)]
    assert average_us == pytest.approx(subject.time_us), "one answer to how long a step takes"
    assert program.label[1] == ("Average of 4 of 5" if used == 4 else "Average")


def test_what_does_not_exist_is_named_and_the_default_is_shown() -> None:
    subject = choose(analysis_of(timeline((100, 50, 0, 50))), "step:7")
    assert (subject.of, subject.not_found) == ("capture", "step:7")
    assert choose(analysis_of(timeline((100, 50, 0, 50))), "capture").not_found == ""


def test_tables_are_kernels() -> None:
    subject = choose(analysis_of(None))
    assert (subject.of, subject.label) == ("kernels", "3 operations")
    assert subject.unit_word == "of operation time"


def test_a_host_alone_has_no_floor() -> None:
    subject = choose(analysis_of(None, is_host_only=True))
    assert (subject.of, subject.kind, subject.floor_us) == ("host_time", Kind.HOST, None)
    assert subject.time_us == pytest.approx(190)


def test_a_range_is_the_same_from_the_whole_and_from_its_own_analysis() -> None:
    analysis = analysed(SAMPLES / "pytorch" / "h100-training.json")
    bins = analysis.profile.timeline.bins if analysis.profile.timeline else None
    assert bins is not None
    begin, end = (int(bins.edges_ps[at]) for at in (len(bins) // 3, len(bins) // 2))
    whole = choose(analysis, f"{begin / 1e9:.9f}ms..{end / 1e9:.9f}ms")
    cut = analyse(in_range(analysis.profile, begin, end), analysis.device, analysis.options)
    alone = choose(cut)
    assert whole.kind == alone.kind == Kind.RANGE
    assert whole.of == alone.of
    assert whole.time_us == pytest.approx(alone.time_us)
    assert whole.parts.needed == pytest.approx(alone.parts.needed, rel=1e-5)
    assert whole.parts.unknown == pytest.approx(alone.parts.unknown, rel=1e-5)
    assert whole.outside == alone.outside
    check_sums(whole, analysis)
    assert choose(cut, whole.of).not_found == ""
    assert choose(cut, "step").not_found == "step"


@pytest.mark.parametrize("of", ["5ms..2ms", "..", "1..2", "900s..901s"])
def test_ranges_that_cannot_be(of: str) -> None:
    analysis = analysed(SAMPLES / "pytorch" / "h100-training.json")
    assert choose(analysis, of).not_found == of


@needs_shared
def test_a_served_step_without_slices_divides_by_its_ops() -> None:
    """Ranks on several clocks have no slices of time; the sums of each step's ops are near them."""
    analysis = shared(
        "samples/pytorch/mi300x_vllm_graph_capture.json.gz",
        "samples/pytorch/mi300x_vllm_graph_decode.json.gz",
    )
    assert analysis.profile.timeline is not None
    line = replace(analysis.profile.timeline, bins=None)
    without = replace(analysis, profile=replace(analysis.profile, timeline=line))
    sliced, summed = choose(analysis), choose(without)
    assert summed.kind is Kind.SERVING
    assert summed.outside.total_us is None
    assert summed.parts.needed == pytest.approx(sliced.parts.needed, rel=1e-3)
    assert summed.parts.idle == pytest.approx(sliced.parts.idle, rel=1e-3)
    check_sums(summed, without)


# --------------------------------------------------------------------------------------- division

TIMES = st.floats(0.1, 1e6)


@given(TIMES, TIMES, TIMES, TIMES, st.floats(1, 1e12))
def test_every_division_adds_up(
    near_us: float, blind_us: float, exposed_us: float, idle_us: float, moved: float
) -> None:
    analysis = analysis_of(timeline((near_us, blind_us, exposed_us, idle_us), moved_bytes=moved))
    check_sums(choose(analysis), analysis)


def test_work_at_its_ceiling_is_needed_and_the_rest_can_be_gained() -> None:
    """5 MB at 107 GB/s need 46.6 us of the 100 us."""
    subject = choose(analysis_of(timeline((100, 50, 0, 50))))
    assert subject.parts.needed == pytest.approx(46.566, rel=1e-4)
    assert subject.parts.to_gain == pytest.approx(100 - 46.566, rel=1e-4)
    assert subject.parts.unknown == pytest.approx(50)
    assert subject.floor_us == pytest.approx(96.566, rel=1e-4)
    assert subject.roof_ratio == pytest.approx(0.46566, rel=1e-4)
    assert subject.known_ratio == pytest.approx(100 / 150)
    assert subject.ops.part == (OpPart.WORK, OpPart.UNKNOWN, OpPart.NONE, OpPart.NONE)


def test_no_share_of_the_roof_where_less_than_half_is_known() -> None:
    subject = choose(analysis_of(timeline((49, 50, 0, 1))))
    assert subject.roof_ratio is None
    assert choose(analysis_of(timeline((51, 50, 0, 1)))).roof_ratio is not None


def test_a_link_that_needs_longer_than_its_wait_takes_the_rest_from_others() -> None:
    """15 MB need 150 us of ICI, which waits for 20 us: the rest hides behind work and idle time."""
    subject = choose(analysis_of(timeline((100, 50, 20, 50), moved_bytes=15e6)))
    assert subject.floor_us == pytest.approx(150)
    assert subject.parts.stay == pytest.approx(150 - 96.566, rel=1e-4)
    assert subject.ops.gain_us[MOVED] == pytest.approx(0)
    above = 220 - 96.566 - 20
    kept = (220 - 150) / above
    assert subject.ops.gain_us[NEAR] == pytest.approx(kept * (100 - 46.566), rel=1e-4)
    assert subject.other_gain_us == pytest.approx(kept * 50, rel=1e-4)


def test_a_link_stays_inside_its_wait() -> None:
    """10 MB need 100 us of the 200 us that wait for ICI."""
    subject = choose(analysis_of(timeline((10, 0, 200, 0), moved_bytes=10e6)))
    assert subject.floor_us == pytest.approx(100)
    assert subject.parts.links == {"ici": pytest.approx(200)}
    assert subject.ops.gain_us[MOVED] == pytest.approx(200 - (100 - 4.6566), rel=1e-4)
    assert subject.ops.gain_us[NEAR] == pytest.approx(10 - 4.6566, rel=1e-4)


ABOVE = """
op                | category   | self_us | times | flop | hbm_bytes
too fast          | fusion     | 100     | 1     | 1    | 20000000
winograd_fwd      | fusion     | 100     | 1     | 1    | 20000000
copy-done.1       | copy-done  | 100     | 1     | 1    | 20000000
"""


def test_an_op_above_a_ceiling_cannot_be_judged() -> None:
    subject = choose(analysis_of(None, ABOVE))
    assert subject.ops.part[:3] == (OpPart.IMPOSSIBLE, OpPart.WORK, OpPart.IMPOSSIBLE)
    assert subject.parts.impossible == pytest.approx(200)
    assert subject.parts.needed == pytest.approx(100)
    assert subject.floor_us == pytest.approx(300)
    assert subject.ops.doubtful.tolist() == [0]


def with_busy(busy: float) -> RooflineAnalysis:
    """The table, whose L1 was busy for this share of the time of each op."""
    profile = profile_from_table(OPS)
    column = profile.ops.time_ps.astype(np.float64) * busy
    return analysis_with_ici(
        replace(profile, ops=replace(profile.ops, busy_ps={Ceiling.L1: column}))
    )


def test_busy_time_without_useful_work_is_wasted() -> None:
    """The nearest unit is busy for 80 % of the time, and useful for 47 %."""
    subject = choose(with_busy(0.8))
    assert subject.ops.wasted_us[NEAR] == pytest.approx(80 - 46.566, rel=1e-4)
    assert subject.parts.wasted == pytest.approx(80 - 46.566, rel=1e-4)
    assert subject.ops.gain_us[NEAR] == pytest.approx(100 - 46.566, rel=1e-4)
    assert choose(analysis_of(None)).parts.wasted is None


def test_an_op_with_a_busy_share_alone_is_known_and_its_busy_time_is_not_gained() -> None:
    subject = choose(with_busy(0.8))
    assert subject.ops.part[BLIND] is OpPart.WORK
    assert subject.ops.needed_us[BLIND] == pytest.approx(40)
    assert subject.assumed_us == pytest.approx(40)
    assert subject.parts.unknown == pytest.approx(0)
    assert np.isnan(subject.ops.wasted_us[BLIND])
    assert subject.known_ratio == pytest.approx(1)
    assert subject.roof_ratio == pytest.approx(0.46566, rel=1e-4)


def test_a_busy_share_alone_is_not_a_share_of_the_roof() -> None:
    blind = "op | category | self_us | times | flop | hbm_bytes\nblind | custom | 50 | 1 | – | –\n"
    profile = profile_from_table(blind)
    busy = {Ceiling.L1: profile.ops.time_ps.astype(np.float64) * 0.99}
    subject = choose(analysis_with_ici(replace(profile, ops=replace(profile.ops, busy_ps=busy))))
    assert subject.roof_ratio is None
    assert subject.known_ratio == pytest.approx(1)
