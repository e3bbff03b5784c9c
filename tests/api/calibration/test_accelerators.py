"""Accelerators as measured: with a clock and a framework that the test makes, and what is kept."""

import importlib.util
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from roofline.devices.choice import read_choice
from roofline.devices.measured import measured_ids, measured_part, values_of, written_at_ns
from roofline.devices.resolve import resolve
from roofline.errors import BadViewError
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, PeakOrigin, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.units import TERA
from tests.capture.test_record import TORCH_PYTHON
from tests.cli.test_main import refused, run
from tests.conftest import PYTHON_PATH

H100 = "NVIDIA H100 80GB HBM3"


@pytest.fixture(scope="module")
def rates() -> ModuleType:
    path = str(files("roofline.capture.replay") / "device_rates.py")
    spec = importlib.util.spec_from_file_location("device_rates", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Part:
    """A device whose rates the test knows: the clock is its own."""

    library = "fake 1.0"
    free_bytes = 80 * 2**30
    cache_bytes = 50 * 2**20
    count = 4

    def __init__(self, flops: float, memory: float) -> None:
        self.now, self.flops, self.memory = 0.0, flops, memory
        self.tried: list[tuple[str, int, tuple[bool, bool]]] = []

    def clock(self) -> float:
        return self.now

    def rest(self, seconds: float) -> None:
        self.now += seconds

    def takes(self, seconds: float) -> Any:
        def run(times: int) -> float:
            self.now += times * seconds
            return times * seconds

        return run

    def product(self, kind: str, n: int, flips: tuple[bool, bool] = (False, False)) -> Any:
        self.tried.append((kind, n, flips))
        if kind == "int8":
            raise RuntimeError("no such kernel")
        # Best at 8,192 with the second operand transposed; large ones are throttled.
        worth = {8192: 1.0, 8192 + 128: 0.9}.get(n, 0.5) * (1.02 if flips == (False, True) else 1.0)
        return self.takes(2 * n**3 / (self.flops * worth))

    def moves(self, size: int) -> Mapping[str, Any]:
        rate = 3 * self.memory if 3 * size <= self.cache_bytes else self.memory
        return {
            name: (self.takes(arrays * size / (rate * share)), arrays * size)
            for name, arrays, share in (("copy", 2, 0.9), ("triad", 3, 1.0), ("read", 1, 0.8))
        }

    def link(self, one: int, other: int) -> Any:
        return self.takes(2**30 / (100e9 if (one + other) % 2 else 50e9))

    def pcie(self, *, to_device: bool) -> Any:
        return self.takes(2**30 / (25e9 if to_device else 20e9))

    def launches(self) -> Any:
        return self.takes(4e-6)


class Quiet:
    """Sensors that read nothing."""

    def read(self) -> None:
        return None


def test_the_table_of_a_known_device(rates: ModuleType) -> None:
    part = Part(flops=800e12, memory=3e12)
    meter = rates.Meter(clock=part.clock, rest=part.rest)
    found = dict(rates.measured(part, meter, Quiet(), rates.KEYS))
    assert found["matrix_bf16"]["burst"] == pytest.approx(800e12 * 1.02)
    assert (
        found["matrix_bf16"]["how"]
        == "product of 8192 × 8192, fake 1.0, operands ·ᵀ, clock not read"
    )
    assert found["matrix_bf16"]["spread"] == pytest.approx(0.0, abs=1e-9)
    assert found["matrix_int8"] == "the library has no such product here"
    assert found["hbm"]["burst"] == pytest.approx(3e12)
    assert found["hbm"]["how"].startswith("triad of 8,192 MiB")
    assert found["l2"]["burst"] == pytest.approx(9e12)
    assert found["link"]["burst"] == pytest.approx(100e9)  # 8 of 12 pairs
    assert found["pairs"][0][2] == pytest.approx(50e9)
    assert found["pairs"][1][1] is None
    assert found["pcie"]["burst"] == pytest.approx(20e9)
    assert found["launch_us"]["burst"] == pytest.approx(4.0)
    sizes = {n for kind, n, _ in part.tried if kind == "bfloat16"}
    assert sizes == {1024, 2048, 4096, 8192, 16384, 8192 - 128, 8192 + 128}


def test_sustained_is_the_end_of_the_work(rates: ModuleType) -> None:
    """After ten seconds of work the clock falls to 80 %."""
    part = Part(flops=1e12, memory=1e12)
    began: list[float] = []

    def run(times: int) -> float:
        began.append(part.now) if not began else None
        hot = part.now - began[0] > 20.0
        lasted = times * (0.0125 if hot else 0.01)
        part.now += lasted
        return lasted

    found = rates.Meter(clock=part.clock, rest=part.rest).rates(run, 1.0)
    assert found["burst"] == pytest.approx(100.0)
    assert found["sustained"] == pytest.approx(80.0)


LADDERS: dict[str, tuple[list[float], list[float], float | None]] = {
    # Working set in MiB: GB/s. A GPU whose calls dominate small sets, and whose L2 ends at 40 MiB.
    "gpu": ([2, 2.8, 4, 5.7, 8, 11, 16, 23, 32, 45, 64, 91, 128],
            [2100, 2900, 3900, 4700, 5200, 5400, 5500, 5450, 5300, 3900, 3200, 3050, 3000], 5450),
    # A CPU: 2 MiB still in its own cache, then a slope without a plateau above memory.
    "cpu": ([2, 2.8, 4, 5.7, 8, 11, 16, 23, 32, 45, 64, 91, 128],
            [32, 28, 25, 23, 20, 17, 15, 13, 11.5, 10.5, 10.2, 10.1, 10], None),
    # Flat from the first to the last: there is no cache to be seen.
    "flat": ([2, 2.8, 4, 5.7, 8, 11], [1000, 1010, 990, 1005, 1000, 995], None),
}  # fmt: skip


@pytest.mark.parametrize("name", LADDERS)
def test_plateaus_of_ladders(rates: ModuleType, name: str) -> None:
    sizes, values, expected = LADDERS[name]
    ladder = [(int(mib * 2**20), gbs * 1e9) for mib, gbs in zip(sizes, values, strict=True)]
    found = rates.plateau(ladder, values[-1] * 1e9)
    assert (found and found[1]) == (None if expected is None else expected * 1e9)


def test_disturbances(rates: ModuleType) -> None:
    quiet = {"processes": 1.0, "power_cap_w": 700.0}
    assert rates.disturbance(0.02, quiet, quiet) == ""
    assert rates.disturbance(0.11, None, None) == "the timings differ by 11%"
    assert "another process" in rates.disturbance(0.0, quiet, {**quiet, "processes": 2.0})
    assert "power cap" in rates.disturbance(0.0, quiet, {**quiet, "power_cap_w": 500.0})


# ------------------------------------------------------------------------------------------- kept


def entry(**values: float) -> dict[str, Any]:
    """What was measured on a machine."""
    return {
        "schema": "roofline.machine/1",
        "device": H100,
        "count": 8,
        "memory_bytes": 85e9,
        "library": "torch 2.13.0",
        "host": "lab-7",
        "measured_on": "2026-11-29",
        "values": {
            key: {"burst": value, "sustained": 0.9 * value, "spread": 0.01, "how": "copy",
                  "disturbed": ""}
            for key, value in values.items()
        },
        "missing": {"matrix_int8": "the library has no such product here"},
        "pairs": [],
    }  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("ROOFLINE_DATA_DIR", str(tmp_path / "data"))
    yield tmp_path


def kept(home: Path, document: Mapping[str, Any]) -> str:
    path = home / "exported.json"
    path.write_text(json.dumps(document))
    said = run("calibrate", "--import", path).stdout.decode()
    assert "Kept: `--device measured:lab-7/NVIDIA-H100-80GB-HBM3`." in said
    return said


def test_a_measured_device_is_chosen_and_the_data_sheet_fills_in(home: Path) -> None:
    kept(home, entry(matrix_bf16=700 * TERA, hbm=3.0e12))
    (part_id,) = measured_ids()
    choice = read_choice(part_id, ())
    device = resolve(ReportedDevice(kind=DeviceKind.GPU, name=H100, core_count=1), choice=choice)
    peaks = {peak.unit: peak for peak in device.compute}
    bf16 = peaks[ComputeUnit.MATRIX_BF16]
    assert bf16.gflops == pytest.approx(700e3)
    assert bf16.origin is PeakOrigin.CALIBRATED
    assert bf16.sustained is not None
    assert bf16.sustained.ratio == pytest.approx(0.9)
    assert "Measured on lab-7, 2026-11-29" in bf16.source
    memory = {peak.level: peak for peak in device.memory}
    assert memory[MemoryLevel.HBM].gbs == pytest.approx(3000.0)
    fp8 = peaks[ComputeUnit.MATRIX_FP8]
    assert fp8.origin is PeakOrigin.CATALOGUE
    assert device.part_name.endswith(", as measured on lab-7")


@pytest.mark.parametrize(
    ("value", "why"),
    [(1105 * TERA, "1.12 times the data sheet's"), (400 * TERA, "40% of the data sheet's")],
)
def test_a_value_that_cannot_be_right_is_not_a_peak(home: Path, value: float, why: str) -> None:
    said = kept(home, entry(matrix_bf16=value, hbm=3.0e12))
    assert f"Not used. {why}" in said
    part, own = measured_part(measured_ids()[0])
    assert part.value("matrix_bf16") is None
    assert own is not None
    assert own.value("matrix_bf16") is not None


def test_a_disturbed_value_is_not_a_peak(home: Path) -> None:
    document = entry(hbm=3.0e12)
    document["values"]["hbm"]["disturbed"] = "another process was on the device"
    assert "Not used. Disturbed: another process was on the device." in kept(home, document)
    assert measured_part(measured_ids()[0])[0].value("hbm") is None


def test_another_measurement_is_seen_by_a_server_that_keeps_answers(home: Path) -> None:
    kept(home, entry(hbm=3.0e12))
    before = written_at_ns()
    kept(home, entry(hbm=2.9e12))
    assert written_at_ns() > before > 0


def test_nothing_is_chosen_by_itself(home: Path) -> None:
    kept(home, entry(hbm=3.0e12))
    device = resolve(ReportedDevice(kind=DeviceKind.GPU, name=H100, core_count=1))
    assert all(peak.origin is PeakOrigin.CATALOGUE for peak in device.memory)


@pytest.mark.parametrize(
    "name",
    ["measured:", "measured:../x", "measured:a/../../b", "measured:lab-7/none", "measured:a/b/c"],
)
def test_ids_that_name_no_file_are_refused(home: Path, name: str) -> None:
    kept(home, entry(hbm=3.0e12))
    with pytest.raises(BadViewError, match="No device was measured"):
        measured_part(name)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": "roofline.machine/2"}'])
def test_a_file_that_is_no_measurement_is_refused(home: Path, text: str) -> None:
    (home / "x.json").write_text(text)
    assert "is not a measurement" in refused("calibrate", "--import", home / "x.json")


def test_a_link_is_no_roof_where_pairs_have_links_of_their_own(home: Path) -> None:
    found = {one.key: one for one in values_of(entry(link=400e9, launch_us=4.0))}
    assert found["link"].published is None
    assert math.isclose(found["launch_us"].burst, 4.0)


# --------------------------------------------------------------------------------- real frameworks

SMALL = """
import json, sys
sys.path.insert(0, sys.argv[1])
import device_rates as d
d.SIZES, d.REST_S, d.WORK_S, d.MOST_BYTES = (128, 256), 0.0, 0.02, 2**24
library = d.Torch if sys.argv[2] == "torch" else d.Jax
library.cache_bytes = property(lambda one: 2**21, lambda one, found: None)  # a short ladder
backend = library("cpu")
only = ("matrix_bf16", "vector_fp32", "hbm", "l2", "link", "pcie", "launch_us")
found = dict(d.measured(backend, d.Meter(), d.Sensors(0), only))
print(json.dumps(found))
"""


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_both_libraries_give_the_same_keys(library: str) -> None:
    python = sys.executable if library == "jax" else TORCH_PYTHON
    if python is None:
        pytest.skip("ROOFLINE_TORCH_PYTHON names no Python that has PyTorch")
    folder = str(files("roofline.capture.replay"))
    done = subprocess.run(
        (python, "-c", SMALL, folder, library),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": PYTHON_PATH, "JAX_PLATFORMS": "cpu"},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    found = json.loads(done.stdout)
    for key in ("matrix_bf16", "vector_fp32", "hbm", "launch_us"):
        assert found[key]["burst"] > 0, key
        assert library in found[key]["how"]
    assert found["link"] == "there is one device"
    assert found["pcie"] == "the processor is the host"
