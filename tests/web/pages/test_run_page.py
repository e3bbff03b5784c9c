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
    assert settled(server, run["id"])["state"] == "complete"
    page = server.get(f"/r/{run['id']}")
    assert "No verdict: it needs at least 4 hosts" in page.text
    assert "data-events-url" not in page.text
    assert "js/app/run.js" in page.text


def test_no_run_has_no_page(server: Client) -> None:
    assert server.get("/r/nothing-of-this-name").status_code == 404
