"""The page of a profile as one file: its policy, its size, and the documents in it."""

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_main import refused, run
from tests.conftest import SAMPLES
from tests.web.conftest import Client

SMALL = SAMPLES / "generic" / "attention-h100.json"
LARGE = SAMPLES / "xspace" / "v6e-training.xplane.pb"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("report") / "report.html"
    run("report", LARGE, "-o", path, "--title", "A <b>title</b>")
    return path.read_bytes()


def packed(html: str, name: str) -> bytes:
    found = re.search(rf'<script type="application/octet-stream" id="report-{name}">(.*?)<', html)
    assert found
    return gzip.decompress(base64.b64decode(found[1]))


def documents(html: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(packed(html, "documents"))
    return found


def test_policy_allows_this_file_and_nothing_else(written: bytes) -> None:
    html = written.decode()
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert found
    policy = found[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy
    texts = re.findall(r"<script>(.*?)</script>|<style[^>]*>(.*?)</style>", html, re.DOTALL)
    assert len(texts) == 4
    for text in map("".join, texts):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not re.findall(r"\son\w+=|\sstyle=|<link (?!rel=\"icon\")|<script [^>]*src", html)


def test_file_of_216_operations_is_below_a_megabyte_and_can_be_read_without_scripts(
    written: bytes,
) -> None:
    assert len(written) < 1_000_000
    html = written.decode()
    assert "A &lt;b&gt;title&lt;/b&gt;" in html
    assert "A <b>title" not in html
    body = html.partition("<main")[2].partition("</main>")[0]
    for words in ("14.0", "fusion.52", "Fill the chip"):
        assert words in body


def test_scripts_are_those_of_the_server(written: bytes, client: Client) -> None:
    static = client.parts.static
    html = written.decode()
    assert packed(html, "script").decode() == static.content("js/app/profile.bundle.js")
    assert b"plotly" in packed(html, "chart")


def test_documents_are_those_of_the_server(client: Client) -> None:
    uploaded = client.upload(SMALL.read_bytes(), names=(SMALL.name,)).json()
    base = f"/api/v1/profiles/{uploaded['id']}"
    answer = client.get(f"{base}/report.html")
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-disposition"].startswith("attachment;")
    found = documents(answer.text)
    assert found["facts"] == client.get(f"{base}/facts").json()
    assert found["view"] == client.get(f"{base}/view").json()
    without = found["view"] | found["view?infeed=out"]
    assert without.pop("like") == "view"  # the script adds what does not differ
    assert without == client.get(f"{base}/view", params={"infeed": "out"}).json()
    assert found["ops/0"] == client.get(f"{base}/ops/0").json()
    other = documents(client.get(f"{base}/report.html", params={"device": "a100-80-sxm"}).text)
    assert other["view"] == client.get(f"{base}/view", params={"device": "a100-80-sxm"}).json()
    assert other["view"] != found["view"]
    assert client.get("/api/v1/profiles/none/report.html").status_code == 404


def test_command_has_the_options_of_the_analysis(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    run("report", SMALL, "-o", path, "--device", "h200")
    assert documents(path.read_text("utf-8"))["view"]["device"]["part"]["id"] == "h200"
    assert "cannot be read" in refused("report", "missing.json", "-o", path)


def test_the_same_input_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    paths = tmp_path / "a.html", tmp_path / "b.html"
    for path in paths:
        run("report", SMALL, "-o", path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert b"on 1970-01-02" in first
