"""Colours, columns and the device panel."""

import re
from pathlib import Path
from typing import Any

import pytest

from roofline.exports.answering import answer_of
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Provenance
from roofline.presentation.page import PageIdentity, page_data
from roofline.presentation.page_frame import device_fields
from roofline.presentation.palette import (
    COMPUTE_STYLE,
    LEVEL_STYLES,
    UNKNOWN_STYLE,
    category_style,
    category_styles,
)
from tests.builders import analysed, counters, reported

ROOT = Path(__file__).resolve().parents[2]
TOKENS = set(
    re.findall(r"(--[\w-]+)\s*:", (ROOT / "static" / "css" / "tokens.css").read_text("utf-8"))
)
DASHES = {"solid", "dash", "dot", "dashdot"}
SYMBOLS = {"circle", "square", "triangle-up", "diamond"}
KNOWN = ["fusion", "convolution", "all-reduce", "copy", "IDLE", "unknown", "infeed", "custom-call"]
ODD = ["", "é", "\ud800", "x" * 500, "<b>", "my own kernel"]


# ----------------------------------------------------------------------------------------- palette


@pytest.mark.parametrize("level", MemoryLevel)
def test_every_memory_level_has_a_style(level: MemoryLevel) -> None:
    assert LEVEL_STYLES[level].token in TOKENS
    assert LEVEL_STYLES[level].dash in DASHES


def test_levels_differ_in_colour_or_dash() -> None:
    # A profile has one main memory, HBM or DRAM: those two never meet.
    levels = [style for level, style in LEVEL_STYLES.items() if level is not MemoryLevel.DRAM]
    styles = [*levels, COMPUTE_STYLE, UNKNOWN_STYLE]
    assert len(set(styles)) == len(styles)
    assert {COMPUTE_STYLE.token, UNKNOWN_STYLE.token} <= TOKENS


@pytest.mark.parametrize("category", [*KNOWN, *ODD], ids=ascii)
def test_category_has_a_colour_that_exists(category: str) -> None:
    style = category_style(category)
    assert style.token in TOKENS
    assert style.symbol in SYMBOLS
    assert category_style(category) == style


def test_unknown_categories_keep_their_colour_between_runs() -> None:
    assert category_style("my own kernel").token == "--c9"
    assert category_style("another kernel").token == "--c1"


PYTORCH = [
    "matmul",
    "attention",
    "reduction",
    "elementwise",
    "copy",
    "embedding",
    "IDLE",
    "unknown",
]
TPU = ["convolution", "infeed", "data formatting", "IDLE", "custom-call", "output fusion"]


@pytest.mark.parametrize("names", [PYTORCH, TPU, [f"my {n}" for n in range(12)]])
def test_no_two_categories_of_a_page_share_a_colour(names: list[str]) -> None:
    tokens = [style.token for style in category_styles(names)]
    assert len(set(tokens)) == len(names)
    assert set(tokens) <= TOKENS


def test_marks_of_48_categories_differ_and_more_have_one() -> None:
    names = [f"{'copy ' * (n % 2)}{n}" for n in range(60)]
    styles = category_styles(names)
    assert len(set(styles)) == 48
    assert {style.symbol for style in styles} == SYMBOLS
    assert styles[-1] == category_style(names[-1])


def test_the_longer_of_two_keeps_its_colour_and_a_name_of_the_profile_takes_none() -> None:
    assert (
        category_style("my 3").token == category_style("attention").token
    )  # else this tests nothing
    mine, attention, reduction, reduce = category_styles(
        ["my 3", "attention", "reduction", "reduce"]
    )
    assert attention == category_style("attention") != mine
    assert reduction == category_style("reduction")
    assert reduce.token != reduction.token
    assert reduce.symbol == "circle"  # the shape tells the family


@pytest.mark.parametrize(
    ("category", "symbol"),
    [
        ("all-reduce fusion", "triangle-up"),
        ("infeed", "triangle-up"),
        ("reduce-scatter", "triangle-up"),
        ("all-gather", "triangle-up"),
        ("dynamic-update-slice", "square"),
        ("copy-done", "square"),
        ("scatter", "square"),
        ("convolution fusion", "circle"),
        ("reduce", "circle"),
        ("custom-call", "diamond"),
        ("IDLE", "diamond"),
    ],
)
def test_shape_tells_the_family(category: str, symbol: str) -> None:
    assert category_style(category).symbol == symbol


# ----------------------------------------------------------------------------------------- columns


def menus(**device: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The columns of both tables of a page, of one op on this device."""
    analysis = analysed("op|self_us|flop|hbm_bytes\nx|5|1|1", device=reported(**device))
    data = page_data(analysis, answer_of(analysis), PageIdentity(id="x", created_at=""))
    return data["columns"], data["program_columns"]


EVERY_LEVEL = {level: 100.0 for level in MemoryLevel if not level.is_link}


@pytest.mark.parametrize("gibs", [{}, EVERY_LEVEL], ids=["no level", "all levels"])
def test_columns_are_unique_and_explained(gibs: dict[MemoryLevel, float]) -> None:
    for columns in menus(gibs=gibs):
        assert len({column["id"] for column in columns}) == len(columns)
        assert len({(column["label"], column["sub"]) for column in columns}) == len(columns)
        assert all(column["help"].endswith(".") for column in columns)


def test_columns_name_the_core_as_the_device_does() -> None:
    subs = {column["sub"] for column in menus(kind=DeviceKind.GPU)[0]}
    assert "per GPU" in subs
    assert not any("TensorCore" in sub for sub in subs)


def test_no_memory_is_shown_at_first() -> None:
    columns = menus(gibs={MemoryLevel.HBM: 100.0, MemoryLevel.VMEM_READ: 500.0})[0]
    shown = {column["id"]: column["default"] for column in columns}
    assert not shown["hbm_bandwidth_gibs"]
    assert not shown["vmem_read_bandwidth_gibs"]


# -------------------------------------------------------------------------------------- the device


def fields(
    table: str = "op|self_us|flop|hbm_bytes\nx|5|1|1",
    device: ReportedDevice | None = None,
    **rest: Any,
) -> dict[str, Any]:
    found = device_fields(analysed(table, device=device, **rest))
    assert len({one["id"] for one in found}) == len(found)
    return {one["id"]: one for one in found}


@pytest.mark.covers(18, 20)
def test_tpu_shows_type_megacore_cores_peaks_ridges_and_duration() -> None:
    device = reported(cores=4, gibs={MemoryLevel.HBM: 100.0, MemoryLevel.VMEM_READ: 500.0})
    assert list(fields(device=device)) == [
        "device_type",
        "megacore",
        "cores",
        "hosts",
        "peak_flop_rate",
        "peak_hbm_bandwidth",
        "peak_vmem_read_bandwidth",
        "hbm_ridge_point",
        "vmem_read_ridge_point",
        "wall_time",
        "steps",
        "counters",
        "hfu",
        "memory_bandwidth_utilisation",
    ]


def test_the_device_says_which_hardware_counters_there_are() -> None:
    assert fields()["counters"]["value"] == "none in this profile"
    counted = fields(device=reported(counters=counters(0.3, 0.4)))["counters"]["value"]
    assert counted == "matrix unit and HBM"
    measured = Provenance.MEASURED
    every = fields(flop_provenance=measured, bytes_provenance=measured)
    assert every["counters"]["value"] == "all FLOPs and bytes"


def test_peaks_say_where_they_come_from() -> None:
    peak = fields()["peak_hbm_bandwidth"]
    assert (peak["label"], peak["origin"]) == ("Peak HBM bandwidth per TensorCore", "profile")
    assert peak["help"] == "peak_hbm_bw_gigabytes_per_second of the device plane: 107.374 GB/s"


@pytest.mark.parametrize("kind", [DeviceKind.CPU, DeviceKind.UNKNOWN])
def test_device_without_peaks_shows_what_is_left(kind: DeviceKind) -> None:
    device = reported(kind=kind, name="", cores=0, gflops=None, gibs={})
    shown = fields("", device=device)
    assert list(shown) == ["device_type", "cores", "hosts", "wall_time", "steps", "counters"]
    assert shown["device_type"]["value"] is shown["wall_time"]["value"] is None
    assert shown["cores"]["label"] == "Cores"


def test_ridge_needs_a_compute_peak() -> None:
    assert "hbm_ridge_point" not in fields(device=reported(gflops=None))


def test_time_scale_is_shown_where_the_clock_was_not_the_default() -> None:
    assert "time_scale" not in fields()
    shown = fields(normalised_op_time_ps=4_000_000)["time_scale"]
    assert shown["value"] == 0.8
