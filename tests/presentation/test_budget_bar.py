"""The budget as it is shown: terms that add up as printed, and a part for every op."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.budget import budget_of, owners_of
from roofline.analysis.subjects.choose import choose
from roofline.exports.answering import answer_of
from roofline.pipeline import analyse_files
from roofline.presentation.budget_bar import BudgetBar, budget_bars, whole_numbers
from roofline.presentation.budget_parts import owns
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
    analysis = request.getfixturevalue(profile)
    (bar,) = budget_bars(analysis, choose(analysis))
    assert bar.unit_word == "a step"
    assert_adds_up(bar)


def test_every_listed_op_has_a_part(training: RooflineAnalysis) -> None:
    subject = choose(training)
    budget = budget_of(training, subject)
    assert budget is not None
    found = {one for one in owners_of(training, subject, listed_ops(training)) if one}
    assert {one for one in found if not any(owns(part, one) for part in budget.parts)} == set()
    assert {"work.hbm", "work.compute", "exposed.ici", "infeed_outfeed"} <= found


def test_what_stays_lies_left_of_the_floor(training: RooflineAnalysis) -> None:
    (bar,) = budget_bars(training, choose(training))
    gaps = [part for part in bar.parts if part.texture == "hatch"]
    assert bar.floor_at == pytest.approx(min(part.x for part in gaps), abs=0.01)


@needs_shared
def test_the_sum_of_the_inference_run() -> None:
    analysis = analyse_files([SHARED / "profiles" / "tpu-v6e-inference" / "host_0.xplane.pb"])
    (bar,) = budget_bars(analysis, choose(analysis))
    said = [f"{term.amount} {term.label}" for term in bar.terms]
    assert said == ["2.0 at its roofs", "76.0 waiting for host transfers", "0.8 other"]
    assert (bar.total, bar.floor) == ("78.8", "50.3\u00a0s")
    assert_adds_up(bar)


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
    assert budget_bars(analysis, choose(analysis)) == ()


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20), st.booleans())
def test_whole_numbers_add_up_and_stay_near(values: list[float], has_spare: bool) -> None:
    total, spare = round(sum(values)), len(values) - 1 if has_spare else None
    found = np.array(whole_numbers(values, total, spare))
    assert found.sum() == total
    off = np.abs(found - np.array(values))
    assert (off < 1.5).sum() >= len(values) - 1, "only the spare one may differ by more"
    if spare is not None:
        assert found[spare] >= 0
