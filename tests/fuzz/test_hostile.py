"""Hostile uploads against a server, found inputs against the importer, and a few new ones."""

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from roofline.settings import Settings
from roofline.storage.sweeping import empty_trash
from tests.fuzz.corpus_files import corpus, kept
from tests.fuzz.families import FAMILIES, upload_of
from tests.fuzz.hostile import ARCHIVES, LONG_TEXTS, NAMES
from tests.fuzz.importing import DRAWN_EVERY, read
from tests.fuzz.seed_files import kept_seeds
from tests.tools.edge_cases import EDGE_CASES
from tests.tools.generate_xspace import Config, write_profile
from tests.web.conftest import PROBLEM_KEYS, Client, running

INPUTS = 60
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
) -> None:
    before = server.listing()
    answer = server.upload(ARCHIVES[name](profile), names=(f"{name}.bin",))
    body = answer.json()
    if answer.status_code == 201:
        assert body["state"] == "ready"
        assert server.delete(f"/api/v1/profiles/{body['id']}").status_code == 204
    else:
        assert answer.status_code in REFUSED, body
        kept = {"id", "url", "delete_token"} if "id" in body else set()
        assert set(body) == {*PROBLEM_KEYS, *kept}
        assert len(body["message"]) < 1_000
        assert body["message"].isprintable()
        if kept:  # the files of a failed import stay, until somebody deletes them
            assert server.delete(f"/api/v1/profiles/{body['id']}").status_code == 204
    empty_trash(server.parts.instance.store)
    assert server.listing() == before
    data_dir = server.settings.data_dir
    assert outside(data_dir) == [data_dir.parent, data_dir]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:24])
def test_hostile_name_is_shown_and_never_used(server: Client, profile: bytes, name: str) -> None:
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


def disposition(headers: Mapping[str, str]) -> str:
    return headers["content-disposition"]


@pytest.mark.parametrize("family", FAMILIES)
def test_mutated_files_are_imported_or_refused(tmp_path: Path, family: str) -> None:
    make = FAMILIES[family]
    ends = [read(make(n), tmp_path, is_drawn=n % DRAWN_EVERY == 0) for n in range(INPUTS)]
    assert "read" in ends or family == "wrong-file"
    assert set(ends) != {"read"} or family == "hlo"  # a program that is none has no costs


@pytest.mark.parametrize("family", FAMILIES)
def test_inputs_have_numbers(family: str) -> None:
    assert FAMILIES[family](77) == FAMILIES[family](77)


@pytest.mark.parametrize("path", corpus(), ids=lambda path: path.name)
def test_what_was_found_once_is_imported_or_refused(tmp_path: Path, path: Path) -> None:
    read(kept(path), tmp_path, is_drawn=True)


@pytest.mark.parametrize("name", EDGE_CASES)
def test_corners_of_the_format_have_a_page(tmp_path: Path, name: str) -> None:
    """A capture without operations was read, and its import ended with a fault of the server."""
    cases = tmp_path / "cases"
    cases.mkdir()
    files = [(path.name, path.read_bytes()) for path in EDGE_CASES[name](cases)]
    shutil.rmtree(cases)
    read(files, tmp_path, is_drawn=True)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_guided_runs_reached_is_imported_or_refused(tmp_path: Path, family: str) -> None:
    for at, content in enumerate(kept_seeds(family)):
        read(upload_of(family, content), tmp_path, is_drawn=at % DRAWN_EVERY == 0)


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_long_texts_are_read_in_one_pass(tmp_path: Path, name: str) -> None:
    read([("input", LONG_TEXTS[name].encode())], tmp_path, is_drawn=True)
