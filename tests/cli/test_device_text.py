"""`roofline devices`, `analyze --device` and `--peak`, `calibrate --help`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_main import refused, run
from tests.conftest import SAMPLES
from tests.tools.generate_xspace import Config, write_profile

V6E = Path(__file__).resolve().parents[2] / "sample_profiles" / "xspace" / "v6e-training.xplane.pb"


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


@pytest.mark.covers(8, 48, 52, 60, 114, 147, 164, 196)
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
    shown = run("devices", "--kind", "gpu", "--columns", "ridge").stdout.decode()
    ridges = {line.split()[0]: line.split()[-1] for line in shown.splitlines() if line}
    assert (ridges["t4"], ridges["l4"]) == ("203.1", "403.3"), "a guide's 203 ... 403"
    (whole,) = [line for line in run("devices").stdout.decode().splitlines() if "tpu-v7x" in line]
    assert "2,307" in whole, "a whole chip, of which profiles show halves"


def test_the_table_is_sorted_and_written_as_records() -> None:
    rows = json.loads(run("devices", "--kind", "amd", "--sort=-bf16", "-f", "json").stdout)
    rates = [row["bf16_tflop_per_s"] for row in rows]
    assert rates == sorted(rates, reverse=True)
    table = run("devices", "--kind", "tpu", "--columns", "bf16", "-f", "csv").stdout.decode()
    assert table.splitlines()[0] == "id,name,devices_per_chip,bf16_tflop_per_s"
    assert "is not a column" in refused("devices", "--columns", "speed")


@pytest.mark.covers(69)
def test_operations_of_a_profile_stand_on_the_roofs_of_parts() -> None:
    """The products of an H100 run at best at the 312 TFLOP/s of an A100, the optimizer at its
    2,039 GB/s; a T4 has fp16 for bf16."""
    file = SAMPLES / "pytorch" / "h100-training.json"
    parts = ("--part", "a100-80-sxm", "--part", "t4")
    shown = run("devices", "--over", file, "--ops", "8", *parts).stdout.decode()
    rows = shown.partition("\nOperation ")[2].splitlines()
    (product,) = [row for row in rows if "[8192x16384, 16384x4096]" in row]
    assert "312 TFLOP/s, 100 %, compute  65.0 TFLOP/s, 100 %, compute" in product
    (optimizer,) = [row for row in rows if "adamw" in row]
    assert "728 GFLOP/s, 4 %, HBM" in optimizer
    assert len(rows) == 8 + 2, "with a head and a sentence"


@pytest.mark.covers(71)
def test_kernels_of_a_model_stand_on_the_roofs_of_parts() -> None:
    """gate_up of Llama-3-8B for 2,048 rows: 2 · 2048 · 4096 · 28672 FLOPs over 2 bytes of
    4096 · 28672 + 2048 · (4096 + 28672): 1,302.8 FLOP/B. The longest of decode is memory-bound."""
    model = ("--kernels", "--model", "llama-3-8b", "--part", "h100-sxm")
    lines = run("devices", *model, "--sort=-h100-sxm").stdout.decode().splitlines()[1:-2]
    (gate,) = [line for line in lines if line.startswith("prefill, gate_up_proj")]
    assert "1,303" in gate and "989.4 TFLOP/s, 100 %, compute" in gate
    assert "prefill" in lines[0] and "residual" in lines[-1], "sorted by the rate there"
    assert "is not a column of kernels" in refused("devices", *model, "--sort=speed")
    asked = ("--phase", "prefill", "--seq", "2048", "--device", "h100-sxm", "-f", "json")
    ops = json.loads(run("predict", "llama-3-8b", *asked).stdout)["ops"]
    told = {one["name"]: one["flops"] / one["time_us"] / 1e6 for one in ops if one["flops"]}
    for line in lines:
        phase, _, name = line.split("  ")[0].partition(", ")
        if phase == "prefill":
            rate = float(line.split(" TFLOP/s")[0].split()[-1].replace(",", ""))
            assert rate == pytest.approx(told[name], rel=1e-3), line
    narrow = run("devices", *model, "--dtype", "fp8").stdout.decode()
    assert "1,979 TFLOP/s, 100 %, compute" in narrow


def test_prices_of_the_reader_add_columns() -> None:
    """989.4 TFLOP/s and 3,350 GB/s at 2.5 dollars an hour: 395.8 and 1,340 for a dollar."""
    priced = ("devices", "--price", "h100-sxm=2.5", "-f", "json")
    rows = {row["id"]: row for row in json.loads(run(*priced, "--sort=-price").stdout)}
    h100 = rows["h100-sxm"]
    assert h100["price_$_per_h"] == 2.5
    assert h100["rate_per_dollar_tflop_per_s"] == pytest.approx(395.76)
    assert h100["bandwidth_per_dollar_gb_per_s"] == 1340
    assert rows["t4"]["rate_per_dollar_tflop_per_s"] is None
    assert next(iter(rows)) == "h100-sxm"
    assert "is not a price" in refused("devices", "--price", "h100-sxm=much")


@pytest.mark.covers(68, 70)
def test_kernels_stand_on_the_roofs_of_parts() -> None:
    """LayerNorm: 10 FLOPs for three tensors of two bytes, 1.667 FLOP/B; 5.58 TFLOP/s of HBM."""
    shown = run("devices", "--kernels", "--part", "h100-sxm").stdout.decode()
    (norm,) = [line for line in shown.splitlines() if line.startswith("LayerNorm")]
    assert "1.667" in norm
    assert "5.583 TFLOP/s, 8 %, HBM" in norm
    assert "3.349 TFLOP/s, <1 %, HBM" in shown, "decode of one sequence"


def test_a_profile_is_shown_on_a_part_and_with_formats(capture: Path) -> None:
    shown = run("devices", "tpu-v6e", "--over", capture, "--price", "tpu-v6e=2").stdout.decode()
    assert "TPU v6e (Trillium)" in shown
    assert "Would take" in shown and ", here" in shown
    whatif = run("whatif", capture, "--storage", "fp8", "--format", "json").stdout
    assert json.loads(whatif)["storage"] == "fp8"
    half = [run("whatif", V6E, "--link-bytes", part).stdout.decode() for part in ("0.5", "50%")]
    assert half[0] == half[1]
    assert "Communication that nothing hides: 1.45 ms → 723 µs" in half[0]


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


@pytest.mark.covers(217)
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
