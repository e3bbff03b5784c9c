"""`roofline share` against a real server."""

from pathlib import Path

import pytest

from roofline.cli.main import main
from roofline.cli.sharing import _id_of
from roofline.cli.upload import Receiver, ServerLink, Upload, send
from tests.browser.serving import serving
from tests.conftest import SAMPLES

SAMPLE = SAMPLES / "generic" / "attention-h100.json"


def said(capfd: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """The lines of `roofline share`."""
    with pytest.raises(SystemExit) as end:
        main(["share", *words])
    out, refused = capfd.readouterr()
    assert end.value.code == 0, refused
    return out.splitlines()


def test_profile_is_shared_by_a_link_that_can_be_revoked(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(tmp_path) as server:
        link = ServerLink(Receiver(server.url))
        (profile,) = send(Upload(files=(SAMPLE,)), Receiver(server.url), wait_s=60)
        where = (profile["url"], "--server", server.url)
        (url,) = said(capfd, *where, "--name", "vendor", "--days", "7")
        path = url.removeprefix(server.url)
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
    assert _id_of(text) == "ab_c-1"
