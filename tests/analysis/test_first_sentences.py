"""The class of the first sentence of 62 real files and pairs, as the design's authors read them."""

import csv

import pytest

from roofline.analysis.subjects.choose import choose
from roofline.analysis.verdict import verdict_of
from roofline.analysis.verdict_records import Verdict
from tests.shared_profiles import SHARED, needs_shared, shared

EXPECTED = SHARED / "design" / "next" / "nearest-ceiling" / "first_sentence.csv"
ROWS = list(csv.DictReader(EXPECTED.read_text("utf-8").splitlines())) if EXPECTED.is_file() else []
POINTS = 2.0

# What differs from the table, and why; all else of these rows must hold.
_STEP = "the table is of the whole capture, the verdict of its step"
_CALIBRATED = "class and share depend on the peaks of the machine that measured them"
DIFFERENT: dict[str, tuple[dict[str, str], str]] = {
    "samples/pytorch/h100_qwen_causal.json.gz": (
        {"share_percent": "43.3", "idle_percent": "8.6"},
        _STEP,
    ),
    "samples/pytorch/mi300x_qwen_causal.json.gz": (
        {"share_percent": "29.4", "idle_percent": "10.2"},
        _STEP,
    ),
    "samples/pytorch/mi300x_sglang_decode.json.gz": (
        {"class": "unknown", "idle_percent": "6.5", "then": ""},
        "a served step is recognised: the capture between its steps is idle, the step is not",
    ),
    "samples/pytorch/mi250_minitoy_train_ROCm6_2_kineto.json.gz": (
        {"then": "latency"},
        "the work of 92 % of the busy time is known",
    ),
    "samples/minimal/step_label_host_root.xplane.pb": (
        {"then_ceiling": ""},
        "below 5 % no unit is named",
    ),
    "samples/pytorch/simple_add_a100_2023_trace.json.gz": (
        {"then_ceiling": "host"},
        "copies take nearly all of the busy time: the host link is used most",
    ),
    "profiles/jax-cpu-transformer/host_0.xplane.pb": (
        {"class": "", "ceiling": "", "share_percent": ""},
        _CALIBRATED,
    ),
    "samples/pytorch/cpu_steps_flops_torch213.json.gz": (
        {"class": "", "ceiling": "", "share_percent": ""},
        _CALIBRATED,
    ),
}


def wanted(row: dict[str, str]) -> dict[str, str]:
    changed, _ = DIFFERENT.get(row["file"], ({}, ""))
    return row | changed


def files_of(row: dict[str, str]) -> list[str]:
    """The file, or a pair; the second one lies beside the first."""
    first, *others = [one.strip() for one in row["file"].split(" + ")]
    return [first, *(f"{first.rpartition('/')[0]}/{other}" for other in others)]


def verdict(files: list[str]) -> Verdict:
    """The verdict on the default subject; a folder stands for its tables."""
    names: list[str] = []
    for name in files:
        path = SHARED / name
        tables = sorted(path.glob("*.csv")) if path.is_dir() else [path]
        names += [str(one.relative_to(SHARED)) for one in tables]
    analysis = shared(*names)
    return verdict_of(analysis, choose(analysis))


def check_ratio(ratio: float | None, percent: str, what: str) -> None:
    if percent:
        assert ratio is not None, what
        assert 100 * ratio == pytest.approx(float(percent), abs=POINTS), what


@needs_shared
@pytest.mark.parametrize("row", ROWS, ids=[row["file"] for row in ROWS])
def test_first_sentence(row: dict[str, str]) -> None:
    found, row = verdict(files_of(row)), wanted(row)
    if row["class"]:
        assert found.kind == row["class"]
    if row["ceiling"]:
        named = "" if row["ceiling"] == "none" else row["ceiling"]
        assert found.ceiling in named.split("/")
    check_ratio(found.ratio, row["share_percent"], "share")
    check_ratio(found.idle_ratio, row["idle_percent"], "idle")
    if row["then"]:
        assert found.then is not None
        assert found.then.kind == row["then"]
        assert row["then_ceiling"] in {"", found.then.ceiling, f"{found.then.ceiling}_link"}
        check_ratio(found.then.ratio, row["then_share_percent"], "then")


@needs_shared
def test_the_table_is_the_one_that_was_written() -> None:
    assert len(ROWS) == 62
    assert DIFFERENT.keys() <= {row["file"] for row in ROWS}
