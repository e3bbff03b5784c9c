"""Calibration with tiny sizes: what is measured, printed and kept; no number is expected."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy import float32, float64

from roofline.api import calibration as calibrate
from roofline.api.calibration.kernels import (
    Cache,
    Effort,
    Machine,
    Plan,
    Rate,
    measure_bandwidth,
    measure_matmul,
    plans,
    rate_of,
    read_caches,
    this_machine,
)
from roofline.devices.measured import read_machine
from roofline.errors import BadViewError, SettingsError
from roofline.model.compute import ComputeUnit
from roofline.model.device import PeakOrigin
from roofline.model.memory import MemoryLevel
from tests.narrowing import known

TINY = Effort(seconds=0.0, timings=3, counted=2)
KIB, MIB = 2**10, 2**20


def machine(*caches: Cache, threads: int = 2, memory_bytes: int = 64 * MIB) -> Machine:
    return Machine(
        hostname="node-7",
        cpu="Tiny CPU",
        vendor="AMD",
        threads=threads,
        memory_bytes=memory_bytes,
        caches=caches,
    )


def cache(level: MemoryLevel, size: int, shared_by: int = 1) -> Cache:
    return Cache(level=level, size_bytes=size, shared_by=shared_by)


L1, L2, LLC = MemoryLevel.L1, MemoryLevel.L2, MemoryLevel.LLC


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ROOFLINE_DATA_DIR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(calibrate, "QUICK", TINY)
    monkeypatch.setattr(calibrate, "this_machine", lambda: machine(cache(L1, 16 * KIB)))
    return tmp_path


def rate_from(*seconds: float, timings: int, counted: int) -> Rate:
    left = iter(seconds)
    effort = Effort(seconds=0.0, timings=timings, counted=counted)
    return rate_of(12.0, lambda: next(left), effort)


@pytest.mark.covers(237)
def test_rate_is_the_median_of_the_fastest_and_the_spread_half_their_range() -> None:
    rate = rate_from(50.0, 2.0, 2.1, 2.05, 60.0, timings=5, counted=3)
    assert rate.per_second == pytest.approx(12 / 2.05)
    assert rate.spread_ratio == pytest.approx(0.05 / 2.05)
    assert rate.text == "median of the fastest 3 of 5"


def test_unsteady_timings_are_repeated_twice() -> None:
    steady_at_last = rate_from(9.0, 5.0, 8.0, 2.0, 2.0, 7.0, timings=2, counted=2)
    assert (steady_at_last.per_second, steady_at_last.spread_ratio) == (6.0, 0.0)
    assert steady_at_last.text == "median of the fastest 2 of 6"
    assert rate_from(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, timings=2, counted=2).spread_ratio > 0.1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matrix_product_has_a_rate(dtype: type[float32 | float64]) -> None:
    rate, size = measure_matmul(dtype, TINY, smallest=16)
    assert rate.per_second > 0
    assert size == 16


def test_matrix_products_grow_until_they_take_long_enough() -> None:
    _, size = measure_matmul(
        np.float32, Effort(seconds=1e9, timings=1, counted=1), smallest=8, largest=32
    )
    assert size == 32


def test_copy_and_triad_have_a_bandwidth() -> None:
    found = measure_bandwidth(Plan(level=L1, array_bytes=4 * KIB), 2, TINY)
    assert found.copy.per_second > 0
    assert found.triad.per_second > 0
    assert found.best.per_second == max(found.copy.per_second, found.triad.per_second)


def test_arrays_take_half_of_a_threads_share_of_a_cache() -> None:
    sizes = plans(machine(cache(L1, 32 * KIB), cache(L2, 1 * MIB), cache(LLC, 32 * MIB, 8)))
    assert {plan.level: 3 * plan.array_bytes for plan in sizes[1:]} == {
        L1: pytest.approx(16 * KIB, abs=3),
        L2: pytest.approx(512 * KIB, abs=3),
        LLC: pytest.approx(2 * MIB, abs=3),
    }


def test_cache_that_the_one_below_hides_is_left_out() -> None:
    sizes = plans(machine(cache(L1, 32 * KIB), cache(L2, 1 * MIB), cache(LLC, 12 * MIB, 8)))
    assert [plan.level for plan in sizes] == [MemoryLevel.DRAM, L1, L2]


@pytest.mark.parametrize(
    ("memory_bytes", "array_bytes"), [(2**36, 4 * 16 * MIB), (2**30, 2**30 // 4 // 3 // 2)]
)
def test_arrays_of_main_memory_are_past_the_caches_but_never_most_of_it(
    memory_bytes: int, array_bytes: int
) -> None:
    described = machine(cache(LLC, 32 * MIB, 2), memory_bytes=memory_bytes)
    assert plans(described)[0] == Plan(level=MemoryLevel.DRAM, array_bytes=array_bytes)


def test_machine_is_described() -> None:
    described = this_machine()
    assert described.hostname
    assert described.cpu
    assert described.threads >= 1
    assert described.memory_bytes > 0


def test_caches_are_read_from_the_system(tmp_path: Path) -> None:
    rows = [
        ("1", "Data", "32K", "0"),
        ("1", "Instruction", "32K", "0"),
        ("2", "Unified", "1M", "0-1"),
    ]
    for k, (level, kind, size, shared) in enumerate([*rows, ("3", "Unified", "96M", "0-3,8")]):
        folder = tmp_path / f"index{k}"
        folder.mkdir()
        for name, text in (
            ("level", level),
            ("type", kind),
            ("size", size),
            ("shared_cpu_list", shared),
        ):
            (folder / name).write_text(text + "\n")
    assert list(read_caches(tmp_path)) == [
        cache(L1, 32 * KIB),
        cache(L2, MIB, 2),
        cache(LLC, 96 * MIB, 5),
    ]


def test_system_without_cache_files_has_none(tmp_path: Path) -> None:
    assert list(read_caches(tmp_path / "missing")) == []


@pytest.mark.covers(223, 231, 254)
def test_calibration_prints_a_table_and_keeps_the_machine(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "measure_matmul", lambda t, e: measure_matmul(t, e, smallest=16))
    written: list[str] = []
    calibrate.calibrate(quick=True, keep=True, write=written.append)
    text = "".join(written)
    assert text.startswith("Tiny CPU (node-7), 2 threads\n")
    for word in ("fp32", "fp64", "DRAM", "L1", "GFLOP/s", "GB/s", "±", "not a data sheet's"):
        assert word in text
    part = read_machine()
    assert (known(part).id, known(part).origin) == ("this-machine", PeakOrigin.CALIBRATED)
    assert known(part).compute()[0].unit is ComputeUnit.VECTOR_FP32
    assert [one.level for one in known(part).memory()] == [MemoryLevel.DRAM, L1]
    assert "median of the fastest 2 of" in known(part).compute()[0].figure.note


def test_calibration_can_be_printed_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "measure_matmul", lambda t, e: measure_matmul(t, e, smallest=16))
    found = calibrate.calibrate(quick=True, keep=False, write=lambda text: None)
    assert read_machine() is None
    (ladder,) = found.figure().data
    assert ladder.text == ("L1", "DRAM")
    arrays = [3 * one.array_bytes for one in plans(found.machine)]
    assert sorted(ladder.x) == sorted(arrays)
    rates = {one.label: one.rate.per_second for one in found.values}
    assert [y * 1e9 for y in ladder.y] == pytest.approx([rates[name] for name in ladder.text])
    bare = calibrate.Measured(found.machine, found.values[:2], None)
    with pytest.raises(BadViewError, match="no picture"):
        bare.figure()


def test_busy_machine_is_told(home: Path) -> None:
    slow = calibrate.Measurement(
        of="dram",
        label="DRAM",
        unit="GB/s",
        rate=Rate(per_second=1.0, spread_ratio=0.2, text=""),
        how="copy",
    )
    assert "while nothing else runs" in calibrate._remarks([slow])


def test_folder_that_cannot_be_written_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "file"))
    (home / "file").write_text("")
    with pytest.raises(SettingsError, match="cannot be written"):
        calibrate.save(machine(), [])


def test_kept_file_is_plain_json(home: Path) -> None:
    path = calibrate.save(machine(), [])
    assert json.loads(path.read_text())["host"] == "node-7"
