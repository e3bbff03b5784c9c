"""What holds for every capture, on random small ones: times add up, hosts have no order."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies._internal.random import ArtificialRandom

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.choose import choose
from roofline.importers.registry import import_profile
from roofline.importers.source import SourceFile
from roofline.model.profile import Profile
from tests.builders import analysis_on
from tests.profiles import imported
from tests.tools.small_profiles import MICROSECOND_PS as US
from tests.tools.small_profiles import SmallOp, hbm, space_bytes, tpu_plane
from tests.tools.xspace_wire import CMEM, HBM, READ, WRITE, PlaneBuilder

CATEGORIES = ["loop fusion", "convolution fusion", "while", "call", "infeed", "all-reduce"]
N_KINDS = 6


@st.composite
def kinds(draw: st.DrawFn) -> list[dict[str, Any]]:
    """What each op costs: the same on every core and host."""
    traffic = st.integers(0, 10**7)
    return [
        {
            "name": f"op.{k % 4}",
            "category": draw(st.sampled_from(CATEGORIES)),
            "program": 1 + k // 4,  # op.0 and op.1 stand in two programs
            "symbol": k + 1,
            "flops": draw(st.integers(0, 10**10)),
            "bytes_accessed": draw(traffic),
            "memory": [
                (READ, HBM, draw(traffic)),
                (WRITE, HBM, draw(traffic)),
                (READ, CMEM, draw(traffic)),
            ],
        }
        for k in range(N_KINDS)
    ]


@st.composite
def nested_spans(
    draw: st.DrawFn, begin: int, end: int, depth: int = 3
) -> list[tuple[int, int, int]]:
    """(kind, begin, duration) of ops one after another, each with ops of its own inside."""
    spans = []
    at = begin
    for _ in range(draw(st.integers(0, 3))):
        if end - at < 4:
            break
        first = draw(st.integers(at, end - 2))
        last = draw(st.integers(first + 1, end))
        spans.append((draw(st.integers(0, N_KINDS - 1)), first, last - first))
        if depth:
            spans += draw(nested_spans(first, last, depth - 1))
        at = last
    return spans


@st.composite
def any_spans(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    """Ops that overlap in any way."""
    kind, begin = st.integers(0, N_KINDS - 1), st.integers(0, 40)
    triples = st.tuples(kind, begin, st.integers(0, 20))
    return draw(st.lists(triples, min_size=1, max_size=12))


def plane_of(
    kinds: Sequence[Mapping[str, Any]],
    spans: Sequence[tuple[int, int, int]],
    *,
    core: int = 0,
    steps: Sequence[tuple[int, int]] | tuple[()] = (),
    unit: int = US,
) -> PlaneBuilder:
    ops = [
        SmallOp(spans=[(b * unit, d * unit) for k, b, d in spans if k == number], **kind)
        for number, kind in enumerate(kinds)
    ]
    steps = [(begin * unit, duration * unit) for begin, duration in steps]
    return tpu_plane(ops, steps, name=f"/device:TPU:{core}", plane_id=core)


def read(folder: Path, *hosts: Sequence[PlaneBuilder]) -> Profile:
    sources = []
    for number, planes in enumerate(hosts):
        path = folder / f"host_{number}.xplane.pb"
        path.write_bytes(space_bytes(planes, hostname=f"host-{number}"))
        sources.append(SourceFile(path))
    return import_profile(sources)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("properties")


@given(kinds=kinds(), spans=nested_spans(0, 1000))
def test_self_times_of_nested_ops_sum_to_the_time_covered(
    kinds: Sequence[Mapping[str, Any]], spans: Sequence[tuple[int, int, int]], folder: Path
) -> None:
    profile = read(folder, [plane_of(kinds, spans)])
    covered: set[int] = set()
    for _, begin, duration in spans:
        covered.update(range(begin, begin + duration))
    assert int(profile.ops.self_time_ps.sum()) == profile.op_time_ps == len(covered) * US


@given(kinds=kinds(), spans=nested_spans(0, 1000))
def test_self_time_of_an_op_never_exceeds_its_time(
    kinds: Sequence[Mapping[str, Any]], spans: Sequence[tuple[int, int, int]], folder: Path
) -> None:
    ops = read(folder, [plane_of(kinds, spans)]).ops
    assert (ops.self_time_ps <= ops.time_ps).all()
    assert int(ops.occurrences.sum()) == len(spans)


@given(kinds=kinds(), spans=any_spans())
def test_ops_and_idle_fill_the_capture(
    kinds: Sequence[Mapping[str, Any]], spans: Sequence[tuple[int, int, int]], folder: Path
) -> None:
    analysis = analysis_on(read(folder, [plane_of(kinds, spans, steps=[(0, 50)])]))
    total_us = analysis.with_infeed.total_time_us
    filled = analysis.ops.measures.self_time_us[analysis.with_infeed.op].sum()
    assert filled == pytest.approx(total_us)
    assert (analysis.ops.measures.self_time_us >= 0).all()


@given(
    kinds=kinds(),
    hosts=st.lists(nested_spans(0, 100), min_size=2, max_size=3),
    order=st.randoms(use_true_random=False),
)
def test_host_order_does_not_matter(
    kinds: Sequence[Mapping[str, Any]],
    hosts: Sequence[Sequence[tuple[int, int, int]]],
    order: ArtificialRandom,
    folder: Path,
) -> None:
    planes = [
        [plane_of(kinds, spans, core=core, steps=[(0, 50), (50, 50)]) for core in range(2)]
        for spans in hosts
    ]
    shuffled = list(planes)
    order.shuffle(shuffled)
    first, second = (analysis_on(read(folder, *order)) for order in (planes, shuffled))
    assert _by_name(first) == _by_name(second)
    assert _program(first) == _program(second)


@given(kinds=kinds(), spans=nested_spans(0, 300))
def test_nothing_is_above_its_roof_unless_its_efficiency_says_so(
    kinds: Sequence[Mapping[str, Any]], spans: Sequence[tuple[int, int, int]], folder: Path
) -> None:
    analysis = analysis_on(read(folder, [plane_of(kinds, spans, steps=[(0, 300)])]))
    measures = analysis.ops.measures
    rate, roof = measures.flop_rate_gflops, measures.attainable_gflops
    efficiency = measures.roofline_efficiency_ratio
    known = np.isfinite(rate) & np.isfinite(roof) & (rate > 0)
    above = known & (rate > roof * (1 + 1e-9))
    assert (efficiency[above] > 1).all()
    # The roof is the lower of the two ceilings, for the memory that limits the op most.
    peak = analysis.device.peak_gflops
    assert peak is not None
    assert (roof[known] <= peak * (1 + 1e-9)).all()


@given(kinds=kinds(), spans=any_spans())
def test_steps_never_hold_more_work_than_the_program(
    kinds: Sequence[Mapping[str, Any]], spans: Sequence[tuple[int, int, int]], folder: Path
) -> None:
    analysis = analysis_on(
        read(folder, [plane_of(kinds, spans, steps=[(0, 20), (20, 20), (40, 30)])])
    )
    profile = analysis.profile
    in_steps = int(profile.steps.sums.flop.sum())
    in_program = sum(
        int(flop)
        for flop, category in zip(profile.ops.flop, profile.ops.category, strict=True)
        if category not in {"while", "call"}
    )
    assert in_steps <= in_program


def test_work_counts_once_per_occurrence(folder: Path) -> None:
    kind = SmallOp(
        name="fusion.1",
        spans=[(k * US, US) for k in range(5)],
        flops=1000,
        bytes_accessed=64,
        memory=hbm(64),
    )
    ops = read(folder, [tpu_plane([kind])]).ops
    assert ops.occurrences.tolist() == [5]
    assert ops.flop.tolist() == [5000]
    assert ops.bytes_accessed.tolist() == [320]


def test_ops_without_ids_are_listed_by_their_names_and_are_not_idle_time(folder: Path) -> None:
    """XProf drops them, so its row IDLE holds the time in which they ran."""
    planes = [
        tpu_plane(
            [
                SmallOp(name="known", spans=[(0, 6 * US)], flops=9),
                SmallOp(name="nameless", spans=[(6 * US, 3 * US)], program=None, flops=5),
                SmallOp(name="no symbol", spans=[(1 * US, 1 * US)], symbol=-1, flops=70),
                SmallOp(name="no symbol", spans=[(2 * US, 1 * US)], symbol=-1, flops=1),
            ],
            [(0, 10 * US)],
        )
    ]
    profile = read(folder, planes)
    own_us = dict(zip(profile.ops.name, (profile.ops.self_time_ps / US).tolist(), strict=True))
    assert own_us == {"known": 4, "no symbol": 2, "nameless": 3}
    flop = dict(zip(profile.ops.name, profile.ops.flop.tolist(), strict=True))
    assert flop == {"known": 9, "no symbol": 71, "nameless": 5}  # each at its own cost
    (note,) = [one for one in profile.diagnostics if one.code == "ops-without-id"]
    assert note.count == 2
    analysis = analysis_on(profile)
    idle_us = analysis.ops.self_time_per_core_us[analysis.ops.name.index("IDLE")]
    assert idle_us == choose(analysis).parts.idle == 1
    theirs = imported(folder / "host_0.xplane.pb", xprof_compat=True)
    assert (theirs.ops.name, theirs.time_ps - theirs.op_time_ps) == (("known",), 6 * US)


def test_events_whose_metadata_is_lost_are_work_of_unknown_cost(folder: Path) -> None:
    """A damaged file names no operation for them; something ran, so the core was not idle."""
    plane = tpu_plane([SmallOp(name="known", spans=[(0, 6 * US)], flops=9)], [(0, 10 * US)])
    plane.event(plane.plane.lines[-1], 1 << 40, 6 * US, 3 * US)
    path = folder / "host_0.xplane.pb"
    profile = read(folder, [plane])
    assert (profile.ops.name, profile.ops.cost_known.tolist()) == (
        ("known", "(no name)"),
        [True, False],
    )
    assert profile.time_ps - profile.op_time_ps == 1 * US
    parts = choose(analysis_on(profile)).parts
    assert (parts.unknown, parts.unknown_wait) == (3, 1)
    theirs = imported(path, xprof_compat=True)
    assert (theirs.ops.name, theirs.time_ps - theirs.op_time_ps) == (("known",), 4 * US)


def _by_name(analysis: RooflineAnalysis) -> dict[tuple[int, str], tuple[object, ...]]:
    ops, measures = analysis.ops, analysis.ops.measures
    columns = (
        measures.self_time_us,
        measures.total_time_us,
        measures.flop_rate_gflops,
        measures.memory_bandwidth_gibs,
        measures.roofline_efficiency_ratio,
    )
    return {
        (int(ops.program_id[row]), ops.name[row]): (
            ops.category[row],
            int(ops.occurrences[row]),
            analysis.bound_label(int(measures.bound[row])),
            *(_rounded(column[row]) for column in columns),
        )
        for row in range(len(ops))
    }


def _program(analysis: RooflineAnalysis) -> list[tuple[str, ...]]:
    program = analysis.with_infeed.program
    return [
        (
            program.label[row],
            _rounded(program.measures.total_time_us[row]),
            _rounded(program.measures.flop_rate_gflops[row]),
            _rounded(program.measures.roofline_efficiency_ratio[row]),
        )
        for row in range(len(program))
    ]


def _rounded(value: float) -> str:
    return f"{value:.9g}"
