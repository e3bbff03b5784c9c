"""Subjects of real profiles: the expected values, and sums that hold for every file."""

import csv
from pathlib import Path

import numpy as np
import pytest

from roofline.analysis.subjects.choose import choose
from roofline.analysis.subjects.options import options
from roofline.analysis.subjects.records import Subject
from roofline.errors import RooflineError
from tests.conftest import SAMPLES
from tests.shared_profiles import SHARED, analysed, needs_shared, shared
from tests.subject_sums import check_sums

EXPECTED = SHARED / "design" / "next" / "one_subject_expected.csv"
CASES = list(csv.DictReader(EXPECTED.read_text().splitlines())) if EXPECTED.is_file() else []
PRINTED = 0.05  # us: the expected values have one decimal
# By how many us a value is not the table's, and why.
DIFFERENT: dict[str, tuple[dict[str, float], str]] = {
    "h100": (
        {
            "floor_us": -1492.8,
            "needed_us": 525.0,
            "to_gain_us": 1492.8,
            "unknown_us": -2017.8,
            "roof_ratio": -0.0188,
        },
        "bytes of `aten::cat` are known by the name of its kernel",
    ),
    "mi300x": (
        {
            "floor_us": -1051.6,
            "needed_us": 331.8,
            "to_gain_us": 1051.6,
            "unknown_us": -1383.4,
            "roof_ratio": -0.0073,
        },
        "as h100, and `aten::bmm` fp32 is known since the catalogue has MI300X's matrix fp32 peak",
    ),
    "sglang": (
        {"floor_us": -5.6, "to_gain_us": 5.6, "unknown_us": -5.6},
        "bytes of `aten::_foreach_copy_` are known by the name of its kernel",
    ),
}


def found(subject: Subject) -> dict[str, float | None]:
    parts = subject.parts
    return {
        "time_us": subject.time_us,
        "floor_us": subject.floor_us,
        "needed_us": parts.needed,
        "to_gain_us": parts.to_gain,
        "unknown_us": parts.unknown,
        "impossible_us": parts.impossible,
        "links_us": sum(parts.links.values()),
        "transfers_us": parts.transfers,
        "input_us": parts.input,
        "host_wait_us": parts.idle,
        "roof_ratio": subject.roof_ratio,
        "idle_ratio": subject.idle_ratio,
    }


@needs_shared
@pytest.mark.parametrize("case", CASES, ids=[one["case"] for one in CASES])
def test_expected_values(case: dict[str, str]) -> None:
    analysis = shared(*case["files"].split(" + "))
    subject = choose(analysis)
    check_sums(subject, analysis)
    assert subject.kind == case["subject"]
    shifts, _ = DIFFERENT.get(case["case"], ({}, ""))
    for name, value in found(subject).items():
        if not case[name]:
            assert value is None, name
            continue
        waits = name == "host_wait_us" and subject.kind == "serving"
        least = PRINTED if name.endswith("_us") else PRINTED / 1000
        wanted = float(case[name]) + shifts.get(name, 0.0)
        assert value == pytest.approx(wanted, rel=0.005 if waits else 0.001, abs=least), name


@needs_shared
@pytest.mark.parametrize(("name", "least"), [("samples", 50), ("profiles", 7)])
def test_sums_of_every_shared_file(name: str, least: int) -> None:
    assert checked(SHARED / name) >= least


def test_sums_of_every_sample() -> None:
    assert checked(SAMPLES) >= 15


def checked(folder: Path) -> int:
    """How many files of `folder` are profiles of their own; the sums of all hold."""
    count = 0
    for file in sorted(one for one in folder.rglob("*") if one.is_file()):
        try:
            analysis = analysed(file)
        except RooflineError:
            continue
        count += 1
        for option in options(analysis)[:4]:
            check_sums(choose(analysis, option.of), analysis)
    return count


@pytest.mark.parametrize("folder", ["xspace/v5e-three-hosts", "pytorch/mi300x-two-ranks"])
def test_sums_of_several_hosts(folder: str) -> None:
    analysis = analysed(*sorted((SAMPLES / folder).iterdir()))
    subject = choose(analysis)
    check_sums(subject, analysis)
    assert (subject.kind, subject.cores) == ("step", analysis.device.core_count)
    assert subject.outside.before_us is None


@needs_shared
def test_a_transfer_over_one_link_can_lose_what_its_peak_does_not_need() -> None:
    """The capture's transfers take 76.0 s; at the peak its busier direction needs 48.4 of them."""
    subject = choose(shared("profiles/tpu-v6e-inference/host_0.xplane.pb"))
    moved = np.array([part == "transfers" for part in subject.ops.part])
    assert float(subject.ops.gain_us[moved].sum()) == pytest.approx(27.644e6, rel=1e-3)
    assert subject.outside.before_us == pytest.approx(12.153e6, rel=1e-3)


@needs_shared
def test_only_numbers_that_cannot_be_right_are_doubtful() -> None:
    """Ends of asynchronous transfers are above a ceiling, too; their bytes moved before."""
    analysis = shared("profiles/tpu-v5p-training-golden/reference.json")
    doubtful = choose(analysis).ops.doubtful.tolist()
    assert {analysis.ops.name[row][:20] for row in doubtful} == {
        "vmap_splash_mha_dkv_",
        "vmap_splash_mha_dq_s",
    }


def test_threads_share_the_time_of_a_program() -> None:
    """Self times of this program add up to 133.6 ms a step, which takes 127.2."""
    analysis = analysed(SAMPLES / "xspace" / "jax-cpu-transformer.xplane.pb")
    subject = choose(analysis)
    self_us = np.nansum(analysis.ops.self_time_per_core_us[:-1]) / len(analysis.profile.steps)
    assert float(self_us) == pytest.approx(133_601, rel=1e-3)
    assert subject.time_us == pytest.approx(127_159, rel=1e-4)
    assert float(subject.ops.width_us.sum()) == pytest.approx(116_994, rel=1e-4)


def test_input_can_be_hidden() -> None:
    """The floor of this program was 8.68 ms while infeed was taken for something that stays."""
    subject = choose(analysed(SAMPLES / "xspace" / "v6e-training.xplane.pb"))
    assert subject.floor_us == pytest.approx(7_815.4, rel=1e-4)
    assert subject.parts.input == pytest.approx(871.7, rel=1e-3)
