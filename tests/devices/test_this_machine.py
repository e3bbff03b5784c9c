"""This machine's measurements: where they lie, and what of them is of no use."""

import json

import pytest

from roofline.devices.this_machine import machine_files, read_machine, written_at_ns

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
def home(tmp_path, monkeypatch):
    monkeypatch.delenv("ROOFLINE_DATA_DIR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "roofline" / "this-machine.json"


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def test_nothing_measured_is_no_machine(home):
    assert read_machine() is None
    assert written_at_ns() == 0


def test_measurements_lie_in_the_data_home(home):
    write(home, ENTRY)
    assert read_machine().name == "AMD EPYC 9654"
    assert written_at_ns() == home.stat().st_mtime_ns


def test_server_with_its_own_folder_finds_them_too(home, tmp_path, monkeypatch):
    write(home, ENTRY)
    monkeypatch.setenv("ROOFLINE_DATA_DIR", str(tmp_path / "data"))
    assert machine_files() == (tmp_path / "data" / "this-machine.json", home)
    assert read_machine().hostname == "node-7"
    write(tmp_path / "data" / "this-machine.json", {**ENTRY, "hostname": "node-8"})
    assert read_machine().hostname == "node-8"


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
def test_damaged_measurements_count_as_none(home, content):
    write(home, content)
    assert read_machine() is None
