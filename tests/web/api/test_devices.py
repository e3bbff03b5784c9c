"""The device list over HTTP."""

import json
from pathlib import Path

import pytest

from tests.web.conftest import Client


@pytest.fixture(autouse=True)
def no_measurements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ROOFLINE_DATA_DIR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "roofline" / "this-machine.json"


def test_devices_are_listed(client: Client) -> None:
    answer = client.request("GET", "/api/v1/devices")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    listed = answer.json()
    assert listed["schema"] == 1
    assert "h100-sxm" in {device["id"] for device in listed["devices"]}


def test_unchanged_list_is_not_sent_again(client: Client) -> None:
    tag = client.request("GET", "/api/v1/devices").headers["etag"]
    again = client.request("GET", "/api/v1/devices", headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")


def test_list_is_sent_plain_where_gzip_is_not_taken(client: Client) -> None:
    plain = client.request("GET", "/api/v1/devices", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json()["devices"]


def test_measured_machine_appears_without_a_restart(client: Client, no_measurements: Path) -> None:
    before = client.request("GET", "/api/v1/devices").headers["etag"]
    entry = {"version": 1, "hostname": "n", "cpu": "C", "vendor": "AMD", "threads": 2}
    rest = {"memory_bytes": 8e9, "measured_on": "2026-11-21"}
    figures = [{"of": "dram", "value": 5e10}]
    no_measurements.parent.mkdir(parents=True)
    no_measurements.write_text(json.dumps({**entry, **rest, "figures": figures}))
    after = client.request("GET", "/api/v1/devices")
    assert after.headers["etag"] != before
    assert after.json()["devices"][0]["id"] == "this-machine"
