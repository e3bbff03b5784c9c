"""Results that depend on `roofline calibrate` follow it; no others do."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import orjson
import pytest

from roofline.devices.measured import machine_files
from roofline.library.build import Backend
from roofline.storage.results import PAGE
from tests.conftest import SAMPLES
from tests.storage.places import Place, settled, stored

CPU_CAPTURE = SAMPLES / "xspace" / "jax-cpu-transformer.xplane.pb"
OTHER = SAMPLES / "generic" / "attention-h100.json"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Backend]:
    place = Place(root=tmp_path)
    with ExitStack() as place.stack:
        yield place.server()


@pytest.fixture
def machine() -> Iterator[Path]:
    """Where measurements lie, for the children too, which started with the session's folders."""
    path = machine_files()[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    yield path
    path.unlink(missing_ok=True)


def measure(path: Path, cpu: str, flops: float) -> None:
    entry = {
        "version": 1,
        "hostname": "node-7",
        "cpu": cpu,
        "vendor": "AMD",
        "threads": 192,
        "memory_bytes": 8e11,
        "measured_on": "2026-11-21",
        "figures": [{"of": "vector_fp32", "value": flops}],
    }
    path.write_text(json.dumps(entry))


def page_of(server: Backend, profile_id: str) -> bytes:
    settled(server, profile_id)
    return server.reader.result(profile_id, PAGE).plain()


def test_profile_of_this_cpu_follows_its_measurements(server: Backend, machine: Path) -> None:
    profile_id = stored(server, CPU_CAPTURE.read_bytes())
    unmeasured = page_of(server, profile_id)
    name = orjson.loads(unmeasured)["device"]["name"]
    pages = [unmeasured]
    for flops in (7e12, 9e12):
        measure(machine, name, flops)
        pages.append(page_of(server, profile_id))
        assert page_of(server, profile_id) == pages[-1]
    assert b"7000" in pages[1]
    assert b"9000" in pages[2]
    assert b"7000.0" not in pages[2]
    machine.unlink()
    assert page_of(server, profile_id) == unmeasured


def test_profiles_of_other_devices_stay(server: Backend, machine: Path) -> None:
    profile_id = stored(server, OTHER.read_bytes())
    before = server.reader.result(profile_id, PAGE).path.stat().st_ino
    measure(machine, "Some CPU", 7e12)
    settled(server, profile_id)
    assert server.reader.result(profile_id, PAGE).path.stat().st_ino == before
