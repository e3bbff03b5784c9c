"""The browser's what-if arithmetic equals the analysis done with the same peaks."""

import json
import math
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from roofline.analysis.analyse import analyse
from roofline.analysis.cells import MOST_TIMES
from roofline.analysis.records import AnalysisOptions
from roofline.devices import PeakChoice, resolve
from roofline.devices.listing import device_list
from roofline.exports.answering import answer_of
from roofline.importers.registry import import_profile
from roofline.importers.source import SourceFile
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, PeakOrigin, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from roofline.presentation.page import PageIdentity, page_data
from tests.builders import make_steps, profile_from_table, reported
from tests.moving import moving
from tests.narrowing import known
from tests.page_rows import program_points

ROOT = Path(__file__).resolve().parents[2]
XSPACE = ROOT / "sample_profiles" / "xspace"
NODE = shutil.which("node")
CHANGED = (
    "bottleneck_intensity",
    "attainable_gflops",
    "roofline_efficiency_ratio",
    "compute_efficiency_ratio",
    "memory_utilisation_ratio",
)
# Six significant digits on each of two numbers that are divided.
RELATIVE = 1e-5

OPS = """
op     | category    | self_us | flop  | hbm_bytes | vmem_read_bytes | shared_bytes
matmul | fusion      | 500     | 9e8   | 1e6       | 7e6             | 2e6
mixed  | fusion      | 300     | 2e8   | 5e6       | 7e6             | 0
copy   | copy        | 100     | 0     | 8e6       | 0               | 0
pallas | custom-call | 200     | –     | –         | –               | –
feed   | infeed      | 50      | 0     | 1e6       | 0               | 0
tiny   | fusion      | 1       | 1e3   | 1e3       | 1e6             | 1e5
"""
STEPS = make_steps(*({"us": us, "flop": 1e8, "hbm": 1e6} for us in (30, 33, 90)))
GPU = reported(
    kind=DeviceKind.GPU,
    gibs={MemoryLevel.HBM: 100.0, MemoryLevel.SHARED: 900.0},
    cores=2,
    peak_origin=PeakOrigin.MEASURED,
)

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


def sample(name: str) -> Profile:
    paths = sorted((XSPACE / name).glob("*")) if (XSPACE / name).is_dir() else [XSPACE / name]
    return import_profile([SourceFile(path) for path in paths])


def table(device: ReportedDevice | None = None) -> Profile:
    return profile_from_table(OPS, idle_us=100, steps=STEPS, device=device)


def split_by_unit(profile: Profile) -> Profile:
    """Half of the FLOPs on the matrix unit at bf16, 40 % vector fp32, the rest unnamed."""
    flop = profile.ops.flop
    shares = {ComputeUnit.MATRIX_BF16: (5, 10), ComputeUnit.VECTOR_FP32: (4, 10)}
    units = {unit: flop * part // whole for unit, (part, whole) in shares.items()}
    units[ComputeUnit.VECTOR_FP32] = units[ComputeUnit.VECTOR_FP32].copy()
    units[ComputeUnit.VECTOR_FP32][0] = 0
    return replace(profile, ops=replace(profile.ops, unit_flop=units))


def with_own_peaks(profile: Profile) -> Profile:
    """The profiler measured, per launch, how much each op could have moved."""
    could = profile.ops.self_time_ps.astype(np.float64) * 0.11
    capacity = {MemoryLevel.HBM: could}
    return replace(profile, ops=replace(profile.ops, level_capacity_bytes=capacity))


WITHOUT_TIMES = """\
name,flops,bytes,time_s,gflops,ai,precision
measured,1e12,1e10,1,,,bf16
planned,4e12,1e10,,,,bf16
light,4e9,1e10,,,,fp32
tiny,4,2,,,,fp32
stated,,,,500,10,bf16
half,4e9,,,,,fp32
"""


def without_times() -> Profile:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.csv"
        path.write_text(WITHOUT_TIMES, "utf-8")
        return import_profile([SourceFile(path)])


PROFILES: Mapping[str, Callable[[], Profile]] = {
    "untimed": without_times,
    "tpu": lambda: sample("v6e-training.xplane.pb"),
    "cmem": lambda: sample("v4-training-cmem.xplane.pb"),
    "hosts": lambda: sample("v5e-three-hosts"),
    "cpu": lambda: sample("jax-cpu-transformer.xplane.pb"),
    "table": table,
    "gpu": lambda: split_by_unit(table(device=GPU)),
    "links": moving,
    "links-without-peak": lambda: moving(GPU),
}
CHOICES = {
    "own": PeakChoice(),
    "v7x": PeakChoice(part_id="tpu-v7x"),
    "h100": PeakChoice(part_id="h100-sxm"),
    "t4": PeakChoice(part_id="t4"),
    "13900k": PeakChoice(part_id="intel-13900k"),
    "no-memory": PeakChoice(part_id="intel-max-1550"),
    "compute": PeakChoice(gflops={None: 123_456.0}),
    "main-memory": PeakChoice(gbs={MemoryLevel.HBM: 77.7}),
    "host": PeakChoice(gbs={MemoryLevel.HOST: 40.0}),
    "links": PeakChoice(gbs={MemoryLevel.HOST: 27.0, MemoryLevel.ICI: 45.0}),
    "both": PeakChoice(part_id="a10g", gflops={None: 4_321.0}, gbs={MemoryLevel.HBM: 5_678.0}),
}


def in_browser(data: Mapping[str, Any], choices: Sequence[PeakChoice]) -> list[dict[str, Any]]:
    """The page under each of `choices`: one start of node for all of them."""
    asked = {
        "page": data,
        "devices": device_list(None),
        "choices": [_asked(choice) for choice in choices],
    }
    done = subprocess.run(
        [known(NODE), ROOT / "tests" / "js" / "what_if.js"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    answers = json.loads(done.stdout)
    assert [answer["unknown"] for answer in answers] == [[]] * len(choices)
    return [answer["page"] for answer in answers]


def _asked(choice: PeakChoice) -> dict[str, Any]:
    peaks = {"compute" if unit is None else unit.value: v for unit, v in choice.gflops.items()}
    peaks |= {level.value: gbs for level, gbs in choice.gbs.items()}
    return {"dev": choice.part_id, "peaks": peaks}


def of_analysis(profile: Profile, choice: PeakChoice) -> dict[str, Any]:
    device = resolve(profile.device, choice=choice)
    analysis = analyse(profile, device, AnalysisOptions())
    return page_data(analysis, answer_of(analysis), PageIdentity(id="p", created_at=""))


def is_close(mine: float | None, theirs: float | None, scale: float = 0.0) -> bool:
    if mine is None or theirs is None:
        return mine is theirs
    return math.isclose(mine, theirs, rel_tol=RELATIVE, abs_tol=RELATIVE * scale + 1e-12)


def roof_id(data: Mapping[str, Any], number: int | None) -> str | None:
    return None if number is None else data["roofs"]["compute"][number]["id"]


def clock_columns(data: Mapping[str, Any]) -> list[str]:
    """Columns of the times that work takes."""
    return [clock["column"] for clock in data["clocks"]] + [
        "t_min_us",
        "t_max_us",
        "above_t_max_us",
    ]


def is_compared(row: int, ours: Mapping[str, Any], python: Mapping[str, Any]) -> bool:
    """False for ops with a quotient that is not a rate under one of the peaks.

    The browser cannot know a rate that was not sent, and leaves out shares that no peak explains.
    """
    shares = [ours[column][row] for column in CHANGED if column.endswith("_ratio")]
    assert all(share is None or share <= MOST_TIMES for share in shares)
    whys = [data["not_shown"][row] or "" for data in (ours, python) if "not_shown" in data]
    return not any(why.startswith("Not ") for why in whys)


def assert_equal(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    """Columns that follow from peaks, op by op and point by point."""
    ours, python = mine["ops"]["columns"], theirs["ops"]["columns"]
    bound = [[one["id"] for one in data["bounds"]] for data in (mine, theirs)]
    compared = [row for row in range(len(python["name"])) if is_compared(row, ours, python)]
    assert compared
    for row in compared:
        name = python["name"][row]
        assert bound[0][ours["bound_by"][row]] == bound[1][python["bound_by"][row]], name
        for column in (*CHANGED, "flop_rate_gflops", "memory_bandwidth_gibs"):
            assert is_close(ours[column][row], python[column][row]), (name, column)
        self_us = python["self_time_per_core_us"][row] or 0.0
        saving = (ours["saving_per_core_us"][row], python["saving_per_core_us"][row])
        assert is_close(*saving, scale=self_us), name
        # Three numbers of six digits each: a rate, a peak and a time.
        scale = 2 * (python["t_max_us"][row] or 0.0) + (python["total_time_us"][row] or 0.0)
        rates = {f"{one['id']}_bandwidth_gibs" for one in mine["levels"] if one["is_link"]}
        for column in rates & python.keys():
            assert is_close(ours[column][row], python[column][row]), (name, column)
        for column in python.keys() & clock_columns(mine):
            assert is_close(ours[column][row], python[column][row], scale), (name, column)
        assert ours["at_ridge"][row] == python["at_ridge"][row], name
        if "compute_unit" in python:
            roofs = (ours["compute_unit"][row], python["compute_unit"][row])
            assert roof_id(mine, roofs[0]) == roof_id(theirs, roofs[1]), name
    for name, view in theirs["views"].items():
        saved = mine["views"][name]["columns"]["saving_share_ratio"]
        pairs = zip(view["op"], saved, view["columns"]["saving_share_ratio"], strict=True)
        assert all(is_close(one, two, scale=1.0) for op, one, two in pairs if op in compared)
        for ours_point, point in zip(
            mine["views"][name]["program"], program_points(view), strict=True
        ):
            assert bound[0][ours_point["bound_by"]] == bound[1][point["bound_by"]]
            assert all(is_close(ours_point[c], point[c]) for c in CHANGED), point["label"]


def assert_same_roofs(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    for kind, value in (("compute", "gflops"), ("memory", "gbs")):
        known = {roof["id"]: roof for roof in mine["roofs"][kind]}
        for roof in theirs["roofs"][kind]:
            # A level that the profile never uses has no roof in the browser.
            if kind == "memory" and roof["id"] not in known:
                assert roof["id"] not in [bound.get("level") for bound in mine["bounds"]]
                continue
            assert is_close(known[roof["id"]][value], roof[value])
            assert known[roof["id"]]["origin"] == roof["origin"]
            ridge = (known[roof["id"]].get("ridge_flop_per_byte"), roof.get("ridge_flop_per_byte"))
            assert is_close(*ridge)


# Only profiles that use links know their peaks.
LINK_CHOICES = {"host", "links"}
# A part with neither memory nor the CPU's units leaves a rest that six digits cannot tell from 0.
CASES = [
    (name, choice)
    for name in PROFILES
    for choice in CHOICES
    if (name, choice) != ("cpu", "no-memory")
    and (choice not in LINK_CHOICES or name.startswith("links"))
]


@cache
def profile_of(name: str) -> Profile:
    return PROFILES[name]()


@cache
def all_in_browser(name: str) -> dict[str, dict[str, Any]]:
    """The page of one profile under every choice of its cases."""
    choices = [choice for one, choice in CASES if one == name]
    data = of_analysis(profile_of(name), PeakChoice())
    pages = in_browser(data, [CHOICES[choice] for choice in choices])
    return dict(zip(choices, pages, strict=True))


@pytest.mark.parametrize(("name", "choice"), CASES)
def test_equals_an_analysis_with_those_peaks(name: str, choice: str) -> None:
    mine = all_in_browser(name)[choice]
    theirs = of_analysis(profile_of(name), CHOICES[choice])
    assert_equal(mine, theirs)
    assert_same_roofs(mine, theirs)


def test_shares_of_measured_peaks_count_until_that_peak_changes() -> None:
    profile = with_own_peaks(table(device=GPU))
    own = of_analysis(profile, PeakChoice())
    other = PeakChoice(gbs={MemoryLevel.HBM: 50.0})
    kept, changed = in_browser(own, [PeakChoice(gflops={None: 700.0}), other])
    level = profile.ops.level_capacity_bytes
    assert set(level) == {MemoryLevel.HBM}
    assert_equal(kept, of_analysis(profile, PeakChoice(gflops={None: 700.0})))
    bare = replace(profile, ops=replace(profile.ops, level_capacity_bytes={}))
    assert_equal(changed, of_analysis(bare, other))
