"""The pieces of a page that its results alone decide: drawn at the import, and shown as stored."""

import gzip
import os
import tracemalloc
from pathlib import Path

import orjson
import pytest

from roofline.storage.results import (
    ADVICE,
    CSV,
    PAGE,
    PIECES,
    DamagedResultError,
    ResultStore,
    ResultWriter,
    _sealed,
)
from roofline.web.http.access import Actor
from roofline.web.offline import templates
from roofline.web.pages import profile_view
from tests.web.conftest import Client, Launch

HOSTILE = b"# device: TPU v6e\nname,time_us,flops,hbm_bytes\n<img src=x onerror=a()>,400,2e10,4e6\n"


def shown(client: Client, profile: str, link: str) -> list[str]:
    """Page and card of advice, for people who may change the profile, for others, by a link."""
    found = [client.get(path).text for path in (profile, f"{profile}/advice-card", link)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Actor, "may_change", lambda *_: False)
        return [*found, client.get(profile).text, client.get(f"{profile}/advice-card").text]


def test_stored_pieces_make_the_page_that_is_drawn_without_them(
    launch: Launch, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = launch(kept_answers_bytes=0)
    samples = [one["name"] for one in client.get("/api/v1/samples").json()["samples"]]
    ids = [client.post(f"/api/v1/samples/{name}?wait=60").json()["id"] for name in samples[:3]]
    ids += [
        client.upload(capture).json()["id"],
        client.upload(HOSTILE, names=("<b>.csv",)).json()["id"],
    ]
    for one in ids:
        base, page = f"/api/v1/profiles/{one}", f"/p/{one}"
        link = client.post(f"{base}/links", json={}).json()["url"]
        stored = shown(client, page, link)
        with monkeypatch.context() as patch:
            patch.setattr(profile_view, "first_view", None)
            assert client.get(page).text == stored[0], "no first view was made"
        with monkeypatch.context() as patch:
            patch.setattr(profile_view, "stored_pieces", lambda _: {})
            assert shown(client, page, link) == stored
    assert "<img src=x" not in stored[0] and "&lt;img src=x" in stored[0]


def test_decided_advice_is_on_the_page_of_stored_pieces(launch: Launch, capture: bytes) -> None:
    client = launch(kept_answers_bytes=0)
    one = client.upload(capture).json()["id"]
    before = client.get(f"/p/{one}").text
    finding = client.get(f"/api/v1/profiles/{one}/advice").json()["findings"][0]["id"]
    decision = {"finding": finding, "state": "dismissed", "reason": "<not> for us"}
    path = f"/api/v1/profiles/{one}/decisions"
    assert client.post(path, json=decision).status_code == 204
    assert "&lt;not&gt; for us" in client.get(f"/p/{one}").text
    assert client.post(path, json={"finding": finding, "state": "open"}).status_code == 204
    assert client.get(f"/p/{one}").text == before


def test_pieces_of_other_templates_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = b'["%s",{"top":"a"}]' % templates.pieces_version().encode()
    assert templates.stored_pieces(drawn) == {"top": "a"}
    monkeypatch.setattr(templates, "pieces_version", lambda: "another")
    assert templates.stored_pieces(drawn) == templates.stored_pieces(None) == {}


@pytest.mark.parametrize("fails", [False, True])
def test_pieces_that_a_child_wrote_are_never_stored(tmp_path: Path, fails: bool) -> None:
    """It may have been taken over by the file that it read."""

    def draw(page: bytes, advice: bytes) -> dict[bool, bytes]:
        return {} if fails else {True: page + advice}

    def hostile(name: str, also: str) -> Path:
        writer = ResultWriter(tmp_path / name)
        for one in (PAGE, ADVICE, also, *PIECES.values()):
            writer.add(one, b"from the child")
        writer.finish()
        return tmp_path / name

    store = ResultStore(tmp_path / "derived", "v", draw=draw)
    store.adopt("p", hostile("page", "other"))
    store.complete("p", hostile("exports", CSV["in"]))
    own, others = (store.file("p", name) for name in PIECES.values())
    assert others is None
    assert (None if own is None else own.plain()) == (None if fails else b"from the child" * 2)
    assert store.file("p", CSV["in"]) and store.is_intact("p")


def test_exports_of_a_child_move_no_other_file(tmp_path: Path) -> None:
    store, secret = ResultStore(tmp_path / "derived", "v"), tmp_path / "secret"
    secret.write_bytes(b"of the server")
    for name in ("page", "exports"):
        writer = ResultWriter(tmp_path / name)
        writer.add(PAGE, name.encode())
        writer._index["../secret"] = {}
        writer.finish()
    store.adopt("p", tmp_path / "page")
    store.complete("p", tmp_path / "exports")
    page = store.file("p", PAGE)
    assert secret.read_bytes() == b"of the server" and page and page.plain() == b"page"


def test_markup_in_a_picture_of_a_child_is_not_shown(launch: Launch, capture: bytes) -> None:
    client = launch()
    one = client.upload(capture).json()["id"]
    (folder,) = (client.settings.data_dir / "derived" / one).iterdir()
    page, advice = (gzip.decompress((folder / name).read_bytes()) for name in (PAGE, ADVICE))
    picture = orjson.loads(page)["figures"]["gain"]["picture"]

    def drawn(shown: str) -> bytes:
        data = orjson.loads(page)
        data["figures"]["gain"]["picture"] = shown
        return b"".join(client.parts.templates.drawn(orjson.dumps(data), advice).values())

    assert drawn(picture).count(b"<title>Time to gain") == 2
    for ours, hostile in (
        ("</title>", "</title><script>a()</script>"),
        ("<path ", '<path onload="a()" '),
        ("<svg ", '<svg onload="a()" '),
        ('fill="var(--', 'fill="url(//evil.example/'),
        ("</svg>", "</svg><img src=x onerror=a()>"),
    ):
        assert ours in picture
        assert b"<title>Time to gain" not in drawn(picture.replace(ours, hostile, 1)), hostile


@pytest.mark.parametrize("name", ["/dev/zero", "../secret"])
def test_index_of_a_child_names_no_file_elsewhere(tmp_path: Path, name: str) -> None:
    """The weekly check reads each file of an index: one that never ends would fill its memory."""
    writer = ResultWriter(tmp_path / "page")
    writer.add(PAGE, b"{}")
    writer.finish()
    writer._index[name] = writer._index[PAGE]
    (tmp_path / "page" / "index.json").write_bytes(_sealed(writer._index))
    store = ResultStore(tmp_path / "derived", "v")
    store.adopt("p", tmp_path / "page")
    assert store.is_intact("p") and list(store.files("p", name)) == [None]


def test_results_that_would_fill_the_memory_are_damaged(tmp_path: Path) -> None:
    """Zeros, packed a thousand times smaller, and a file of holes."""
    writer = ResultWriter(tmp_path / "page")
    for name in (PAGE, ADVICE, CSV["in"]):
        writer.add(name, bytes(1 << 20) * (65 if name == PAGE else 1))
    writer.add_ops([b"a"])
    writer.finish()
    os.truncate(tmp_path / "page" / CSV["in"], 1 << 40)
    store = ResultStore(tmp_path / "d", "v", draw=lambda *_: {True: b"drawn"})
    tracemalloc.start()
    store.adopt("p", tmp_path / "page")
    assert store.file("p", PIECES[True]) is None and not store.is_intact("p")
    for found in store.files("p", PAGE, CSV["in"]):
        assert found
        with pytest.raises(DamagedResultError):
            found.plain()
    assert tracemalloc.get_traced_memory()[1] < 1 << 28
    tracemalloc.stop()
    os.truncate(tmp_path / "d" / "p" / "v" / "index.json", 1 << 40)
    assert not store.has("p")
