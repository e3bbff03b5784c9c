"""The budget of profiles without events: each op owns its self time, and the parts add up."""

from pathlib import Path
from typing import Any

import pytest

from roofline.analysis.subjects.budget import budget_of
from roofline.analysis.subjects.choose import choose
from roofline.library.samples import find_samples
from roofline.pipeline import analyse_files
from tests.builders import analysed

HEAD = "op|category|self_us|flop|hbm_bytes\n"
ROOT = Path(__file__).resolve().parents[2]
V5P = ROOT.parent / "shared" / "profiles" / "tpu-v5p-training-golden" / "reference.json"
SAMPLES = {sample.name: list(sample.files) for sample in find_samples(ROOT / "sample_profiles")}


def parts_of(table: str, **rest: Any) -> dict[str, float]:
    analysis = analysed(table, **rest)
    budget = budget_of(analysis, choose(analysis))
    assert budget is not None
    return dict(budget.parts)


def test_each_op_owns_its_self_time() -> None:
    table = (
        f"{HEAD}d|convolution|500|2e8|1\nc|copy|100|0|1e6\nr|all-reduce|150|0|1e6\n"
        "k|custom-call|50|–|–\nf|infeed|80|0|1\na|copy-done|20|0|1e6"
    )
    assert parts_of(table, idle_us=100) == pytest.approx(
        {
            "at_roof.compute": 200,
            "below_roof.compute": 300,
            "at_roof.hbm": 1e6 / (100 * 2**30) * 1e6,
            "below_roof.hbm": 100 - 1e6 / (100 * 2**30) * 1e6,
            "exposed.ici": 150,
            "unknown": 70,
            "infeed_outfeed": 80,
            "idle": 100,
        }
    )


def test_ops_that_ran_at_once_share_the_time_and_keep_their_time_at_the_roof() -> None:
    """1,500 us of ops in 1,000 us: each owns two thirds; its roof needs as much as alone."""
    table = f"{HEAD}d|convolution|900|2e8|1\ne|convolution|600|5e8|1"
    found = parts_of(table, time_us=1000)
    assert found == pytest.approx({"at_roof.compute": 200 + 400, "below_roof.compute": 400})


@pytest.mark.parametrize("name", SAMPLES)
def test_the_budget_of_every_sample_adds_up(name: str) -> None:
    analysis = analyse_files(SAMPLES[name])
    budget = budget_of(analysis, choose(analysis))
    assert budget is not None
    assert sum(budget.parts.values()) == pytest.approx(budget.total_us, rel=1e-9)
    assert 0 <= budget.floor_us <= budget.total_us


@pytest.mark.skipif(not V5P.is_file(), reason="needs the shared folder")
def test_collectives_of_the_v5p_table_are_12_percent() -> None:
    analysis = analyse_files([V5P])
    budget = budget_of(analysis, choose(analysis))
    assert budget is not None
    exposed = sum(us for name, us in budget.parts.items() if name.startswith("exposed"))
    assert exposed / budget.total_us == pytest.approx(0.12016, abs=1e-4)
