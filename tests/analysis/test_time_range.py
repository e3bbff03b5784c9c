"""A range of a capture's time: what counts in it, worked out by hand, and what is refused."""

import math
from itertools import pairwise
from pathlib import Path

import pytest

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.budget import budget_of
from roofline.analysis.subjects.choose import choose
from roofline.errors import NoSuchRangeError
from roofline.exports.records import analysis_to_json
from roofline.pipeline import analyse_files
from tests.tools.small_profiles import SmallOp, hbm, space_bytes, tpu_plane

US = 1_000_000
ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "sample_profiles"

# Two steps of 100 us. fusion.1 runs 20 us in the first and 40 us in the second, for the same work;
# fusion.2 from 90 to 110 us, across the edge; 50 us of idle time from 150 us on.
OPS = [
    SmallOp(
        name="fusion.1",
        spans=[(0, 20 * US), (110 * US, 40 * US)],
        flops=2_000_000,
        bytes_accessed=40_000,
        memory=hbm(40_000),
    ),
    SmallOp(
        name="fusion.2",
        spans=[(90 * US, 20 * US)],
        flops=1_000_000,
        bytes_accessed=10_000,
        memory=hbm(10_000),
    ),
    SmallOp(name="copy.1", spans=[(199 * US, 1 * US)]),
]
STEPS = [(0, 100 * US), (100 * US, 100 * US)]


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("range") / "host_0.xplane.pb"
    path.write_bytes(space_bytes([tpu_plane(OPS, steps=STEPS)]))
    return path


def in_range(path: Path, begin_us: float, end_us: float) -> RooflineAnalysis:
    return analyse_files([path], range_ps=(begin_us * US, end_us * US))


def test_an_op_across_an_edge_counts_with_its_part(capture: Path) -> None:
    first = in_range(capture, 0, 100).profile.ops
    assert first.name == ("fusion.1", "fusion.2")
    assert first.time_ps.tolist() == pytest.approx([20 * US, 10 * US])
    assert first.flop.tolist() == pytest.approx([2_000_000, 500_000])
    assert first.bytes_accessed.tolist() == pytest.approx([40_000, 5_000])


def test_an_op_that_is_slower_in_a_range_has_a_lower_rate_there(capture: Path) -> None:
    rates = [
        in_range(capture, *bounds).ops.measures.flop_rate_gflops[0]
        for bounds in [(0, 100), (100, 200)]
    ]
    assert rates == pytest.approx([100.0, 50.0])


def test_ranges_that_touch_add_up_to_the_capture(capture: Path) -> None:
    whole = analyse_files([capture]).profile
    assert whole.timeline is not None
    assert whole.timeline.bins is not None
    edges = [float(whole.timeline.bins.edges_ps[place]) / US for place in (0, 60, 130, -1)]
    parts = [in_range(capture, *bounds).profile for bounds in pairwise(edges)]
    assert sum(part.time_ps for part in parts) == pytest.approx(whole.time_ps)
    for name in ("time_ps", "self_time_ps", "flop", "bytes_accessed"):
        total = sum(int(getattr(part.ops, name).sum()) for part in parts)
        assert total == pytest.approx(int(getattr(whole.ops, name).sum()), rel=1e-6)


def test_the_budget_of_a_range_divides_its_time(capture: Path) -> None:
    analysis = in_range(capture, 100, 200)
    budget = budget_of(analysis, choose(analysis))
    assert budget is not None
    assert budget.total_us == pytest.approx(100)
    assert sum(budget.parts.values()) == pytest.approx(100)
    # From 150 us to 199 us nothing ran.
    assert budget.parts["idle"] == pytest.approx(49)


def test_steps_that_lie_in_the_range_stay(capture: Path) -> None:
    assert in_range(capture, 100, 200).profile.steps.label == ("1",)
    assert in_range(capture, 10, 190).profile.steps.label == ()


def test_the_whole_capture_gives_the_same_numbers(capture: Path) -> None:
    documents = [
        analysis_to_json(analysis, include_infeed_outfeed=True)
        for analysis in (analyse_files([capture]), in_range(capture, 0, 1e9))
    ]
    assert documents[0] == documents[1]


def test_the_reader_is_told_what_the_numbers_are_of(capture: Path) -> None:
    found = in_range(capture, 100, 200).diagnostics[0]
    assert found.code == "time-range"
    assert "0.1 to 0.2 ms of a capture of 0.2 ms" in found.message


@pytest.mark.parametrize("bounds", [(5, 5), (7, 3), (300, 400), (-9, -1), (math.nan, 4)])
def test_a_range_outside_of_the_capture_is_refused(
    capture: Path, bounds: tuple[float, float]
) -> None:
    with pytest.raises(NoSuchRangeError, match="empty, or lies outside"):
        in_range(capture, *bounds)


def test_a_profile_without_a_timeline_has_no_ranges() -> None:
    table = next(iter(sorted((TABLE / "generic").iterdir())))
    with pytest.raises(NoSuchRangeError, match="no timeline"):
        in_range(table, 0, 10)
