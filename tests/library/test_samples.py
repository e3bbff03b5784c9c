"""The bundled samples: what the home page says of one before it is opened."""

import pytest

from roofline.library.samples import Sample
from tests.tools.sample_sights import shown_at_first, sight_of


@pytest.mark.parametrize("sample", shown_at_first(), ids=lambda sample: sample.name)
def test_a_sample_says_at_first_what_its_page_says(sample: Sample) -> None:
    """Else run `python -m tests.tools.sample_sights`."""
    assert sample.sight == sight_of(sample)
