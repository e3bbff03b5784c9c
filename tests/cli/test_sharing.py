"""`roofline share` against a real server."""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest

import roofline
from roofline.api.servers import Receiver, ServerLink, Upload, download, profile_id_of, send
from roofline.cli.main import main
from roofline.cli.sharing import server_of
from tests.browser.serving import Server, serving
from tests.conftest import SAMPLES

HERE = "http://127.0.0.1:8000"
SAMPLE = SAMPLES / "generic" / "attention-h100.json"


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


def said(capfd: pytest.CaptureFixture[str], *words: str, command: str = "share") -> list[str]:
    """The lines of `roofline share`, or of another command."""
    with pytest.raises(SystemExit) as end:
        main([command, *words])
    out, refused = capfd.readouterr()
    assert end.value.code == 0, refused
    return out.splitlines()


def test_profile_is_shared_by_a_link_that_can_be_revoked(
    started: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    link = ServerLink(Receiver(started.url))
    (profile,) = send(Upload(files=(SAMPLE,)), Receiver(started.url), wait_s=60)
    where = (profile["url"], "--server", started.url)
    (url,) = said(capfd, *where, "--name", "vendor", "--days", "7")
    path = url.removeprefix(started.url)
    assert link.send("GET", f"{path}/state")["title"] == profile["title"]
    (row,) = said(capfd, *where, "--list")
    made, _, ends, _, name = row.split("\t")
    assert name == "vendor" and ends.endswith("Z")
    assert said(capfd, *where, "--visibility", "link") == []
    assert link.send("GET", f"/api/v1/profiles/{profile['id']}")["visibility"] == "link"
    assert said(capfd, *where, "--revoke", made) == []
    assert said(capfd, *where, "--list") == []
    status, _ = link.answer("GET", f"{path}/state", timeout_s=10)
    assert status == 404
    with pytest.raises(SystemExit) as end:
        main(["share", *where, "--revoke", made])
    assert end.value.code == 2 and "no link with this id" in capfd.readouterr().err


def test_a_link_is_opened_in_its_view_and_an_upload_gives_one(
    started: Server, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = SAMPLES / "pytorch" / "h100-training.json"
    link = roofline.upload(path, server=started.url, title="mine", tags=["nightly"])
    assert link.startswith(f"{started.url}/p/") and link.document["title"] == "mine"
    found = roofline.open_profile(link)
    assert found == roofline.open_profile(path)
    assert (found.title, found.link, found.files) == ("h100-training.json", link, ())
    view = f"{link}?v=1&dev=h200&peak.hbm=2000&of=capture&q=mm&sel=3"
    seen = roofline.open_profile(path, device="h200", peaks=["hbm=2TB/s"], of="capture")
    assert roofline.open_profile(view) == seen
    chosen = roofline.open_profile(f"{link}?dev=h200", device="b200")
    assert chosen == roofline.open_profile(path, device="b200")
    part = roofline.open_profile(f"{link}?from_us=0&to_us=20000")
    assert part == roofline.open_profile(path, range_us=(0, 20_000))
    (shared,) = said(capfd, link, "--server", started.url)
    monkeypatch.setenv("ROOFLINE_TOKEN_FILE", "/no/such/file")  # a share link needs none
    assert roofline.open_profile(shared) == found
    monkeypatch.delenv("ROOFLINE_TOKEN_FILE")
    sent_again = roofline.upload(roofline.open_profile(path, of="capture"), server=started.url)
    assert sent_again.endswith("?of=capture")
    for wrong, words in (
        (f"{started.url}/p/nothing", "no profile"),
        (f"{started.url}/about", "not the link of a profile"),
        (f"{link}?from_us=soon", "names no time"),
        ("http://127.0.0.1:9/p/abc", "cannot be reached"),
    ):
        with pytest.raises(roofline.RooflineError, match=words):
            roofline.open_profile(wrong)
    with pytest.raises(roofline.RooflineError, match="not here"):
        roofline.upload(found, server=started.url)


def test_tokens_go_to_their_own_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []
    monkeypatch.setattr(ServerLink, "__init__", lambda self, receiver: asked.append(receiver.token))
    monkeypatch.setattr(ServerLink, "download", lambda self, path, folder: folder)
    monkeypatch.setenv("ROOFLINE_TOKEN", "secret")
    for own in (None, "https://team.example"):
        if own:
            monkeypatch.setenv("ROOFLINE_SERVER", own)
        for link in (
            "https://team.example/p/a",
            "https://other.example/p/a",
            "https://o.example/l/a",
        ):
            download(link, Path())
    assert asked == [None, None, None, "secret", None, None]  # links come from anybody


@pytest.mark.parametrize("text", ["ab_c-1", "http://h:1/p/ab_c-1", "https://h/p/ab_c-1?q=x#t"])
def test_profile_is_named_by_address_or_id(text: str) -> None:
    assert profile_id_of(text) == "ab_c-1"


@pytest.mark.parametrize(
    ("profile", "server", "found"),
    [
        ("https://team.example/roofline/p/ab_c-1?q=x", HERE, "https://team.example/roofline"),
        ("https://team.example/p/ab_c-1", "http://inside:8000", "http://inside:8000"),
        ("ab_c-1", HERE, HERE),
    ],
)
def test_an_address_names_its_server_where_no_option_does(
    profile: str, server: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROOFLINE_SERVER", raising=False)
    assert server_of(Namespace(profile=profile, server=server)) == found
    monkeypatch.setenv("ROOFLINE_SERVER", server)
    assert server_of(Namespace(profile=profile, server=server)) == server


def test_notes_on_points_of_a_profile(started: Server, capfd: pytest.CaptureFixture[str]) -> None:
    (profile,) = send(Upload(files=(SAMPLE,)), Receiver(started.url), wait_s=60)
    where = (profile["url"], "--server", started.url)
    name = "qkv_projection"
    (kept,) = said(capfd, *where, "--add", name, "--text", "why so slow?", command="notes")
    (step,) = said(capfd, *where, "--add-step", "Total", command="notes")
    lines = said(capfd, *where, command="notes")
    assert {line.split("\t")[0] for line in lines} == {kept, step}
    assert f"{kept}\t{name}\twhy so slow?\t" in lines
    markdown = said(capfd, *where, "--format", "markdown", command="notes")
    assert f"| `{name}` | why so slow? |  |" in markdown
    assert said(capfd, *where, "--remove", kept, command="notes") == []
    assert len(said(capfd, *where, "--format", "csv", command="notes")) == 2
