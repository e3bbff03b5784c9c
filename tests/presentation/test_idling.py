"""Idle time is explained: launches it waited for, what is left without a start or a long gap."""

from dataclasses import replace

import numpy as np
import pytest

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions, RooflineAnalysis
from roofline.devices.resolve import resolve
from roofline.exports.time_records import time_records
from roofline.model.op_columns import F64
from roofline.model.timeline import (
    WHOLE_CAPTURE,
    CoreTimes,
    IdleTimes,
    Timeline,
    WorkTimes,
    no_idle_times,
    no_transfers,
)
from roofline.presentation.sentences import plain_text
from roofline.presentation.verdict import build_verdict
from tests.builders import profile_from_table

OPS = """
op   | category | self_us | times | flop | hbm_bytes
work | fusion   | 100     | 10    | 1    | 5000000
"""


def ps(us: float) -> F64:
    return np.array([us * 1e6])


def idle_of(**us: float) -> IdleTimes:
    return replace(no_idle_times(1), **{f"{name}_ps": ps(value) for name, value in us.items()})


def analysis_of(idle_us: float, idle: IdleTimes) -> RooflineAnalysis:
    """One core: work of 100 us, the rest idle."""
    timeline = Timeline(
        cores=("core 0",),
        steps=0,
        times=CoreTimes(
            core=np.array([0]),
            scope=np.array([WHOLE_CAPTURE]),
            total_ps=ps(100 + idle_us),
            infeed_outfeed_ps=ps(0),
            host_ps=ps(0),
            exposed_ps={},
            launch_gaps_ps=ps(0),
            idle_ps=ps(idle_us),
            idle=idle,
        ),
        work=WorkTimes(
            core=np.array([0]),
            scope=np.array([WHOLE_CAPTURE]),
            op=np.array([0]),
            time_ps=ps(100),
            calls=np.array([10.0]),
            is_work=np.array([True]),
        ),
        transfers=no_transfers(),
    )
    profile = profile_from_table(OPS, timeline=timeline)
    profile = replace(profile, time_ps=profile.op_time_ps + int(idle_us * 1e6))
    return analyse(profile, resolve(profile.device), AnalysisOptions())


def words(idle_us: float, **us: float) -> tuple[str, str]:
    analysis = analysis_of(idle_us, idle_of(**us))
    verdict = build_verdict(analysis, analysis.with_infeed)
    headline, lead = plain_text(verdict.headline), plain_text(verdict.lead)
    return headline.replace("\u202f", " ").replace("\u00a0", " "), lead.replace("\u202f", " ")


def test_a_headline_about_idling_names_the_gap_that_is_most_of_it() -> None:
    headline, lead = words(900, longest=880)
    assert headline.startswith("Idle 90 % of the time, 17 % without the longest gap of 880 µs;")
    assert "longest gap" not in lead


def test_a_gap_that_leaves_the_picture_as_it_is_stands_below_the_headline() -> None:
    headline, lead = words(900, longest=600)
    assert headline.startswith("Idle 90 % of the time;")
    assert "Without the longest gap of 600\u00a0µs, 75 % of the time is idle." in lead


def test_an_idle_start_is_left_out_with_what_ran_in_it() -> None:
    headline, _ = words(900, start=905, start_idle=900, longest=500)
    assert headline.startswith("Idle 90 % of the time, 0 % without the first 905 µs")


def test_cores_that_started_at_different_times_have_an_idle_start_each() -> None:
    """Several cores have no common stretch of the capture as their start."""
    analysis = with_longest_start(analysis_of(900, idle_of(start=850, start_idle=850)), 1500)
    headline = plain_text(build_verdict(analysis, analysis.with_infeed).headline)
    said = ", 33 % without the idle start of each TensorCore, 1.50 ms at most"
    assert said in headline.replace("\u202f", " ").replace("\u00a0", " ")


def with_longest_start(analysis: RooflineAnalysis, longest_us: float) -> RooflineAnalysis:
    """The same, as a mean over cores of which one was idle for `longest_us` at its start."""
    assert analysis.budgets is not None
    capture = analysis.budgets.capture
    parts = tuple(
        part
        if part.idle is None
        else replace(part, idle=replace(part.idle, longest_start_us=longest_us))
        for part in capture.parts
    )
    return replace(
        analysis, budgets=replace(analysis.budgets, capture=replace(capture, parts=parts))
    )


def test_all_idle_time_at_the_start_is_said() -> None:
    _, lead = words(50, start=51, start_idle=50, longest=50)
    assert "Without the first 51.0\u00a0µs, hardly any time is idle." in lead


def test_the_share_of_idle_time_that_waited_for_launches_is_said() -> None:
    _, lead = words(900, waiting_for_launch=450)
    assert "50 % of the idle time waited for a launch." in lead
    assert "waited" not in words(900)[1]
    assert "waited" not in words(900, waiting_for_launch=0)[1]


def test_barriers_are_named() -> None:
    _, lead = words(900, barrier=300)
    assert "300\u00a0µs of the idle time per TensorCore waited for other cores" in lead


def test_short_idle_time_is_not_explained() -> None:
    assert "waited" not in words(5, waiting_for_launch=5, longest=5)[1]


@pytest.mark.parametrize("known", [True, False])
def test_exports_have_what_is_known_beside_the_time(*, known: bool) -> None:
    idle = idle_of(waiting_for_launch=30, unknown_launch=10, longest=40)
    budget = time_records(analysis_of(50, idle if known else no_idle_times(1)))["budget"]
    part = next(part for part in budget["capture"]["parts"] if part["id"] == "idle")
    assert part["time_us"] == 50
    assert part["waiting_for_launch_us"] == (30 if known else None)
    assert part["unknown_launch_us"] == (10 if known else None)
    assert (part["barrier_us"], part["longest_us"]) == (None, 40 if known else 0)
    others = [set(one) for one in budget["capture"]["parts"] if one["id"] != "idle"]
    assert all(keys == {"id", "label", "time_us"} for keys in others)


def test_a_long_wait_for_a_link_is_said_beside_idling() -> None:
    analysis = analysis_of(900, idle_of())
    assert analysis.profile.timeline is not None
    timeline = analysis.profile.timeline
    times = replace(timeline.times, exposed_ps={None: ps(500)}, total_ps=ps(1500))
    profile = replace(analysis.profile, timeline=replace(timeline, times=times))
    found = analyse(profile, resolve(profile.device), AnalysisOptions())
    headline = plain_text(build_verdict(found, found.with_infeed).headline)
    assert headline.replace("\u202f", " ").startswith(
        "Idle 90 % of the time, and waiting for communication for 33 %;"
    )
