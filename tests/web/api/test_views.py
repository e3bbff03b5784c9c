"""Facts and views of a profile over the API: together they are the page data under those peaks."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from roofline.devices.choice import read_choice
from roofline.exports.answering import answer_of, answered
from roofline.pipeline import analyse_files
from roofline.presentation.facts_and_view import joined
from roofline.presentation.first_view import view as first_view
from roofline.presentation.json_text import to_json
from roofline.presentation.page import PageIdentity, page_data
from roofline.presentation.what_if import OwnPeaks
from roofline.source_closure import source_closure
from roofline.web.api import views
from tests.conftest import SAMPLES
from tests.web.conftest import Client

HTML = {"accept": "text/html"}
SAMPLE = SAMPLES / "xspace" / "v6e-training.xplane.pb"
_OF_VIEW_ALONE = ("advice", "figures", "pieces")
OTHER = {"device": "h100-sxm", "peak": "hbm=3TB/s"}


def both(facts: dict[str, Any], view: dict[str, Any], infeed: str) -> dict[str, Any]:
    """The page data of two answers, without what only one of the documents has."""
    page = joined(facts, view, infeed)
    return {key: value for key, value in page.items() if key not in _OF_VIEW_ALONE}


def of_page(page: dict[str, Any], infeed: str) -> dict[str, Any]:
    ops = {
        key: value for key, value in page["ops"].items() if key not in ("awaited", "predictions")
    }
    page = {key: value for key, value in page.items() if key != "figures"}
    return {**page, "ops": ops, "views": {infeed: page["views"][infeed]}}


@pytest.mark.parametrize("infeed", ["in", "out"])
def test_facts_and_view_are_the_page_and_the_advice(reader: Client, base: str, infeed: str) -> None:
    facts = reader.get(f"{base}/facts").json()
    view = reader.get(f"{base}/view", params={"infeed": infeed}).json()
    assert both(facts, view, infeed) == of_page(reader.get(f"{base}/page").json(), infeed)
    assert view["advice"] == reader.get(f"{base}/advice").json()
    page = reader.get(f"{base}/page").json()
    assert (view["figures"] == page["figures"]) is (infeed == "in")


def test_the_view_under_own_peaks_is_the_stored_result_to_the_byte(
    reader: Client, base: str
) -> None:
    """The default subject by its name is the same view, computed from the stored times."""
    stored = reader.get(f"{base}/view").content
    again = reader.get(f"{base}/view", params={"of": json.loads(stored)["subject"]["of"]}).content
    assert again == stored
    facts = reader.get(f"{base}/facts").content
    assert reader.get(f"{base}/facts", params={"device": "h100-sxm"}).content == facts


def test_a_view_under_other_peaks_is_that_of_the_command(reader: Client, base: str) -> None:
    choice = read_choice("h100-sxm", ["hbm=3TB/s"])
    analysis = analyse_files([SAMPLE], choice=choice)
    by_own = analyse_files([SAMPLE])
    own = OwnPeaks(analysis=by_own, answer=answer_of(by_own), choice=choice)
    found = answered(analysis)
    facts = reader.get(f"{base}/facts").json()
    view = reader.get(f"{base}/view", params=OTHER).json()
    identity = PageIdentity(
        id=facts["profile"]["id"],
        created_at=facts["profile"]["created_at"],
        file_sizes={SAMPLE.name: SAMPLE.stat().st_size},
    )
    expected = json.loads(to_json(page_data(analysis, found.answer, identity, own)))
    assert both(facts, view, "in") == of_page(expected, "in")
    assert view["advice"] == json.loads(to_json(found.advice))
    assert reader.get(f"{base}/advice", params=OTHER).json() == view["advice"]


def test_one_view_has_one_etag_however_it_is_spelled(reader: Client, base: str) -> None:
    spellings = [
        "device=h100-sxm&peak=hbm=3TB/s&peak=compute=900TFLOP/s",
        "peak=compute%3D900TFLOP/s&peak=hbm%3D3000GB/s&device=H100-SXM",
        "dev=h100-sxm&peak.hbm=3000&peak.compute=900000",
    ]
    answers = [reader.get(f"{base}/view?{spelling}") for spelling in spellings]
    assert {answer.status_code for answer in answers} == {200}
    (etag,) = {answer.headers["etag"] for answer in answers}
    assert etag.startswith('"')
    assert answers[0].headers["cache-control"] == "private, no-cache"
    held = reader.get(f"{base}/view?{spellings[1]}", headers={"if-none-match": etag})
    assert (held.status_code, held.content) == (304, b"")
    others = ["device=h100-sxm", "", "dvfs=off&infeed=out", f"{spellings[0]}&of=capture"]
    assert etag not in {reader.get(f"{base}/view?{one}").headers["etag"] for one in others}


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("devise=h100-sxm", "devise"),
        ("device=h-9000", "h-9000"),
        ("peak=hbm=fast", "hbm=fast"),
        ("peak.warp=3", "warp"),
    ],
)
def test_a_parameter_that_means_nothing_is_refused_by_its_name(
    reader: Client, base: str, query: str, name: str
) -> None:
    answer = reader.get(f"{base}/view?{query}")
    assert answer.status_code == 400
    assert name in answer.json()["message"]


def test_operations_are_found_by_name_and_order(reader: Client, base: str) -> None:
    asked = {"q": "FUSION.1", "sort": "-flop_rate_gflops"}
    lines = reader.get(f"{base}/roofline.csv", params=asked).text.splitlines()
    rows = [dict(zip(lines[0].split(","), line.split(","), strict=False)) for line in lines[1:]]
    assert rows
    assert all("fusion.1" in row["name"] for row in rows)
    document = reader.get(f"{base}/roofline", params=asked).json()
    rates = [op["flop_rate_gflops"] for op in document["ops"]]
    assert rates == sorted(rates, reverse=True)
    assert [op["name"] for op in document["ops"]] == [row["name"] for row in rows]
    # All are among the longest thousand here: the page lists nothing beside them.
    for part in ("facts", "view"):
        whole = reader.get(f"{base}/{part}").json()
        assert reader.get(f"{base}/{part}", params=asked).json()["ops"] == whole["ops"]
    answer = reader.get(f"{base}/view", params={"sort": "nothing"})
    assert (answer.status_code, "nothing" in answer.json()["message"]) == (400, True)


def test_a_share_link_has_views_of_its_profile(reader: Client, base: str) -> None:
    link = reader.post(f"{base}/links", json={"name": "paper"}).json()["url"]
    path = link[link.index("/l/") :]
    for document in ("facts", "view"):
        own = reader.get(f"{base}/{document}", params=OTHER).content
        assert reader.get(f"{path}/{document}", params=OTHER).content == own


def test_other_parts_have_a_line_each(reader: Client, base: str) -> None:
    found = reader.get(f"{base}/parts?device=h100-sxm&device=T4").json()
    assert [one["id"] for one in found["devices"]] == ["h100-sxm", "t4"]
    count = reader.get(f"{base}/facts").json()["ops"]["count"]
    assert {len(one["us"]) for one in found["devices"]} == {count}
    here = reader.get(f"{base}/parts?device=t4&dev=l4").json()["here"]
    assert here["time_us"] == found["here"]["time_us"], "what was measured"
    alone = reader.get(f"{base}/parts").json()
    assert (alone["devices"], alone["usual"]) == ([], []), "its own line alone"
    assert len(reader.get(f"{base}/parts?usual=true").json()["usual"]) > 4
    assert reader.get(f"{base}/parts?device=h-9000").status_code == 400


def test_a_page_is_drawn_under_the_peaks_of_its_address(reader: Client, base: str) -> None:
    address = base.replace("/api/v1/profiles", "/p")
    own, other = reader.get(address), reader.get(f"{address}?dev=h100-sxm&peak.hbm=3000")
    assert own.text != other.text
    lead = reader.get(f"{base}/view", params=OTHER).json()["views"]["in"]["verdict"]["headline"]
    texts = [segment["text"] for segment in lead if "text" in segment]
    assert any("it is at " in text for text in texts)
    assert all(text.strip() in other.text for text in texts)
    # A device that is not known leaves the page as it is; its script says so.
    assert reader.get(f"{address}?dev=h-9000").status_code == 200


def test_pieces_of_a_view_are_those_of_the_page_at_its_address(reader: Client, base: str) -> None:
    whole = html_of(reader.get(base.replace("/api/v1/profiles/", "/p/"), headers=HTML).text)
    other = base.replace("/api/v1/profiles/", "/p/") + "?dev=h100-sxm&peak.hbm=3000"
    for page, asked in ((whole, {}), (html_of(reader.get(other, headers=HTML).text), OTHER)):
        pieces = reader.get(f"{base}/view", params=asked).json()["pieces"]
        assert {"headline", "device-strip", "steps", "diagnostics"} <= pieces.keys()
        assert [name for name, text in pieces.items() if f"data-{name}" not in page] == []
        assert [name for name, text in pieces.items() if html_of(text) not in page] == []


def html_of(text: str) -> str:
    return re.sub(r">\s+<", "><", text)


def test_names_of_strangers_are_text_in_pieces(reader: Client) -> None:
    table = (
        b"# device: TPU v6e\nname,time_us,flops,hbm_bytes\n<img src=x onerror=a()>,400,2e10,4e6\n"
    )
    uploaded = reader.upload(table, names=("<b>.csv",)).json()
    pieces = reader.get(f"/api/v1/profiles/{uploaded['id']}/view").json()["pieces"]
    assert "&lt;img src=x" in pieces["op-clocks"] and "&lt;b&gt;.csv" in pieces["device-fields"]
    assert not any("<img" in text or "<b>.csv" in text for text in pieces.values())


def test_other_templates_give_a_view_another_etag(
    reader: Client, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = reader.get(f"{base}/view")
    monkeypatch.setattr(views, "pieces_version", lambda: "another")
    held = {"if-none-match": before.headers["etag"]}
    assert reader.get(f"{base}/view", headers=held).status_code == 200
    monkeypatch.undo()
    assert reader.get(f"{base}/view", headers=held).status_code == 304


def test_what_writes_pieces_is_in_their_version_or_in_that_of_results() -> None:
    folder = Path(first_view.__file__).parent
    computed = source_closure("roofline.imports.child")
    writing = source_closure("roofline.presentation.first_view.view")
    assert [path for path in writing.keys() - computed.keys() if path.parent != folder] == []
