"""What the home page shows of a sample before it is opened: `python -m tests.tools.sample_sights`.

Writes `sample_profiles/sights.json`: the first sentence and the picture of each sample that the
page shows at first.
"""

import json
from pathlib import Path

import orjson

from roofline.exports.answering import answer_of
from roofline.imports.child import found_in
from roofline.library.samples import SHOWN_AT_FIRST, Sample, Sight, find_samples
from roofline.pipeline import analyse_files
from roofline.presentation.page import PageIdentity, build_page

FOLDER = Path(__file__).resolve().parents[2] / "sample_profiles"
_NOBODY = PageIdentity(id="", created_at="", file_sizes={})


def shown_at_first() -> tuple[Sample, ...]:
    """The samples that the home page shows without a click."""
    return find_samples(FOLDER)[:SHOWN_AT_FIRST]


def sight_of(sample: Sample) -> Sight:
    """The first sentence and the picture of a sample, as its page has them."""
    analysis = analyse_files(list(sample.files))
    summary = found_in(orjson.loads(build_page(analysis, answer_of(analysis), _NOBODY))).summary
    return Sight(headline=summary.headline, picture=summary.picture or "")


if __name__ == "__main__":
    found = {one.name: sight_of(one) for one in shown_at_first()}
    written = {
        name: {"headline": one.headline, "picture": one.picture} for name, one in found.items()
    }
    (FOLDER / "sights.json").write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n")
