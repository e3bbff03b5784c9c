"""A compute unit has one name: the one that its roof has, wherever it is spoken of."""

import json

import pytest

from roofline.exports.answering import answered
from roofline.exports.records import analysis_to_json
from roofline.exports.text import describe
from roofline.imports.child import found_in
from roofline.pipeline import analyse_files
from roofline.presentation.page import PageIdentity, page_data
from tests.conftest import SAMPLES


@pytest.mark.parametrize(
    ("sample", "name", "other"),
    [
        ("pytorch/h100-training.json", "Tensor core bf16", "Matrix bf16"),
        ("nsight_compute/a100-kernels.ncu-rep", "Tensor core fp16", "Matrix fp16"),
        ("rocprofiler_sdk/mi300x_results.json", "Matrix core bf16", "Matrix bf16"),
        ("rocprof_compute/mi250x-solver", "Matrix core bf16", "Matrix bf16"),
    ],
)
def test_a_unit_has_one_name(sample: str, name: str, other: str) -> None:
    analysis = analyse_files([SAMPLES / sample])
    found = answered(analysis)
    identity = PageIdentity(id="a" * 12, created_at="2026-01-01T00:00:00Z")
    page = page_data(analysis, found.answer, identity)
    places = {
        "text": describe(analysis, analysis.view(include_infeed_outfeed=True), found.answer),
        "json": analysis_to_json(
            analysis, include_infeed_outfeed=True, answer=found.answer
        ).decode(),
        "page": json.dumps(page),
        "advice": json.dumps(found.advice),
        "list": str(found_in(page).summary),
    }
    assert {place for place, said in places.items() if other in said} == set()
    assert name in places["text"] and name in places["page"]


def test_a_unit_that_a_nameless_peak_stands_for_has_its_name() -> None:
    """Columns name the unit, whose work they tell from the vector unit's; words name the roof."""
    analysis = analyse_files([SAMPLES / "xspace/v6e-training.xplane.pb"])
    found = answered(analysis)
    text = describe(analysis, analysis.view(include_infeed_outfeed=True), found.answer)
    assert "Matrix bf16" not in text + json.dumps(found.advice)
    assert "of the compute roof" in json.dumps(found.advice)
