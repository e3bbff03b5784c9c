"""Runs of one title or tag over time: the numbers, the page, and what is left out."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_comparing import slower_from_the_ninth
from tests.compare.captures import capture_path
from tests.web.conftest import Client, Launch

HTML = {"accept": "text/html,application/xhtml+xml"}
TITLE = "train/<b>main</b> #1?"
PATH = "train%2F%3Cb%3Emain%3C%2Fb%3E%20%231%3F"


@pytest.fixture(scope="module")
def ids(reader: Client, capture: bytes, hosts: tuple[bytes, ...]) -> list[str]:
    first = reader.upload(capture, title=TITLE, tag="nightly")
    second = reader.upload(hosts[0], title=TITLE)
    reader.upload(capture, title="train main 1")
    return [str(one.json()["id"]) for one in (first, second)]


def test_series_has_the_runs_of_exactly_this_title(reader: Client, ids: list[str]) -> None:
    found = reader.get(f"/api/v1/series?name={PATH}").json()
    assert {one["id"] for one in found["runs"]} == set(ids)
    assert (found["unit"], found["total"], found["unread"]) == ("step", 2, 0)
    for one in found["runs"]:
        page = reader.get(f"/api/v1/profiles/{one['id']}/roofline").json()["subject"]
        for name in ("time_us", "floor_us", "roof_ratio", "known_ratio"):
            assert one[name] == page[name], name
        assert 0 < one["known_ratio"] <= 1
        assert one["roof_us"] > 0


def test_step_time_is_that_of_a_comparison(reader: Client, ids: list[str]) -> None:
    found = reader.get(f"/api/v1/series?name={PATH}").json()
    times = {one["id"]: one["time_us"] for one in found["runs"]}
    compared = reader.get(f"/api/v1/compare?a={ids[0]}&b={ids[1]}").json()
    for side, one in zip("ab", ids, strict=True):
        assert times[one] == compared[f"{side}_us"] == compared["subjects"][side]["time_us"]


def test_series_of_a_tag_has_its_runs(reader: Client, ids: list[str]) -> None:
    found = reader.get("/api/v1/series?name=nightly&by=tag").json()
    assert [one["id"] for one in found["runs"]] == [ids[0]]
    assert reader.get("/api/v1/series?name=x&by=day").status_code == 400
    assert reader.get("/api/v1/series?name=").status_code == 400


def test_page_links_every_run_and_escapes_names(reader: Client, ids: list[str]) -> None:
    answer = reader.get(f"/s/{PATH}", headers=HTML)
    assert answer.status_code == 200
    assert "2 runs of train/&lt;b&gt;main&lt;/b&gt; #1?" in answer.text
    assert "<b>main" not in answer.text
    for one in ids:
        assert f'href="/p/{one}"' in answer.text
    assert "with the run before" in answer.text
    assert " style=" not in answer.text


def test_page_of_an_unknown_name_says_so(reader: Client) -> None:
    answer = reader.get("/s/nothing", headers=HTML)
    assert "No run of nothing is ready" in answer.text


def test_a_server_with_tokens_asks_for_one(launch: Launch) -> None:
    client = launch(auth="token", token="a-token-of-this-test")
    assert client.get("/s/x", headers=HTML).status_code == 303
    assert client.get("/api/v1/series?name=x").status_code == 401


def test_a_lasting_change_is_marked_with_its_run_and_its_module(
    client: Client, tmp_path: Path
) -> None:
    for path in slower_from_the_ninth(tmp_path):
        client.upload(path.read_bytes(), names=(path.name,), title="nightly")
    found = client.get("/api/v1/series?name=nightly").json()
    (change,) = found["changes"]
    assert change["id"] == found["runs"][8]["id"]
    assert change["before_ids"] == [one["id"] for one in found["runs"][3:8]]
    page = client.get("/s/nightly", headers=HTML).text
    assert change["words"] in page
    assert "Attention takes" in change["words"]
    href = re.search(r'<a href="(/c/[^"]+)">Compare the runs on both sides', page)
    assert href is not None
    assert client.get(unescape(href[1]), headers=HTML).status_code == 200


BUDGET = '[exact]\nflops = "+5%"\nhbm_bytes = "+0.5%"\n'
ACCEPT = '[[accept]]\nrule = "exact.hbm_bytes"\nreason = "#812"\nuntil = 2099-03-01\n'


def _runs_over_time(client: Client) -> list[dict[str, Any]]:
    for name in ("layernorm", "layernorm", "unfused", "unfused", "layernorm"):
        client.upload(capture_path(name).read_bytes(), title="step")
    found = client.get("/api/v1/series?name=step").json()["runs"]
    return [dict(one) for one in found]


def test_a_regression_stays_until_it_is_mended(client: Client) -> None:
    runs = _runs_over_time(client)
    assert [one["gate"] for one in runs] == ["base", "passed", "broken", "broken", "passed"]
    assert [one["base_id"] for one in runs] == [None, *(runs[k]["id"] for k in (0, 1, 1, 1))]
    assert "exact.hbm_bytes" in runs[2]["rules"]
    told = client.get(f"/api/v1/series/check?name=step&run={runs[2]['id']}").json()
    assert (told["gate"], told["base_id"]) == ("broken", runs[1]["id"])
    rule = next(one for one in told["rules"] if one["rule"] == "exact.hbm_bytes")
    assert (rule["state"], rule["limit"]) == ("broken", "+0.5\u202f%")
    assert re.fullmatch(r"[+−][\d.]+\u202f%", rule["change"]), "as a page writes numbers"
    assert not any("--" in line for line in told["lines"]), "a page has no options"
    assert any("train.py:" in line for line in told["lines"])
    assert any(line.startswith("Change of time: ") for line in told["lines"])
    page = client.get("/s/step", headers=HTML).text
    assert page.count('<td class="left gate-state bad">failed</td>') == 2
    assert client.get("/api/v1/series/check?name=step&run=none").status_code == 404


def test_the_budget_of_the_server_accepts_a_regression(launch: Launch, tmp_path: Path) -> None:
    budget = tmp_path / "roofline.toml"
    budget.write_text(BUDGET + ACCEPT)
    client = launch(budget_file=budget)
    runs = _runs_over_time(client)
    assert [one["gate"] for one in runs] == ["base", "passed", "accepted", "accepted", "passed"]
    assert runs[2]["accepted_until"] == "2099-03-01"
    assert "accepted until 2099-03-01" in client.get("/s/step", headers=HTML).text
