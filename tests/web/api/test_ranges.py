"""Parts of a profile's time over the API and on its page: the numbers of the command line."""

import csv
import io
import json
import re
from concurrent.futures import Future
from threading import Timer
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from roofline.errors import NotReadyError
from roofline.exports.records import analysis_to_json
from roofline.library.ranges import Part
from roofline.pipeline import analyse_files
from roofline.web.api import ranges
from tests.conftest import SAMPLES
from tests.web.conftest import Client, address_of

SAMPLE = SAMPLES / "pytorch" / "h100-training.json"
TABLE = SAMPLES / "generic"
RANGE = {"from_us": 1000, "to_us": 3000}


@pytest.fixture(scope="module")
def base(reader: Client) -> str:
    return address_of(reader, SAMPLE)


def test_results_of_a_range_are_those_of_the_command(reader: Client, base: str) -> None:
    analysis = analyse_files([SAMPLE], range_ps=(1e9, 3e9))
    expected = json.loads(analysis_to_json(analysis, include_infeed_outfeed=True))
    found = reader.get(f"{base}/roofline", params=RANGE).json()
    assert found["ops"] == expected["ops"]
    assert found["budget"] == expected["budget"]
    rows = list(csv.reader(io.StringIO(reader.get(f"{base}/roofline.csv", params=RANGE).text)))
    assert len(rows) == len(expected["ops"]) + 1
    assert reader.get(f"{base}/advice", params=RANGE).json()["findings"] is not None
    assert reader.get(f"{base}/ops/0", params=RANGE).json()["name"]
    assert reader.get(f"{base}/ops/9999", params=RANGE).status_code == 400


def test_the_page_of_a_range_says_so_and_links_to_the_whole(reader: Client, base: str) -> None:
    page = reader.get(f"{base}/page", params=RANGE)
    strip = page.json()["timeline"]
    begin, end = strip["range"]
    assert begin <= 1000 < 3000 <= end
    assert {begin, end} <= set(strip["edges_us"])
    validators = {"if-none-match": page.headers["etag"]}
    assert reader.get(f"{base}/page", params=RANGE, headers=validators).status_code == 304

    address = base.replace("/api/v1/profiles", "/p")
    whole = reader.get(address).text
    frame = reader.get(address, params=RANGE).text
    assert "data-range-note" not in whole
    assert "Show the whole capture" in frame
    assert "from_us=1000.0&amp;to_us=3000.0" in frame
    # Each has the budget of its own time, and what was kept of one is not sent for the other.
    totals = [re.findall(r"data-q=\"length\" value=\"([^\"]+)\"", text) for text in (whole, frame)]
    assert totals[0] != totals[1]
    assert reader.get(address).text == whole


def test_a_share_link_has_ranges_of_its_profile(reader: Client, base: str) -> None:
    link = reader.post(f"{base}/links", json={"name": "paper"}).json()["url"]
    path = link[link.index("/l/") :]
    found = reader.get(f"{path}/page", params=RANGE).json()
    assert found == reader.get(f"{base}/page", params=RANGE).json()
    frame = reader.get(path, params=RANGE).text
    assert f'href="{path}"' in frame
    assert "data-range-note" in frame


def test_a_range_of_everything_is_the_whole_page(reader: Client, base: str) -> None:
    whole = reader.get(f"{base}/page").json()
    assert whole["timeline"]["range"] is None
    assert reader.get(f"{base}/page", params={"from_us": 0}).json() == whole


def test_a_range_that_is_none_is_refused(reader: Client, base: str) -> None:
    refused = {
        "from_us=5000&to_us=100": 404,
        "from_us=1e12": 404,
        "from_us=-1": 400,
        "to_us=inf": 400,
    }
    page = base.replace("/api/v1/profiles", "/p")
    for params, status in refused.items():
        assert reader.get(f"{base}/page?{params}").status_code == status
        assert reader.get(f"{page}?{params}").status_code == status


def test_a_table_has_no_strip_and_no_ranges(reader: Client) -> None:
    table = next(path for path in sorted(TABLE.iterdir()) if path.suffix == ".csv")
    uploaded = reader.upload(table.read_bytes(), names=(table.name,)).json()
    base = f"/api/v1/profiles/{uploaded['id']}"
    assert reader.get(f"{base}/page").json()["timeline"] is None
    answer = reader.get(f"{base}/page", params=RANGE)
    assert answer.status_code == 404
    assert "no timeline" in answer.json()["message"]


def test_a_page_waits_for_what_its_part_is_computed_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its page is ready a moment before: a host chosen then was answered with an error."""
    writing, found = Future[None](), object()

    def results_while_written(*_: object) -> object:
        if not writing.done():
            Timer(0.05, writing.set_result, (None,)).start()
            raise NotReadyError("not yet", remedy="wait")
        return found

    monkeypatch.setattr(ranges, "results_for", results_while_written)
    reader: Any = SimpleNamespace(pending=lambda _id: writing)
    assert ranges.written_results(Mock(), reader, "id", Part(host="host-0")) is found
