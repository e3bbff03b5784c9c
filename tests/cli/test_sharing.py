"""`roofline share` against a real server."""

from argparse import Namespace
from collections.abc import Iterator

import pytest

from roofline.cli.main import main
from roofline.cli.sharing import id_of, server_of
from roofline.cli.upload import Receiver, ServerLink, Upload, send
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


@pytest.mark.parametrize("text", ["ab_c-1", "http://h:1/p/ab_c-1", "https://h/p/ab_c-1?q=x#t"])
def test_profile_is_named_by_address_or_id(text: str) -> None:
    assert id_of(text) == "ab_c-1"


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
