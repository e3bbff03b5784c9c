"""`roofline devices`, `analyze --device` and `--peak`, `calibrate --help`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_main import refused, run
from tests.tools.generate_xspace import Config, write_profile


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = Config(n_events=300, n_steps=2, n_distinct_ops=10)
    return write_profile(config, tmp_path_factory.mktemp("devices"))[0]


def roofs(*arguments: object) -> dict[str, Any]:
    """The analysis' device as JSON says it."""
    device: dict[str, Any] = json.loads(run("analyze", "--format", "json", *arguments).stdout)[
        "device"
    ]
    return device


@pytest.mark.covers(8, 48, 52, 60, 164, 196)
def test_every_part_is_listed_in_a_line() -> None:
    shown = run("devices").stdout.decode()
    assert "tpu-v5p" in shown
    assert "H100 SXM5 80GB" in shown
    (h100,) = [line for line in shown.splitlines() if line.startswith("h100-sxm ")]
    assert "989.4" in h100
    assert "450, 8 chips" in h100
    shown = run("devices", "--kind", "tpu", "--columns", "ridge,rows").stdout.decode()
    (row,) = [line for line in shown.splitlines() if line.startswith("tpu-v5e ")]
    assert row.split()[-2:] == ["240.5", "240.5"], "ridge and B*"
    (whole,) = [line for line in run("devices").stdout.decode().splitlines() if "tpu-v7x" in line]
    assert "2,307" in whole, "a whole chip, of which profiles show halves"


def test_the_table_is_sorted_and_written_as_records() -> None:
    rows = json.loads(run("devices", "--kind", "amd", "--sort=-bf16", "-f", "json").stdout)
    rates = [row["bf16_tflop_per_s"] for row in rows]
    assert rates == sorted(rates, reverse=True)
    table = run("devices", "--kind", "tpu", "--columns", "bf16", "-f", "csv").stdout.decode()
    assert table.splitlines()[0] == "id,name,devices_per_chip,bf16_tflop_per_s"
    assert "is not a column" in refused("devices", "--columns", "speed")


@pytest.mark.covers(68, 69, 70, 114)
def test_kernels_stand_on_the_roofs_of_parts() -> None:
    """LayerNorm: 10 FLOPs for three tensors of two bytes, 1.667 FLOP/B; 5.58 TFLOP/s of HBM."""
    shown = run("devices", "--kernels", "--part", "h100-sxm").stdout.decode()
    (norm,) = [line for line in shown.splitlines() if line.startswith("LayerNorm")]
    assert "1.667" in norm
    assert "5.583 TFLOP/s, 8 %, HBM" in norm


def test_a_profile_is_shown_on_a_part_and_with_formats(capture: Path) -> None:
    shown = run("devices", "tpu-v6e", "--over", capture, "--price", "tpu-v6e=2").stdout.decode()
    assert "TPU v6e (Trillium)" in shown
    assert "Would take" in shown and ", here" in shown
    whatif = run("whatif", capture, "--storage", "fp8", "--format", "json").stdout
    assert json.loads(whatif)["storage"] == "fp8"


@pytest.mark.covers(162)
def test_one_part_is_shown_with_its_sources() -> None:
    shown = run("devices", "NVIDIA L4").stdout.decode()
    for word in ("L4 (l4)", "Tensor core bf16", "https://", "Derived: 2 × fp16", "300 GB/s"):
        assert word in shown, word


def test_part_that_is_not_known_lists_names_near_it() -> None:
    assert "h100-sxm" in refused("devices", "h100")


def test_program_is_held_against_a_chosen_device(capture: Path) -> None:
    device = roofs("--device", "NVIDIA L4", capture)
    assert device["peak_gflops"] == 121_000


def test_peaks_are_set_by_hand(capture: Path) -> None:
    device = roofs("--peak", "compute=1TFLOP/s", "--peak", "hbm=500GB/s", capture)
    assert device["peak_gflops"] == 1000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--device", "L41"), "l40s"),
        (("--peak", "compute=fast"), "with its unit"),
        (("--peak", "speed=9TB/s"), "is not a peak"),
    ],
)
def test_choice_that_cannot_be_read_is_refused(
    arguments: tuple[str, str], said: str, capture: Path
) -> None:
    assert said in refused("analyze", *arguments, capture)


def test_xprof_table_knows_no_catalogue(capture: Path) -> None:
    table = run("analyze", "--format", "xprof", capture).stdout
    assert b"VMEM" in table or b"HBM" in table
    assert b"MXU" not in table
