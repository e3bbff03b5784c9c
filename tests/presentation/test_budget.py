"""The parts of the time in the page data, and the part that each op belongs to."""

from pathlib import Path
from typing import Any

import pytest

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.budget import budget_of, owners_of
from roofline.analysis.subjects.choose import choose
from roofline.exports.answering import answer_of
from roofline.pipeline import analyse_files
from roofline.presentation.page import PageIdentity, page_data
from roofline.presentation.shown import listed_ops

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_profiles"
SHARED = ROOT.parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")


@pytest.fixture(scope="module")
def training() -> RooflineAnalysis:
    return analyse_files([SAMPLES / "xspace" / "v6e-training.xplane.pb"])


@pytest.fixture(scope="module")
def kineto() -> RooflineAnalysis:
    return analyse_files([SAMPLES / "pytorch" / "h100-training.json"])


def page_of(analysis: RooflineAnalysis) -> dict[str, Any]:
    identity = PageIdentity(id="p", created_at="2026-01-01T00:00:00Z")
    return page_data(analysis, answer_of(analysis), identity)


def test_every_listed_op_has_a_part(training: RooflineAnalysis) -> None:
    subject = choose(training)
    budget = budget_of(training, subject)
    assert budget is not None
    found = {one for one in owners_of(training, subject, listed_ops(training)) if one}
    of_work = {f"work.{part.partition('.')[2]}" for part in budget.parts}
    assert found <= of_work | set(budget.parts)
    assert {"work.hbm", "work.compute", "exposed.ici", "infeed_outfeed"} <= found


def test_page_data_have_budget_and_transfers(training: RooflineAnalysis) -> None:
    page = page_of(training)
    budget = page["budget"]
    assert sum(part["time_us"] for part in budget["parts"]) == pytest.approx(
        budget["total_us"], rel=1e-5
    )
    transfers = page["transfers"]
    assert len({len(column) for column in transfers.values()}) == 1
    costs = page["ops"]["columns"]["cost"]
    assert {costs[op] for op in transfers["op"]} == {"transfer"}
    assert len(page["ops"]["columns"]["part"]) == page["ops"]["count"]


def test_a_profile_without_events_is_divided_by_its_ops() -> None:
    analysis = analyse_files([SAMPLES / "nsight_compute" / "a100-kernels.ncu-rep"])
    budget = page_of(analysis)["budget"]
    assert sum(part["time_us"] for part in budget["parts"]) == pytest.approx(budget["total_us"])
    assert {part["id"].partition(".")[0] for part in budget["parts"]} == {"at_roof", "below_roof"}


@needs_shared
def test_a_profile_without_times_has_no_budget() -> None:
    analysis = analyse_files([SHARED / "samples" / "minimal" / "kernels_without_times.csv"])
    page = page_of(analysis)
    assert page["budget"] is None
    assert "part" not in page["ops"]["columns"]
    assert page["figures"]["gain"] is None
