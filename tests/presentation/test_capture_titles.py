"""Titles from what captures say: the program, the device, the day, and nothing that they do not."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from roofline.presentation.capture_titles import title_of_capture
from tests.builders import profile_from_table
from tests.profiles import imported

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
NOON = 1_718_107_200 * 10**9  # 2024-06-11
TABLE = """
    op | self_us | program
    a  | 30      | 1
    b  | 20      | 2
    c  | 20      | 3
"""


@pytest.mark.parametrize(
    ("names", "program", "captured_at_ns", "title"),
    [
        ({1: "jit_init(77)", 2: "jit_train_step", 3: "jit_train_step"}, "", NOON, "train_step"),
        ({1: "SyncTensorsGraph.12", 2: "pmap_step"}, "", NOON, "step"),
        ({1: "jit__lambda_"}, r"C:\bin\kripke.exe", NOON, "kripke.exe"),
        ({}, "/usr/bin/python3.8", NOON, "TPU v0"),
        ({1: "a\nb<i>"}, "", NOON, "a b<i>"),
    ],
)
def test_program_is_the_one_that_took_most_time(
    names: Mapping[int, str], program: str, captured_at_ns: int, title: str
) -> None:
    profile = replace(
        profile_from_table(TABLE),
        program_names=names,
        program=program,
        captured_at_ns=captured_at_ns,
    )
    assert title_of_capture(profile, "TPU v0", ["host_0.pb"]) == f"{title} · 2024-06-11"
    assert title_of_capture(profile, "TPU v0", ["host_0.pb", "b.pb"]) == "host_0 and 1 more"


def test_name_of_the_file_stays_where_the_capture_says_nothing() -> None:
    profile = replace(profile_from_table(TABLE), program_names={}, captured_at_ns=None)
    for device in ("CPU", "GPU", ""):
        assert title_of_capture(profile, device, ["trace.json"]) == "trace"
    for wrong in (-1, 0, 2**70):
        told = replace(profile, captured_at_ns=wrong)
        assert title_of_capture(told, "H100", ["trace.json"]) == "H100"


@needs_shared
@pytest.mark.parametrize(
    ("place", "title"),
    [
        ("cases/s01_v4_training_cmem/host_0.xplane.pb", "train_step"),
        ("cases/s01_v4_training_cmem/reference.json", "TPU v4"),
        ("samples/rocprof_compute/vcopy_MI200", "vcopy"),
        ("samples/nsight_compute/2023.3_forward_strings.ncu-rep", "kripke.exe · 2024-11-26"),
        ("samples/nsight_compute/a10g_roofline_raw_auto_by2024.1.csv", "NVIDIA A10G"),
    ],
)
def test_real_captures_say_what_they_are_of(place: str, title: str) -> None:
    path = SHARED / place
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    profile = imported(*files)
    assert title_of_capture(profile, profile.device.name, ["host_0"]) == title
