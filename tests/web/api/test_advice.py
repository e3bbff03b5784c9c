"""Advice over the API: stored with the results, answered as they are."""

import json

from roofline.devices.choice import read_choice
from roofline.exports.answering import answered
from roofline.pipeline import analyse_files
from roofline.presentation.json_text import to_json
from tests.conftest import SAMPLES
from tests.web.conftest import Client

SAMPLE = SAMPLES / "pytorch" / "h100-training.json"


def test_advice_is_that_of_the_command(client: Client) -> None:
    uploaded = client.upload(SAMPLE.read_bytes(), names=(SAMPLE.name,)).json()
    path = f"/api/v1/profiles/{uploaded['id']}/advice"
    answer = client.get(path)
    found = answer.json()
    analysis = analyse_files([SAMPLE])
    expected = answered(analysis).advice
    assert found["after_us"] == expected["after_us"]
    assert [one["id"] for one in found["findings"]] == [one["id"] for one in expected["findings"]]
    etag = answer.headers["etag"]
    assert client.get(path, headers={"if-none-match": etag}).status_code == 304


def test_advice_follows_other_peaks(client: Client) -> None:
    """A trace with a timeline and a table without one: as the command says it, and as the card."""
    table = SAMPLES / "generic" / "cfd-cpu.csv"
    for sample, peak in ((SAMPLE, "hbm=1TB/s"), (table, "compute=1PFLOP/s")):
        profile_id = client.upload(sample.read_bytes(), names=(sample.name,)).json()["id"]
        asked = {"device": "h200", "peak": peak}
        path = f"/api/v1/profiles/{profile_id}/advice"
        found = client.get(path, params=asked).json()
        analysis = analyse_files([sample], choice=read_choice("h200", [peak]))
        assert found == json.loads(to_json(answered(analysis).advice))
        assert found["device"] == "h200" and found != client.get(path).json()
        card = client.get(f"/p/{profile_id}/advice-card", params=asked).text
        assert "By the peaks that you chose." in card and "data-advice-decide" not in card
        assert client.get(path, params={"device": "h300"}).status_code == 400
        assert client.get(path, params={"peak": "hbm=fast"}).status_code == 400
    part = client.get(path, params={"device": "h200", "from_us": 1})
    assert part.status_code == 404, "a table has no range"


def test_advice_of_no_profile_is_404(client: Client) -> None:
    assert client.get("/api/v1/profiles/none/advice").status_code == 404


def decided(client: Client, profile_id: str, finding: str, state: str, **rest: str) -> None:
    body = {"finding": finding, "state": state, **rest}
    answer = client.post(f"/api/v1/profiles/{profile_id}/decisions", json=body)
    assert answer.status_code == 204, answer.text


def test_findings_are_accepted_dismissed_and_measured(client: Client) -> None:
    content = SAMPLE.read_bytes()
    before, after = (
        client.upload(content, names=(f"{name}.json",)).json()["id"] for name in ("old", "new")
    )
    path = f"/api/v1/profiles/{before}"
    first = client.get(f"{path}/advice").json()
    one, two = (finding["id"] for finding in first["findings"][:2])
    decided(client, before, one, "accepted")
    decided(client, before, two, "dismissed", reason="<i>later</i> on")
    found = client.get(f"{path}/advice").json()
    assert found["findings"][0]["decision"]["state"] == "accepted"
    assert [finding["id"] for finding in found["dismissed"]] == [two]
    assert found["after_us"] > first["after_us"]
    page = client.get(f"/p/{before}").text
    assert "waiting for the next capture" in page
    assert "<i>later</i>" not in page and "&lt;i&gt;later&lt;/i&gt; on" in page
    compared = client.get(f"/c/{before}..{after}").text
    assert "Predicted against measured" in compared and f"{path}/measured" in compared
    assert "Predicted against measured" not in client.get(f"/c/{after}..{before}").text
    measured = client.post(f"{path}/measured", json={"after": after}).json()["entries"]
    assert [(entry["finding"], entry["hit_ratio"]) for entry in measured] == [(one, 0.0)]
    lines = client.get("/api/v1/ledger")
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    entries = [json.loads(line) for line in lines.text.splitlines()]
    assert {entry["finding"] for entry in entries} == {one, two}
    (rate,) = client.get("/api/v1/ledger/rates").json()
    assert (rate["rule"], rate["count"], rate["corrects"]) == (one.split(":")[0], 1, False)
    decided(client, before, two, "open")
    assert client.get(f"{path}/advice").json()["dismissed"] == []
    # Another ledger's hits correct predictions here; pages that were kept are made anew.
    others = [{**measured[0], "profile": f"theirs {number}"} for number in range(4)]
    assert client.post("/api/v1/ledger", json={"entries": others}).status_code == 204
    corrected = client.get(f"/api/v1/profiles/{after}/advice").json()["findings"]
    assert corrected[0]["history"]["count"] == 5
    assert corrected[0]["predicted"]["saving_us"] == 0
    assert "5 earlier predictions" in client.get(f"/p/{after}").text
    client.erase(before)
    assert client.get("/api/v1/ledger").text == ""
    assert client.get("/api/v1/ledger/rates").json()[0]["count"] == 5


def test_the_next_capture_of_a_series_says_what_was_saved(client: Client) -> None:
    """A replay of the same capture saves nothing; other series stay out of it."""
    content = SAMPLE.read_bytes()
    before = client.upload(content, names=("a.json",), title="nightly").json()["id"]
    first = client.get(f"/api/v1/profiles/{before}/advice").json()["findings"][0]
    decided(client, before, first["id"], "accepted")
    other = client.upload(content, names=("b.json",)).json()["id"]
    assert client.get(f"/api/v1/profiles/{other}/advice").json()["done"] == []
    after = client.upload(content, names=("c.json",), title="nightly").json()["id"]
    (done,) = client.get(f"/api/v1/profiles/{after}/advice").json()["done"]
    assert (done["profile"], done["finding"], done["hit_ratio"]) == (before, first["id"], 0)
    assert done["measured"]["term_us"] == 0
    assert done["text"].endswith(", measured 0.")
    assert done["text"] in client.get(f"/p/{after}").text
    assert "measured 0" in client.get(f"/p/{before}").text
    runs = client.get("/api/v1/series", params={"name": "nightly"}).json()["runs"]
    assert [one["done"] for one in runs] == [[], [done["text"]]]
    assert done["text"] in client.get("/s/nightly").text


def test_a_kept_page_does_not_wait_for_a_capture_that_is_there(client: Client) -> None:
    content = SAMPLE.read_bytes()
    before, apart = (
        client.upload(content, names=(f"{name}.json",), title=name).json()["id"]
        for name in ("nightly", "apart")
    )
    first = client.get(f"/api/v1/profiles/{before}/advice").json()["findings"][0]
    decided(client, before, first["id"], "accepted")
    assert "waiting for the next capture" in client.get(f"/p/{before}").text
    edit = {"json": {"title": "nightly"}}
    assert client.request("PATCH", f"/api/v1/profiles/{apart}", **edit).status_code == 200
    assert "measured 0" in client.get(f"/p/{before}").text, "of a run that was renamed"
    second = client.get(f"/api/v1/profiles/{apart}/advice").json()["findings"][0]
    decided(client, apart, second["id"], "accepted")
    assert "waiting for the next capture" in client.get(f"/p/{apart}").text
    client.upload(content, names=("new.json",), title="nightly")
    assert "measured 0" in client.get(f"/p/{apart}").text, "of a run that came"


def test_decisions_that_cannot_be_are_refused(client: Client) -> None:
    table = (
        b"# device: a CPU\n# peak_fp64: 3.1 TFLOP/s\n# peak_dram: 380 GB/s\n"
        b"op,time_us,flops,precision,dram_bytes\n"
        b"fast,900,1000,fp64,9000000000\nslow,1000,1000,fp64,1000000\n"
    )
    profile_id = client.upload(table, names=("table.csv",)).json()["id"]
    path = f"/api/v1/profiles/{profile_id}/decisions"
    option = client.get(f"/api/v1/profiles/{profile_id}/advice").json()["findings"][-1]
    assert option["predicted"] is None
    for finding, state, status in (
        ("none", "accepted", 404),
        (option["id"], "accepted", 400),
        ("none", "open", 404),
    ):
        answer = client.post(path, json={"finding": finding, "state": state})
        assert answer.status_code == status, answer.text
    long = {"finding": option["id"], "state": "dismissed", "reason": "x" * 501}
    assert client.post(path, json=long).status_code == 400
    none = client.post("/api/v1/profiles/none/decisions", json={"finding": "x", "state": "open"})
    assert none.status_code == 404
    assert client.post("/api/v1/ledger", json={"entries": [{}]}).status_code == 400
