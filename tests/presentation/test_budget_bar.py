"""The budget as it is shown: terms that add up as printed, and a part for every op."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.records import RooflineAnalysis
from roofline.pipeline import analyse_files
from roofline.presentation.budget_bar import BudgetBar, budget_bars, equation, whole_numbers
from roofline.presentation.budget_parts import owners, owns
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


def amount(text: str) -> float:
    return 0.0 if text.startswith("<") else float(text.replace(",", ""))


def percent(text: str) -> float:
    return 0.0 if text.startswith("<") else float(text.removesuffix("\u202f%"))


def assert_adds_up(bar: BudgetBar) -> None:
    assert sum(amount(term.amount) for term in bar.terms) == pytest.approx(amount(bar.total))
    for terms in (bar.terms, bar.parts):
        assert sum(percent(term.percent) for term in terms) == pytest.approx(100.0)
    said = {term.id: term.amount for term in bar.terms}
    assert all(part.amount == said.get(part.id, part.amount) for part in bar.parts)
    assert sum(part.width for part in bar.parts) == pytest.approx(100.0, abs=0.01)


@pytest.mark.parametrize("profile", ["training", "kineto"])
def test_terms_add_up_as_printed(profile: str, request: pytest.FixtureRequest) -> None:
    bars = budget_bars(request.getfixturevalue(profile))
    assert [bar.scope for bar in bars] == ["step", "capture"]
    for bar in bars:
        assert_adds_up(bar)


def test_every_listed_op_has_a_part(training: RooflineAnalysis) -> None:
    assert training.budgets is not None
    parts = [part.id for part in training.budgets.capture.parts]
    found = owners(training, listed_ops(training))
    assert {one for one in found if not any(owns(part, one) for part in parts)} == set()
    assert {"work.hbm", "work.compute", "exposed.ici", "infeed_outfeed"} <= set(found)


def test_what_stays_lies_left_of_the_floor(training: RooflineAnalysis) -> None:
    for bar in budget_bars(training):
        gaps = [part for part in bar.parts if part.texture == "hatch"]
        assert bar.floor_at == pytest.approx(min(part.x for part in gaps), abs=0.01)


@needs_shared
def test_the_sum_of_the_inference_run() -> None:
    analysis = analyse_files([SHARED / "profiles" / "tpu-v6e-inference" / "host_0.xplane.pb"])
    (bar,) = budget_bars(analysis)
    assert equation(bar) == (
        "90.9\u00a0s = 2.0 at the roof + 76.0 exposed host transfers + 12.2 idle + 0.7 other"
    )
    assert "Floor: 50.3\u00a0s would be left" in bar.notes[0]
    assert_adds_up(bar)


def test_page_data_have_budget_and_transfers(training: RooflineAnalysis) -> None:
    page = page_data(training, PageIdentity(id="p", created_at="2026-01-01T00:00:00Z"))
    for scope in ("capture", "step"):
        budget = page["budget"][scope]
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
    page = page_data(analysis, PageIdentity(id="p", created_at="2026-01-01T00:00:00Z"))
    capture = page["budget"]["capture"]
    assert sum(part["time_us"] for part in capture["parts"]) == pytest.approx(capture["total_us"])
    assert {part["id"].partition(".")[0] for part in capture["parts"]} == {"at_roof", "below_roof"}
    assert [bar.scope for bar in budget_bars(analysis)] == ["capture"]


@needs_shared
def test_a_profile_without_times_has_no_budget() -> None:
    analysis = analyse_files([SHARED / "samples" / "minimal" / "kernels_without_times.csv"])
    page = page_data(analysis, PageIdentity(id="p", created_at="2026-01-01T00:00:00Z"))
    assert page["budget"] is None
    assert "part" not in page["ops"]["columns"]
    assert budget_bars(analysis) == ()


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20), st.booleans())
def test_whole_numbers_add_up_and_stay_near(values: list[float], has_spare: bool) -> None:
    total, spare = round(sum(values)), len(values) - 1 if has_spare else None
    found = np.array(whole_numbers(values, total, spare))
    assert found.sum() == total
    off = np.abs(found - np.array(values))
    assert (off < 1.5).sum() >= len(values) - 1, "only the spare one may differ by more"
    if spare is not None:
        assert found[spare] >= 0
