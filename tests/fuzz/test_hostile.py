"""Hostile uploads against a server, found inputs against the importer, and a few new ones."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.settings import Settings
from tests.fuzz.hostile import ARCHIVES, NAMES
from tests.fuzz.importing import CORPUS, mutator, read
from tests.tools.generate_xspace import Config, write_profile
from tests.web.conftest import Client, running

INPUTS = 300
REFUSED = {400, 413, 415, 422}


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("profile")
    (path,) = write_profile(Config(n_events=60, n_steps=2, n_distinct_ops=10), folder)
    return path.read_bytes()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("server") / "deep" / "data"
    with running(Settings.from_env(data_dir=folder, max_unpacked_bytes=400 << 20)) as client:
        yield client


def outside(data_dir: Path) -> list[Path]:
    """Whatever lies beside the data folder: nothing may."""
    return [path for path in data_dir.parent.parent.rglob("*") if data_dir not in path.parents]


@pytest.mark.parametrize("name", ARCHIVES)
def test_hostile_archive_is_imported_or_refused_and_leaves_nothing(
    server: Client, profile: bytes, name: str
):
    before = server.listing()
    answer = server.upload(ARCHIVES[name](profile), names=(f"{name}.bin",))
    body = answer.json()
    if answer.status_code == 201:
        assert body["state"] == "ready"
        assert server.delete(f"/api/v1/profiles/{body['id']}").status_code == 204
    else:
        assert answer.status_code in REFUSED, body
        assert set(body) == {"message", "remedy", "code"}
        assert len(body["message"]) < 1_000
        assert body["message"].isprintable()
    assert server.listing() == before
    data_dir = server.settings.data_dir
    assert outside(data_dir) == [data_dir.parent, data_dir]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:24])
def test_hostile_name_is_shown_and_never_used(server: Client, profile: bytes, name: str):
    answer = server.upload(profile, names=(name,), title=name, tag=name[:40], note=name[:500])
    if answer.status_code == 400:  # no name makes a text field of a file; headers have an end
        assert name in ("", " ") or len(name) > 4_000
        return
    body = answer.json()
    assert answer.status_code == 201, body
    page = server.get(f"/p/{body['id']}", headers={"accept": "text/html"}).text
    home = server.get("/", headers={"accept": "text/html"}).text
    for html in (page, home):
        assert "<script>alert" not in html
        assert "49{%" not in html
    for path in ("source", "roofline.csv"):
        sent = server.get(f"/api/v1/profiles/{body['id']}/{path}")
        assert re.match(r'attachment; filename="[\w .-]+"; filename\*=', disposition(sent.headers))
        assert sent.headers["x-content-type-options"] == "nosniff"
    assert server.delete(f"/api/v1/profiles/{body['id']}").status_code == 204


def disposition(headers: object) -> str:
    return str(headers["content-disposition"])  # type: ignore[index]


def test_mutated_profiles_are_imported_or_refused(tmp_path: Path):
    makes = mutator()
    ends = [read(makes.input(n), tmp_path, is_drawn=n % 8 == 0) for n in range(INPUTS)]
    assert ends.count("read") > INPUTS / 10
    assert ends.count("corrupt-profile") > INPUTS / 10


def test_inputs_have_numbers():
    assert mutator().input(77) == mutator().input(77)


def test_what_was_found_once_is_imported_or_refused(tmp_path: Path):
    for path in sorted(CORPUS.glob("*.bin")):
        read(path.read_bytes(), tmp_path, is_drawn=True)
