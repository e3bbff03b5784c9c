"""The subject over the web: the same numbers in data, page, table, advice and list."""

import csv
import io
import re
from typing import Any

import pytest

from tests.conftest import SAMPLES
from tests.web.conftest import Client, address_of

SAMPLE = SAMPLES / "pytorch" / "h100-training.json"
HTML = {"accept": "text/html"}
MARK = re.compile(r'<data data-q="(\w+)" value="([^"]+)">')


@pytest.fixture(scope="module")
def base(reader: Client) -> str:
    return address_of(reader, SAMPLE)


def subject_of(reader: Client, base: str, part: str, **asked: str) -> Any:
    return reader.get(f"{base}/{part}", params=asked).json()["subject"]


def marks(text: str) -> set[tuple[str, float]]:
    return {(name, float(value)) for name, value in MARK.findall(text)}


def marked(subject: Any) -> set[tuple[str, float]]:
    """The marks of a page whose first line is a goal."""
    return {
        ("length", subject["time_us"]),
        ("floor", subject["floor_us"]),
        ("roof_share", subject["roof_ratio"]),
        ("idle", subject["idle_ratio"]),
        ("saving", subject["first"]["saving_us"]),
    }


def test_page_list_and_data_say_the_same(reader: Client, base: str) -> None:
    subject = subject_of(reader, base, "roofline")
    assert subject["of"] == "step" and subject["not_found"] is None
    assert subject_of(reader, base, "page") == subject
    frame = reader.get(base.replace("/api/v1/profiles", "/p"), headers=HTML).text
    # The program waits for 0.1 % of its time: under the chart that would be "0.00 waiting".
    assert marks(frame) == {mark for mark in marked(subject) if mark[0] != "idle"}
    listed = reader.get("/", headers=HTML).text
    assert marks(listed) == marked(subject)
    summary = reader.get(base).json()["summary"]
    assert summary["subject"] == {key: subject[key] for key in subject if key != "parts"}
    assert summary["headline"] in re.sub("<[^>]+>", "", frame)


def test_an_asked_subject_is_that_of_every_answer(reader: Client, base: str) -> None:
    whole = subject_of(reader, base, "roofline")
    asked = {"of": "capture"}
    subject = subject_of(reader, base, "roofline", **asked)
    assert subject["of"] == "capture" and subject["time_us"] > whole["time_us"]
    assert subject_of(reader, base, "page", **asked) == subject
    advice = reader.get(f"{base}/advice", params=asked).json()
    assert advice["now_us"] == pytest.approx(subject["time_us"], rel=1e-6)
    rows = list(csv.DictReader(io.StringIO(reader.get(f"{base}/roofline.csv", params=asked).text)))
    width = next(name for name in rows[0] if name.startswith("width"))
    total = sum(float(row[width]) for row in rows if row[width])
    assert total <= subject["time_us"] * (1 + 1e-6)
    idle = subject["parts"]["host_wait"] + subject["parts"]["unknown_wait"]
    assert total + idle == pytest.approx(subject["time_us"], rel=0.01)
    frame = reader.get(base.replace("/api/v1/profiles", "/p"), params=asked, headers=HTML).text
    assert marks(frame) >= {("length", subject["time_us"])}
    assert "of: Capture, from the first operation." in frame and "Show the default subject" in frame
    assert "/view?of=capture" in frame


def test_a_subject_that_does_not_exist_is_named(reader: Client, base: str) -> None:
    for part in ("roofline", "page"):
        subject = subject_of(reader, base, part, of="step:<99>")
        assert subject["not_found"] == "step:<99>" and subject["of"] == "step"
    address = base.replace("/api/v1/profiles", "/p")
    frame = reader.get(address, params={"of": "step:<99>"}, headers=HTML).text
    assert "The profile has no subject “step:&lt;99&gt;”." in frame and "step:<99>" not in frame


def test_a_share_link_takes_a_subject(reader: Client, base: str) -> None:
    url = reader.post(f"{base}/links", json={}).json()["url"]
    path = "/l/" + url.rpartition("/")[2]
    assert subject_of(reader, path, "roofline", of="capture")["of"] == "capture"
    assert 'data-q="length"' in reader.get(path, params={"of": "capture"}, headers=HTML).text
