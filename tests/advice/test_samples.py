"""Every bundled sample has advice: an import computes it for every profile, of every format."""

from pathlib import Path

import pytest

from roofline.exports.answering import answered
from roofline.library.samples import find_samples
from roofline.pipeline import analyse_files
from roofline.presentation.json_text import to_json

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = {sample.name: list(sample.files) for sample in find_samples(ROOT / "sample_profiles")}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_has_advice(name: str) -> None:
    analysis = analyse_files(SAMPLES[name])
    assert to_json(answered(analysis).advice)
