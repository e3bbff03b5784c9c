"""Where the device mostly waits for transfers, the headline says so, and no memory is blamed."""

from pathlib import Path

import numpy as np
import pytest

from roofline.analysis.records import Cost, RooflineAnalysis
from roofline.model.categories import is_collective
from roofline.pipeline import analyse_files
from roofline.presentation.sentences import plain_text
from roofline.presentation.verdict import build_verdict
from roofline.presentation.waiting import waits

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")


def words(analysis: RooflineAnalysis) -> tuple[str, str]:
    verdict = build_verdict(analysis, analysis.with_infeed)
    headline, lead = plain_text(verdict.headline), plain_text(verdict.lead)
    return headline.replace("\u202f", " "), lead.replace("\u00a0", " ")


@needs_shared
def test_inference_that_waits_for_the_host_says_so() -> None:
    path = SHARED / "profiles" / "tpu-v6e-inference" / "host_0.xplane.pb"
    analysis = analyse_files([path])
    headline, lead = words(analysis)
    assert headline == "Waiting for host transfers for 84 % of the time"
    assert "28.3 GB/s of 32.0 GB/s, the peak of the host link" in lead
    assert "Largest saving: host transfers, 8.90 s of 90.9 s per TensorCore" in lead
    budget = analysis.budgets
    assert budget is not None
    parts = {part.id: part.time_us / 1e6 for part in budget.capture.parts}
    assert budget.capture.total_us / 1e6 == pytest.approx(90.932, abs=0.001)
    assert parts["exposed_transfer.host"] == pytest.approx(76.008, abs=0.001)
    assert parts["idle"] == pytest.approx(12.153, abs=0.001)
    assert parts["exposed.ici"] == pytest.approx(0.365, abs=0.001)
    assert parts["at_roof.hbm"] + parts["below_roof.hbm"] == pytest.approx(2.406, abs=0.001)


@needs_shared
def test_short_waits_for_several_links_leave_the_headline_to_the_bound() -> None:
    folder = SHARED / "cases" / "s06_v5e_three_hosts"
    analysis = analyse_files(sorted(folder.glob("*.xplane.pb")))
    assert [round(one.share, 2) for one in waits(analysis)] == [0.14, 0.07]
    headline, _ = words(analysis)
    assert headline.startswith("HBM-bound at 30 % of the roof")


@needs_shared
def test_collectives_of_a_table_are_not_bound_by_hbm() -> None:
    path = SHARED / "profiles" / "tpu-v5p-training-golden" / "reference.json"
    analysis = analyse_files([path])
    ops = analysis.ops
    moves = np.array([is_collective(category) for category in ops.category])
    assert ops.measures.self_time_us[moves].sum() / analysis.with_infeed.total_time_us == (
        pytest.approx(0.120, abs=0.001)
    )
    labels = {analysis.bound_label(code) for code in ops.measures.bound[moves].tolist()}
    assert labels == {"ICI"}
    assert {ops.cost[k] for k in np.flatnonzero(moves)} == {Cost.TRANSFER}


@pytest.mark.parametrize(
    ("category", "expected"),
    [
        ("all-reduce-scatter fusion", True),
        ("all-gather-start", True),
        ("collective-permute-done", True),
        ("host send", True),
        ("copy-done", False),
        ("reduce", False),
        ("megacore fusion", False),
    ],
)
def test_collectives_by_category(category: str, *, expected: bool) -> None:
    assert is_collective(category) is expected
