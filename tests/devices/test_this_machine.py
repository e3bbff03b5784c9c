"""This machine's measurements: where they lie, and what of them is of no use."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from roofline.devices.measured import machine_files, read_machine, written_at_ns
from tests.narrowing import known

ENTRY = {
    "version": 1,
    "hostname": "node-7",
    "cpu": "AMD EPYC 9654",
    "vendor": "AMD",
    "threads": 192,
    "memory_bytes": 8e11,
    "measured_on": "2026-11-21",
    "figures": [{"of": "vector_fp32", "value": 7e12}],
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ROOFLINE_DATA_DIR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "roofline" / "this-machine.json"


def write(path: Path, content: Mapping[str, Any] | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def test_nothing_measured_is_no_machine(home: Path) -> None:
    assert read_machine() is None
    assert written_at_ns() == 0


def test_measurements_lie_in_the_data_home(home: Path) -> None:
    write(home, ENTRY)
    assert known(read_machine()).name == "AMD EPYC 9654"
    assert written_at_ns() == home.stat().st_mtime_ns


def test_server_with_its_own_folder_finds_them_too(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, ENTRY)
    monkeypatch.setenv("ROOFLINE_DATA_DIR", str(tmp_path / "data"))
    assert machine_files() == (tmp_path / "data" / "this-machine.json", home)
    assert known(read_machine()).hostname == "node-7"
    write(tmp_path / "data" / "this-machine.json", {**ENTRY, "hostname": "node-8"})
    assert known(read_machine()).hostname == "node-8"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        {**ENTRY, "version": 2},
        {**ENTRY, "figures": [{"of": "dram", "value": 0}]},
        {**ENTRY, "figures": [{"of": "dram", "value": "fast"}]},
        {**ENTRY, "figures": [{"value": 1.0}]},
        {**ENTRY, "figures": 7},
    ],
)
def test_damaged_measurements_count_as_none(home: Path, content: Mapping[str, Any] | str) -> None:
    write(home, content)
    assert read_machine() is None
