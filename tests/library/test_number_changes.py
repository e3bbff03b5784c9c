"""A release that changes numbers says so: in a table, and on each profile that it computed anew."""

import json

import pytest

from roofline.importers.registry import IMPORTERS
from roofline.library.results_version import (
    CHANGES,
    RESULTS_VERSION,
    changes_since,
    results_number,
    results_version,
)
from tests.tools.sample_numbers import GOLDEN, numbers


def test_no_number_of_a_sample_changes_without_a_sentence() -> None:
    golden, now = json.loads(GOLDEN.read_text()), numbers()
    assert golden["results_version"] == RESULTS_VERSION, "run python -m tests.tools.sample_numbers"
    assert {name: now[name] for name in golden["samples"]} == golden["samples"], (
        "say what changed with a row of library/number_changes.json of the next results version"
    )
    assert set(now) == set(golden["samples"]), "run python -m tests.tools.sample_numbers"


def test_each_version_has_its_sentences_and_formats_have_their_names() -> None:
    versions = [one.results_version for one in CHANGES]
    assert sorted({*versions}) == list(range(versions[0], RESULTS_VERSION + 1))
    assert results_number(results_version()) == RESULTS_VERSION
    labels = [importer.LABEL for importer in IMPORTERS]
    for change in CHANGES:
        assert change.said.endswith(".")
        for name in change.formats:
            assert any(label.startswith(name) for label in labels), name


OF_ROCPROFV3 = ("that of the profiler", "roctx", "FETCH_SIZE", "VALUBusy", "only where both")
OF_ALL = ("held against the links", "Groups divide", "Idle time waits")
LATER = ("behind an idle start", "all that is known is 0")


@pytest.mark.parametrize(
    ("version", "format_name", "counts"),
    [
        (None, "rocprofv3", ()),  # computed for the first time
        (results_version(), "rocprofv3", ()),
        (
            "v2-0123456789abcdef",
            "rocprofv3",
            ("transfer over the host link", *OF_ALL, *OF_ROCPROFV3, *LATER, "to another"),
        ),
        ("v2-0123456789abcdef", "Generic table", (*OF_ALL, *LATER)),
        ("of an unknown form", "Generic table", (*OF_ALL, *LATER)),
    ],
)
def test_profile_hears_of_later_changes_of_its_format(
    version: str | None, format_name: str, counts: tuple[str, ...]
) -> None:
    said = changes_since(version, format_name)
    assert len(said) == len(counts)
    assert all(word in sentence for word, sentence in zip(counts, said, strict=True))
