"""What every importer owes: samples recognised by content and by one importer only, sane profiles,
and truncated copies that give a result or say what is wrong."""

import dataclasses
import re
from collections.abc import Iterator, Sized
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from roofline.importers.registry import IMPORTERS, Importer, identify
from roofline.importers.source import SourceFile
from roofline.library.samples import Sample, find_samples
from roofline.model.memory import MemoryLevel
from roofline.model.profile import OpTable, Profile, Provenance
from tests.profiles import imported
from tests.tools import damage

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = find_samples(ROOT / "sample_profiles")
FILES = [(sample, file) for sample in SAMPLES for file in sample.files]
SMALL_BYTES, CUTS_OF_SMALL, CUTS_OF_LARGE = 100_000, 20, 8


# Beside the file with the times, whose format's folder the sample lies in.
OF_ANOTHER_PROFILER = {"nsight_systems/a100-counted/report.csv": "nsight_compute"}


def by_name(value: object) -> str:
    if isinstance(value, Sample):
        return value.name
    return value.name if isinstance(value, Path) else str(value)


def read(sample: Sample) -> Profile:
    return imported(*sample.files)


@cache
def profile_of(sample: Sample) -> Profile:
    """The profile of a sample, read once for all tests that do not change it."""
    return read(sample)


@pytest.mark.parametrize(("sample", "file"), FILES, ids=by_name)
def test_recognised_by_content_and_by_one_importer(
    sample: Sample, file: Path, tmp_path: Path
) -> None:
    renamed = tmp_path / "no-such-suffix.x"
    renamed.write_bytes(file.read_bytes())
    claims = [one.FORMAT_ID for one in IMPORTERS if one.recognises(SourceFile(renamed))]
    place = file.relative_to(ROOT / "sample_profiles")
    assert claims == [OF_ANOTHER_PROFILER.get(str(place), place.parts[0])]


@pytest.mark.parametrize("sample", SAMPLES, ids=by_name)
def test_samples_make_sense(sample: Sample) -> None:
    profile = profile_of(sample)
    importer = identify(SourceFile(sample.files[0]))
    assert profile.format_id == importer.FORMAT_ID
    assert profile.format_label.startswith(importer.LABEL)
    assert len(profile.ops)
    assert profile.hosts
    assert profile.device.core_count >= 1
    assert profile.op_time_ps <= profile.time_ps
    assert all(name for name in profile.ops.name)
    assert {profile.flop_provenance, profile.bytes_provenance} <= set(Provenance)
    for sentence in profile.limits:
        assert sentence[0].isupper(), sentence
        assert sentence.endswith("."), sentence
    for found in profile.diagnostics:
        assert found.code
        assert found.message
        assert found.count >= 1


@pytest.mark.parametrize("sample", SAMPLES, ids=by_name)
def test_columns_have_one_length(sample: Sample) -> None:
    profile = profile_of(sample)
    for name, column in columns(profile.ops):
        assert len(column) == len(profile.ops), name
    steps = profile.steps
    assert len(steps.begin_ps) == len(steps.end_ps) == len(steps.time_ps) == len(steps)
    assert steps.sums.flop.shape == (len(steps), 2)
    assert set(steps.sums.traffic_bytes) == set(profile.ops.traffic_bytes)
    launches = profile.launches
    if launches is not None:
        assert len(launches.detail) == len(launches.time_ps) == len(launches.flop) == len(launches)
        assert int(launches.op.max(initial=-1)) < len(profile.ops)


@pytest.mark.parametrize("sample", SAMPLES, ids=by_name)
def test_reading_twice_gives_the_same(sample: Sample) -> None:
    first, second = profile_of(sample), read(sample)
    assert first.ops.name == second.ops.name
    assert first.ops.flop.tolist() == second.ops.flop.tolist()
    assert first.diagnostics == second.diagnostics


@pytest.mark.parametrize(("sample", "file"), FILES, ids=by_name)
def test_truncated_copies_are_read_or_explained(sample: Sample, file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    count = CUTS_OF_SMALL if len(data) <= SMALL_BYTES else CUTS_OF_LARGE
    path = tmp_path / file.name
    others = [other for other in sample.files if other != file]
    for content in damage.cuts(data, count):
        path.write_bytes(content)
        damage.outcome([path, *others])


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.FORMAT_ID)
def test_nobody_claims_what_is_nothing(importer: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "x"
    for content in (
        b"\x00",
        b"\n",
        b"\n\n\n",
        b" " * 999,
        b"{}",
        b"[]",
        b"[[[[",
        b'"',
        b"\xff" * 70,
    ):
        path.write_bytes(content)
        assert not importer.recognises(SourceFile(path)), content


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.FORMAT_ID)
def test_importers_say_what_they_are(importer: Importer) -> None:
    document = importer.__doc__ or ""
    assert re.fullmatch(r"[a-z_]+", importer.FORMAT_ID)
    assert importer.LABEL and importer.READS
    assert re.search(r"\b[Tt]ried\b|also read", document), "which versions were tried"
    assert "Lost:" in document, "what is lost"
    folders = {file.relative_to(ROOT / "sample_profiles").parts[0] for _, file in FILES}
    assert importer.FORMAT_ID in folders, "a sample of the format"


def columns(ops: OpTable) -> Iterator[tuple[str, Sized]]:
    """Every column, those per level and unit too."""
    for field in dataclasses.fields(ops):
        value = getattr(ops, field.name)
        if isinstance(value, dict):
            assert all(isinstance(key, MemoryLevel) or key.value for key in value)
            yield from ((f"{field.name}/{key}", column) for key, column in value.items())
        elif value is not None:
            yield field.name, value
