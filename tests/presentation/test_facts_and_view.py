"""Facts are what every device has in common: of each sample, under every part of the catalogue."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from roofline.analysis.analyse import hold, prepare
from roofline.analysis.records import AnalysisOptions
from roofline.devices.catalogue import parts
from roofline.devices.choice import PeakChoice
from roofline.devices.resolve import resolve
from roofline.exports.answering import answer_of
from roofline.library.samples import find_samples
from roofline.model.memory import MemoryLevel
from roofline.presentation.charts.choices import Infeed
from roofline.presentation.facts_and_view import Document, part_of_page
from roofline.presentation.json_text import to_json
from roofline.presentation.page import PageIdentity, facts_data, page_data, view_data, view_of_page
from tests.conftest import SAMPLES
from tests.profiles import imported
from tests.shared_profiles import SHARED, needs_shared

INFEEDS: tuple[Infeed, ...] = ("in", "out")
IDENTITY = PageIdentity(id="p", created_at="2026-01-01T00:00:00Z")
BY_HAND = [PeakChoice(gbs={level: 33.0}) for level in MemoryLevel]
EVERY = [*(PeakChoice(part_id=part.id) for part in parts()), *BY_HAND]
FILES = {sample.name: list(sample.files) for sample in find_samples(SAMPLES)}
# Kernels without times, numbers that no peak explains, links without a name, several hosts.
HARD = (
    "samples/minimal/kernels_without_times.csv",
    "samples/minimal/cpu_only_gpu.json",
    "samples/xprof_export/a100_roofline_model.csv",
    "profiles/gpu-v100-tf-multiworker/host_0.xplane.pb",
)


def choices_with_other_facts(files: Sequence[Path], choices: Sequence[PeakChoice]) -> list[str]:
    """The choices under which the facts are not those of the profile's own device."""
    profile = imported(*files)
    prepared = prepare(profile, AnalysisOptions())
    own = hold(prepared, resolve(profile.device))
    answer = answer_of(own)
    facts = to_json(facts_data(own, answer, IDENTITY))
    return [
        repr(choice)
        for choice in choices
        if to_json(
            facts_data(hold(prepared, resolve(profile.device, choice=choice)), answer, IDENTITY)
        )
        != facts
    ]


@pytest.mark.parametrize(("number", "name"), list(enumerate(FILES)))
def test_no_peak_changes_a_fact(number: int, name: str) -> None:
    """Each part is that of four samples or more: peaks are numbers, whatever part they are of."""
    assert choices_with_other_facts(FILES[name], EVERY[number % 5 :: 5] + BY_HAND) == []


@needs_shared
@pytest.mark.parametrize("path", HARD)
def test_no_peak_changes_a_fact_of_a_hard_profile(path: str) -> None:
    assert choices_with_other_facts([SHARED / path], EVERY[::3] + BY_HAND) == []


@pytest.mark.parametrize("name", FILES)
def test_each_document_is_its_keys_of_the_page(name: str) -> None:
    profile = imported(*FILES[name])
    analysis = hold(prepare(profile, AnalysisOptions()), resolve(profile.device))
    answer = answer_of(analysis)
    page = page_data(analysis, answer, IDENTITY)
    facts = facts_data(analysis, answer, IDENTITY)
    assert to_json(facts) == to_json(part_of_page(page, Document.FACTS))
    for infeed in INFEEDS:
        view = view_data(analysis, answer, IDENTITY, infeed)
        assert to_json(view) == to_json(view_of_page(page, infeed))
    both = {*facts["ops"]["columns"], *view["ops"]["columns"]}
    assert both == {*page["ops"]["columns"]}
    assert {*facts, *view} == {*page}
