"""One host of several, and the clock that ran, over the API and on the page."""

import json

from roofline.exports.records import analysis_to_json
from roofline.pipeline import analyse_files
from tests.analysis.test_one_host import SLOWED, THREE
from tests.web.conftest import Client


def test_results_of_a_host_are_those_of_the_command(client: Client) -> None:
    contents = [path.read_bytes() for path in THREE]
    uploaded = client.upload(*contents, names=tuple(path.name for path in THREE)).json()
    base = f"/api/v1/profiles/{uploaded['id']}"
    analysis = analyse_files(THREE, host="host-1")
    expected = json.loads(analysis_to_json(analysis, include_infeed_outfeed=True))
    found = client.get(f"{base}/roofline", params={"host": "host-1"}).json()
    assert found["ops"] == expected["ops"] and found["budget"] == expected["budget"]
    names = ["host-0", "host-1", "host-2"]
    assert client.get(f"{base}/page").json()["hosts"] == {"names": names, "shown": ""}
    wanted = {"host": "host-1", "to_us": "1000"}
    page = client.get(f"{base}/page", params=wanted).json()
    assert page["hosts"] == {"names": names, "shown": "host-1"} and page["timeline"]["range"]
    # The page of all hosts is kept for others, and is not sent for one of them.
    assert "All numbers" not in client.get(f"/p/{uploaded['id']}").text
    frame = client.get(f"/p/{uploaded['id']}", params={"host": "host-1"}).text
    assert "All numbers are of the host host-1, one of 3." in frame and "host=host-1" in frame
    assert client.get(f"{base}/advice", params={"host": "host-1"}).status_code == 200
    unknown = client.get(f"{base}/roofline", params={"host": "<i>"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "no-such-range")
    assert client.get(f"{base}/roofline", params={"dvfs": "on"}).status_code == 404


def test_peaks_follow_the_clock(client: Client) -> None:
    uploaded = client.upload(SLOWED[0].read_bytes()).json()
    base = f"/api/v1/profiles/{uploaded['id']}"
    page = client.get(f"{base}/page").json()
    assert page["dvfs"] == {"scale": 0.915516, "is_applied": False}
    slowed = client.get(f"{base}/page", params={"dvfs": "on"}).json()
    assert slowed["dvfs"]["is_applied"]
    peaks = [one["roofs"]["compute"][0]["gflops"] for one in (page, slowed)]
    assert peaks == [918000, 840444]
    assert "All numbers" not in client.get(f"/p/{uploaded['id']}").text
    frame = client.get(f"/p/{uploaded['id']}", params={"dvfs": "on"}).text
    assert "at the clock that ran: × 0.9155." in frame and "dvfs=on" in frame
