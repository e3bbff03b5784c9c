"""`/r/{id}`: the page of a run before, while and after its hosts are read."""

from collections.abc import Iterator

import pytest

from roofline.settings import Settings
from tests.conftest import SAMPLES
from tests.web.api.test_runs import API, made, pushed, settled
from tests.web.conftest import Client, running

HOSTS = sorted((SAMPLES / "xspace" / "v5e-three-hosts").glob("*.xplane.pb"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running(Settings.from_env(data_dir=tmp_path_factory.mktemp("runs"))) as client:
        yield client


def test_a_run_has_a_page_from_its_first_moment(server: Client) -> None:
    run = made(server, title="<b>night</b>", hosts=2)
    page = server.get(f"/r/{run['id']}")
    assert page.status_code == 200
    assert "The page opens when the first hosts have been read" in page.text
    assert "&lt;b&gt;night&lt;/b&gt;" in page.text
    assert f'data-events-url="{API}/{run["id"]}/events"' in page.text
    for file in HOSTS[:2]:
        pushed(server, run["id"], (file.name, file.read_bytes()))
    before = server.get(f"/r/{run['id']}").headers["etag"]
    assert settled(server, run["id"])["state"] == "complete"
    page = server.get(f"/r/{run['id']}", headers={"if-none-match": before})
    assert "No verdict: it needs at least 4 hosts" in page.text
    assert "data-events-url" not in page.text
    assert "data-copy-link" in page.text and '"shades":{"ratio":"33' in page.text
    assert "js/app/run.bundle.js" in page.text
    held = {"if-none-match": page.headers["etag"]}
    assert server.get(f"/r/{run['id']}", headers=held).status_code == 304


def test_the_home_page_lists_runs_above_profiles(server: Client) -> None:
    expected = made(server, title="<b>of a search</b>", hosts=64)
    pushed(server, expected["id"], (HOSTS[0].name, HOSTS[0].read_bytes()))
    home = server.get("/?q=OF+search").text
    assert home.count('href="/r/') == 1 and "&lt;b&gt;of a search&lt;/b&gt;" in home
    assert f'href="/r/{expected["id"]}"' in home and "of 64" in home
    assert "No profile matches" not in home
    assert "No profile matches" in server.get("/?q=nothing+of+this").text
    for _ in range(6):
        made(server, title="one of six")
    newest, older = server.get("/?q=one+six").text, server.get("/?q=one+six&runs=2").text
    assert (newest.count('href="/r/'), older.count('href="/r/')) == (5, 1)
    assert "/?q=one+six&amp;runs=2" in newest and 'href="/?q=one+six"' in older
    assert 'href="/r/' not in server.get("/?tag=x").text, "runs have no tags"


def test_a_preview_has_the_first_sentence_and_a_cell_for_each_host(server: Client) -> None:
    run = made(server, hosts=3)
    for file in HOSTS:
        pushed(server, run["id"], (file.name, file.read_bytes()))
    settled(server, run["id"])
    home = server.get("/").text.partition(f'href="/r/{run["id"]}"')
    assert home[0].rpartition("<svg")[2].count("M") == 3
    assert "No verdict: it needs at least 4 hosts" in home[2].partition("</th>")[0]


def test_a_run_of_which_no_file_can_be_read_says_why(server: Client) -> None:
    run = made(server, hosts=2)
    pushed(server, run["id"], ("a.json", b"{"), ("<b>.json", b"{]"))
    assert settled(server, run["id"])["state"] == "complete"
    page = server.get(f"/r/{run['id']}")
    assert page.status_code == 200
    assert "No host of this run was read" in page.text
    assert page.text.count('<span class="muted">') == 2 and "&lt;b&gt;.json" in page.text


def test_no_run_has_no_page(server: Client) -> None:
    assert server.get("/r/nothing-of-this-name").status_code == 404
