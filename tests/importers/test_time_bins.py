"""Sums up to the edges of time bins, held against events that are cut at each edge."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from roofline.importers.shared.sweep import sweep
from roofline.importers.shared.time_bins import even_edges, most_bins
from roofline.importers.xspace.line_bins import LineBins
from roofline.importers.xspace.nested_sums import Walk
from roofline.model.profile import Profile
from roofline.model.time_bins import MOST_BINS, TimeBins
from roofline.model.timeline import WHOLE_CAPTURE
from roofline.pipeline import analyse_files
from tests.profiles import imported
from tests.tools.gpu_captures import Event, gpu_plane, metadata_plane
from tests.tools.small_profiles import SmallOp, space_bytes, tpu_plane

Ints = NDArray[np.int64]
US = 1_000_000
SHARED = Path(__file__).resolve().parents[2].parent / "shared"

spans_of_slots = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 30), st.integers(0, 3)), min_size=1, max_size=25
)
edges_of_bins = st.lists(st.integers(0, 100), min_size=1, max_size=6, unique=True).map(sorted)


def ints(values: list[int]) -> Ints:
    return np.array(values, np.int64)


@given(spans_of_slots, edges_of_bins)
def test_marks_of_a_sweep_are_the_sums_of_events_cut_there(
    spans: list[tuple[int, int, int]], edges: list[int]
) -> None:
    begin, length, slot = (ints(list(column)) for column in zip(*spans, strict=True))
    classes = np.array([0, 0, 1, 2], np.int8)
    end, slots = begin + length, slot.astype(np.int32)
    marks = sweep(begin, end, slots, classes, marks=ints(edges)).marks
    for place, edge in enumerate(edges):
        cut, began = np.minimum(end, edge), begin < edge
        alone = sweep(begin[began], cut[began], slots[began], classes)
        assert marks.time[place] == pytest.approx(alone.time)
        assert marks.lasted[place] == pytest.approx(alone.lasted)
        passed = np.where(began, (cut - begin) / np.maximum(length, 1), 0)
        events = np.where(length > 0, passed, began)
        assert marks.events[place] == pytest.approx(np.bincount(slot, events, 4))


def test_marks_change_no_other_sum() -> None:
    rng = np.random.default_rng(5)
    begin = np.sort(rng.integers(0, 10_000, 500))
    end, slots = begin + rng.integers(0, 90, 500), rng.integers(0, 4, 500).astype(np.int32)
    classes = np.array([0, 1, 2, 2], np.int8)
    plain = sweep(begin, end, slots, classes)
    marked = sweep(begin, end, slots, classes, marks=np.arange(0, 11_000, 7))
    assert marked.time == pytest.approx(plain.time)
    for name in ("events", "lasted", "gap_begin", "gap_end"):
        assert (getattr(marked, name) == getattr(plain, name)).all()


def nested(seed: int, count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], Ints]:
    """Events that nest: each begins after the one before, and ends with or before its parent."""
    rng = np.random.default_rng(seed)
    begin: list[int] = []
    end: list[int] = []
    open_until: list[int] = []
    now = 0
    for _ in range(count):
        now += int(rng.integers(0, 5))
        open_until = [until for until in open_until if until > now]
        until = now + int(rng.integers(0, 60))
        until = min([until, *open_until])
        begin.append(now)
        end.append(until)
        open_until.append(until)
    return np.array(begin, np.uint64), np.array(end, np.uint64), rng.integers(0, 3, count)


def take(walk: Walk, begin: NDArray[np.uint64], end: NDArray[np.uint64], row: Ints) -> None:
    none = np.zeros(len(begin), np.uint64)
    walk.go_on(
        begin_ps=begin,
        end_ps=end,
        meta=np.zeros(len(begin), np.int32),
        row=row,
        occurrences=np.ones(len(begin), np.int64),
        normalised_ps=none,
        dma_stall_ps=none,
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("chunk", [7, 100])
def test_bins_of_a_line_are_the_sums_of_events_cut_there(seed: int, chunk: int) -> None:
    begin, end, row = nested(seed, 100)
    walk, bins = Walk(3, clamp=True), LineBins(3, ints([33, 91]))
    bins.width_ps = 16
    none = np.zeros(0)
    for first in range(0, 100, chunk):
        part = slice(first, first + chunk)
        edges = bins.coming(int(begin[part][0]), int(begin[part][-1]))
        walk.go_on(
            begin_ps=begin[part],
            end_ps=end[part],
            meta=np.zeros(len(row[part]), np.int32),
            row=row[part],
            occurrences=np.ones(len(row[part]), np.int64),
            normalised_ps=begin[part],
            dma_stall_ps=begin[part],
            edges_ps=edges.view(np.uint64),
            marked=bins.room(len(edges)),
        )
        bins.put(edges, np.resize(none, len(edges)))
    rest = bins.coming(int(end.max()), int(end.max()))
    walk.mark(rest.view(np.uint64), bins.room(len(rest)))
    bins.put(rest, np.zeros(len(rest)))
    walk.end_line()
    bins.end(walk.sums())
    last = int(end.max())
    chosen = np.unique(
        [*range(16, last, 16), *(edge for edge in (33, 91) if edge < last), last + 9]
    )
    sums, _ = bins.at(chosen, 0.0)
    for place, edge in enumerate(chosen.tolist()):
        cut = Walk(3, clamp=True)
        began = begin < edge
        take(cut, begin[began], np.minimum(end[began], np.uint64(edge)), row[began])
        cut.end_line()
        assert sums[place, 0] == pytest.approx(cut.sums().time_ps)
        assert sums[place, 1] == pytest.approx(cut.sums().self_time_ps)


def test_a_line_of_any_length_has_at_most_so_many_bins() -> None:
    bins = LineBins(2, ints([]))
    reached = 0
    for last in (10_000, 10_000_000, 10**15, 10**15 + 5):
        edges = bins.coming(reached, last)
        bins.room(len(edges))[:] = 0
        bins.put(edges, np.zeros(len(edges)))
        reached = last
    assert bins.width_ps & (bins.width_ps - 1) == 0
    assert 10**15 // bins.width_ps <= MOST_BINS


def test_times_of_a_damaged_file_break_the_bins_and_nothing_else() -> None:
    bins = LineBins(2, ints([]))
    assert not len(bins.coming(5, 2**62))
    assert bins.is_broken


def test_programs_with_many_ops_have_fewer_bins() -> None:
    assert most_bins(1_000) == MOST_BINS
    assert most_bins(50_000) == 40
    assert most_bins(10**9) == 16


def test_edges_of_steps_are_edges_of_bins_unless_they_are_too_many() -> None:
    assert {333, 334} <= set(even_edges(0, 1_000, 100, ints([333, 334])).tolist())
    many = np.arange(0, 1_000, 3)
    assert len(even_edges(0, 1_000, 100, many)) == 101


# ----------------------------------------------------------------------------------- whole captures


def bins_of(profile: Profile) -> TimeBins:
    assert profile.timeline is not None
    assert profile.timeline.bins is not None
    return profile.timeline.bins


def assert_bins_add_up(profile: Profile) -> None:
    """All bins together are the capture: of every part of the time, and of every op."""
    bins, timeline = bins_of(profile), profile.timeline
    assert timeline is not None
    whole = timeline.times.scope == WHOLE_CAPTURE
    work = timeline.work.time_ps[timeline.work.scope == WHOLE_CAPTURE]
    assert bins.times.work_ps.sum() == pytest.approx(work.sum(), rel=1e-9)
    for name in ("infeed_outfeed_ps", "host_ps", "launch_gaps_ps", "idle_ps"):
        parts, sums = getattr(bins.times, name), getattr(timeline.times, name)
        assert parts.sum(axis=1) == pytest.approx(sums[whole], rel=1e-9, abs=2)
    for link, column in timeline.times.exposed_ps.items():
        assert bins.times.exposed_ps[link].sum(axis=1) == pytest.approx(column[whole], abs=2)
    n_ops = len(profile.ops)
    time = np.bincount(bins.ops.op + 1, bins.ops.time_ps, n_ops + 1)[1:]
    assert time == pytest.approx(profile.ops.time_ps.astype(np.float64), rel=1e-6)
    assert len(bins) <= MOST_BINS


def test_two_streams_of_a_gpu_cut_by_hand(tmp_path: Path) -> None:
    """A lasts from 0 to 40 us, B from 20 to 60 us: they share 20 to 40 us."""
    streams: list[list[Event]] = [[("a", 0, 40 * US, [])], [("b", 20 * US, 40 * US, [])]]
    path = tmp_path / "host_0.xplane.pb"
    path.write_bytes(space_bytes([gpu_plane(streams), metadata_plane({})]))
    profile = imported(path)
    assert_bins_add_up(profile)
    bins = bins_of(profile)
    first, last = bins.around(0, 30 * US)
    assert bins.edges_ps[last] == 30 * US
    inside = (bins.ops.bin >= first) & (bins.ops.bin < last)
    names = np.array([*profile.ops.name, ""])[bins.ops.op]

    def sums(column: NDArray[np.float32]) -> dict[str, float]:
        return {n: float(column[inside & (names == n)].sum()) for n in profile.ops.name}

    assert sums(bins.ops.time_ps) == pytest.approx({"a": 30 * US, "b": 10 * US})
    assert sums(bins.ops.own_ps) == pytest.approx({"a": 25 * US, "b": 5 * US})
    assert sums(bins.ops.calls) == pytest.approx({"a": 0.75, "b": 0.25})


CAPTURES = [
    "profiles/tpu-v6e-inference/host_0.xplane.pb",  # its lines are out of order
    "profiles/amd-mi300x-conv-jax08/host_0.xplane.pb",
    "cases/s05_v7x_four_cores_incomplete/host_0.xplane.pb",
    "cases/s10_v6e_dvfs_overlap/host_0.xplane.pb",
    "samples/pytorch/v100_kineto_2021_resnet.json.gz",
]


@pytest.mark.parametrize("name", CAPTURES)
def test_bins_of_a_capture_add_up(name: str) -> None:
    path = SHARED / name
    if not path.is_file():
        pytest.skip("needs the shared folder")
    assert_bins_add_up(analyse_files([path]).profile)


def test_bins_of_nested_tpu_ops_add_up(tmp_path: Path) -> None:
    """A loop around two ops, a gap, infeed: the own time of the loop is what its ops leave."""
    ops = [
        SmallOp(name="while.1", category="while", spans=[(0, 50 * US)]),
        SmallOp(name="fusion.1", spans=[(5 * US, 10 * US), (20 * US, 30 * US)]),
        SmallOp(name="infeed.1", category="infeed", spans=[(70 * US, 20 * US)]),
    ]
    path = tmp_path / "host_0.xplane.pb"
    path.write_bytes(space_bytes([tpu_plane(ops, steps=[(0, 50 * US), (50 * US, 50 * US)])]))
    profile = imported(path)
    assert_bins_add_up(profile)
    bins = bins_of(profile)
    assert bins.step_end_ps.tolist() == [50 * US, 100 * US]
    assert {0, 50 * US, 100 * US} <= set(bins.edges_ps.tolist())
