"""What the registry of importers adds: names of formats, XProf's reading, kernels loaded early."""

from collections.abc import Sequence
from pathlib import Path

from roofline.importers import nsight_compute, registry, xspace
from roofline.importers.registry import Importer, MirrorsXprof
from tests.profiles import imported

ROOT = Path(__file__).resolve().parents[2]
CAPTURE = ROOT / "tests/golden/xspace/s01_v4_training_cmem/host_0.xplane.pb"
REPORT = ROOT / "sample_profiles/nsight_compute/a100-kernels.ncu-rep"
TABLE = ROOT / "sample_profiles/generic/cfd-cpu.csv"


def names_of(formats: Sequence[Importer]) -> list[str]:
    return [one.FORMAT_ID for one in formats]


def test_the_profile_carries_the_names_of_its_format() -> None:
    profile = imported(CAPTURE)
    assert (profile.format_id, profile.format_label) == (xspace.FORMAT_ID, xspace.LABEL)


def test_a_format_adds_its_detail_to_the_label() -> None:
    profile = imported(REPORT)
    assert profile.format_detail
    assert profile.format_label == f"{nsight_compute.LABEL} {profile.format_detail}"


def test_only_formats_that_xprof_reads_see_its_mistakes() -> None:
    mirrors = [one for one in registry.IMPORTERS if isinstance(one, MirrorsXprof)]
    assert names_of(mirrors) == ["xspace", "xprof_export"]
    ours, theirs = imported(TABLE), imported(TABLE, xprof_compat=True)
    assert (ours.ops.name, ours.time_ps) == (theirs.ops.name, theirs.time_ps)
