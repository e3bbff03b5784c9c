"""Runs of one title or tag over time: the numbers, the page, and what is left out."""

import pytest

from tests.web.conftest import Client, Launch

HTML = {"accept": "text/html,application/xhtml+xml"}
TITLE = "train/<b>main</b> #1?"
PATH = "train%2F%3Cb%3Emain%3C%2Fb%3E%20%231%3F"


@pytest.fixture
def ids(client: Client, capture: bytes, hosts: tuple[bytes, ...]) -> list[str]:
    first = client.upload(capture, title=TITLE, tag="nightly")
    second = client.upload(hosts[0], title=TITLE)
    client.upload(capture, title="train main 1")
    return [str(one.json()["id"]) for one in (first, second)]


def test_series_has_the_runs_of_exactly_this_title(client: Client, ids: list[str]) -> None:
    found = client.get(f"/api/v1/series?name={PATH}").json()
    assert {one["id"] for one in found["runs"]} == set(ids)
    assert (found["unit"], found["total"], found["unread"]) == ("step", 2, 0)
    for one in found["runs"]:
        assert one["efficiency_ratio"] == pytest.approx(one["roof_us"] / one["time_us"])
        assert 0 < one["known_ratio"] <= 1


def test_step_time_is_that_of_a_comparison(client: Client, ids: list[str]) -> None:
    found = client.get(f"/api/v1/series?name={PATH}").json()
    times = {one["id"]: one["time_us"] for one in found["runs"]}
    compared = client.get(f"/api/v1/compare?a={ids[0]}&b={ids[1]}").json()["captures"]
    assert times[ids[0]] == compared["a"]["time_us"][0]
    assert times[ids[1]] == compared["b"]["time_us"][0]


def test_series_of_a_tag_has_its_runs(client: Client, ids: list[str]) -> None:
    found = client.get("/api/v1/series?name=nightly&by=tag").json()
    assert [one["id"] for one in found["runs"]] == [ids[0]]
    assert client.get("/api/v1/series?name=x&by=day").status_code == 400
    assert client.get("/api/v1/series?name=").status_code == 400


def test_page_links_every_run_and_escapes_names(client: Client, ids: list[str]) -> None:
    answer = client.get(f"/s/{PATH}", headers=HTML)
    assert answer.status_code == 200
    assert "2 runs of train/&lt;b&gt;main&lt;/b&gt; #1?" in answer.text
    assert "<b>main" not in answer.text
    for one in ids:
        assert f'href="/p/{one}"' in answer.text
    assert "with the run before" in answer.text
    assert " style=" not in answer.text


def test_page_of_an_unknown_name_says_so(client: Client) -> None:
    answer = client.get("/s/nothing", headers=HTML)
    assert "No run of nothing is ready" in answer.text


def test_a_server_with_tokens_asks_for_one(launch: Launch) -> None:
    client = launch(auth="token", token="a-token-of-this-test")
    assert client.get("/s/x", headers=HTML).status_code == 303
    assert client.get("/api/v1/series?name=x").status_code == 401
