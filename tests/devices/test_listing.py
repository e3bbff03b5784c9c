"""The device list: per profiler device, unknown left out, every source named."""

import gzip
import json

from roofline.devices.catalogue import parts
from roofline.devices.listing import DeviceEntry, device_list
from roofline.devices.parts import Part
from tests.devices.test_resolve import this_machine


def entry(part_id: str, machine: Part | None = None) -> DeviceEntry:
    return next(one for one in device_list(machine)["devices"] if one["id"] == part_id)


def test_numbers_are_per_profiler_device() -> None:
    tpu = entry("tpu-v7x")
    assert (tpu["devices_per_chip"], tpu["core_word"]) == (2, "TensorCore")
    assert (tpu["main_unit"], tpu["main_level"]) == ("matrix_bf16", "hbm")
    assert tpu["ridge"] == 312.602
    assert tpu["compute"][0] == {
        "unit": "matrix_bf16",
        "label": "MXU bf16",
        "gflops": 1_153_500.0,
        "source": "G-v7x",
        "status": "vendor",
        "note": "",
    }
    assert tpu["memory"][0]["gbs"] == 3690.0
    assert tpu["absent"] == ["matrix_int8"]


def test_unknown_is_left_out() -> None:
    card = entry("intel-max-1550")
    assert (card["memory"], card["memory_bytes"], card["main_level"]) == ([], None, None)
    assert card["ridge"] is None


def test_every_source_is_listed() -> None:
    listed = device_list(None)
    rates = [number for one in listed["devices"] for number in one["compute"]]
    bandwidths = [number for one in listed["devices"] for number in (*one["memory"], *one["links"])]
    named = {number["source"] for number in rates} | {number["source"] for number in bandwidths}
    reached = [one["sustained_matrix"] for one in listed["devices"]]
    named |= {one["source"] for one in reached if one}
    named |= {one["source"] for entry in listed["devices"] for one in entry["in_flight"]}
    assert named == set(listed["sources"])
    assert all(number["gflops"] > 0 for number in rates)
    assert all(number["gbs"] > 0 for number in bandwidths)


def test_this_machine_comes_first_and_is_measured() -> None:
    listed = device_list(this_machine())
    first = listed["devices"][0]
    assert (first["id"], first["name"], first["kind"]) == ("this-machine", "AMD EPYC 9654", "cpu")
    assert {number["status"] for number in first["compute"]} == {"measured"}
    assert listed["sources"]["calibrate"]["title"] == "Measured on node-7, 2026-11-21"


def test_list_is_compact() -> None:
    plain = json.dumps(device_list(None), separators=(",", ":")).encode()
    assert len(plain) < 2_000 * len(parts())
    assert len(gzip.compress(plain)) < 182 * len(parts())


def test_names_that_parts_share_are_found_by_the_search() -> None:
    assert "NVIDIA H100" in entry("h100-sxm")["aliases"]
    assert "NVIDIA H100" in entry("h100-pcie")["aliases"]
