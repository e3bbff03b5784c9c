"""`roofline upload` against a real server, and against servers that are none."""

import hashlib
import http.server
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from roofline.api import servers as upload
from roofline.api.servers import Receiver, ServerLink, Upload, read_token, send
from roofline.errors import StorageFullError, UploadRejectedError
from tests.api.calibration.test_accelerators import entry
from tests.browser.serving import Server, serving
from tests.conftest import PYTHON_PATH
from tests.tools.generate_xspace import Config, write_profile

TOKEN = "a token of sixteen characters and more"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    settings = {"ROOFLINE_AUTH": "token", "ROOFLINE_TOKEN": TOKEN}
    with serving(tmp_path_factory.mktemp("server"), settings) as running:
        yield running


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    config = Config(n_events=900, n_steps=3, n_distinct_ops=40, n_hosts=2)
    return write_profile(config, tmp_path_factory.mktemp("hosts"))


def run(
    *arguments: object,
    token: str | None = TOKEN,
    command: str = "upload",
    environment: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.CompletedProcess[str]:
    environment = {**environment, **({"ROOFLINE_TOKEN": token} if token else {})}
    return subprocess.run(
        [sys.executable, "-m", "roofline", command, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": PYTHON_PATH, **environment},
    )


def test_upload_prints_the_link(server: Server, hosts: list[Path], tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    sent = run(
        *hosts,
        *("--server", server.url, "--title", "Größe 7", "--note", "two\nlines"),
        *("--tag", "nightly", "--tag", "v5e", "--token-file", tmp_path / "token"),
        token=None,
    )
    assert sent.returncode == 0, sent.stderr
    assert sent.stdout.startswith(f"{server.url}/p/")
    assert len(sent.stdout.splitlines()) == 1
    link = Receiver(server.url, TOKEN)
    (answer,) = send(Upload(files=tuple(hosts)), link, wait_s=60)
    assert [file["name"] for file in answer["files"]] == [path.name for path in hosts]
    assert answer["state"] == "ready"


def test_calibrate_sends_what_another_machine_exported(server: Server, tmp_path: Path) -> None:
    (tmp_path / "h100.json").write_text(json.dumps(entry(hbm=3.0e12)))
    words = ("--import", tmp_path / "h100.json", "--dry-run", "--send", "--server", server.url)
    said = run(*words, command="calibrate").stdout
    (device,) = re.findall(r"Sent: choose `(measured:lab-7/NVIDIA-H100-80GB-HBM3-\w+)`", said)
    listed = ServerLink(Receiver(server.url, TOKEN)).send("GET", "/api/v1/machines")["machines"]
    assert device in [one["device"] for one in listed]
    refused = run(*words, command="calibrate", token=None)
    assert (refused.returncode, "Sent" in refused.stdout) == (2, False)


def test_commands_read_the_profile_of_a_link(server: Server, hosts: list[Path]) -> None:
    link = run(hosts[0], "--server", server.url).stdout.strip()
    environment = {"ROOFLINE_SERVER": server.url}
    for command, words in (("analyze", "--format=csv"), ("replay", "--top=1")):
        here, there = (
            run(one, words, command=command, environment=environment) for one in (hosts[0], link)
        )
        assert (here.returncode, there.stdout) == (0, here.stdout), there.stderr
    refused = run(link, command="analyze", token=None)
    assert (refused.returncode, "roofline: " in refused.stderr) == (2, True)


def test_a_file_is_added_to_a_profile_by_its_link(server: Server, hosts: list[Path]) -> None:
    first = run(hosts[0], "--server", server.url).stdout.strip()
    added = run(hosts[1], "--server", server.url, "--with", f"{first}?range=1", "--json")
    body = json.loads(added.stdout)
    assert [file["name"] for file in body["files"]] == [path.name for path in hosts]
    assert body["id"] not in first
    refused = run(hosts[1], "--server", server.url, "--with", "nosuchprofile0000000000")
    assert (refused.returncode, "roofline: " in refused.stderr) == (2, True)


def test_whole_answer_holds_the_delete_token(server: Server, hosts: list[Path]) -> None:
    sent = run("--server", server.url, "--json", "--title", "T", "--tag", "a", *hosts)
    answer = json.loads(sent.stdout)
    assert answer["delete_token"]
    named = run("--server", server.url, "--of", "serving:decode.32", *hosts).stdout.strip()
    assert named.startswith(f"{server.url}/p/")
    assert named.endswith("?of=serving:decode.32")
    assert (answer["title"], answer["tags"], answer["state"]) == ("T", ["a"], "ready")


def test_wrong_token_is_refused_before_a_byte_is_sent(server: Server, hosts: list[Path]) -> None:
    refused = run("--server", server.url, *hosts, token="wrong")
    assert refused.returncode == 2
    assert "asks for a token" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert refused.stdout == ""


def test_bad_profile_is_refused_in_the_server_s_words(server: Server, tmp_path: Path) -> None:
    (tmp_path / "x.pb").write_bytes(b"neither this nor that")
    refused = run("--server", server.url, tmp_path / "x.pb")
    assert refused.returncode == 2
    assert "x.pb" in refused.stderr


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1:9", "cannot be reached"),
        ("ftp://example.org", "not the address"),
        ("http://", "not the address"),
    ],
)
def test_server_that_is_not_there_is_one_sentence(hosts: list[Path], url: str, said: str) -> None:
    with pytest.raises(UploadRejectedError, match=said):
        send(Upload(files=tuple(hosts)), Receiver(url), wait_s=1)


@pytest.mark.parametrize("name", ["missing.pb", "."])
def test_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UploadRejectedError, match="read"):
        send(Upload(files=(tmp_path / name,)), Receiver("http://127.0.0.1:9"), wait_s=1)


def test_token_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UploadRejectedError, match="nothing-here"):
        read_token(tmp_path / "nothing-here")


class _Stranger(http.server.BaseHTTPRequestHandler):
    """A proxy that lets questions through and refuses bodies in HTML."""

    def do_GET(self) -> None:
        self._answer(200, b"{}")

    def do_POST(self) -> None:
        self._answer(413, b"<html>too large</html>")

    def _answer(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_proxy_that_refuses_in_the_middle_is_understood(tmp_path: Path) -> None:
    (tmp_path / "large.pb").write_bytes(bytes(20 << 20))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Stranger) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{stranger.server_address[1]}"
        with pytest.raises(UploadRejectedError, match=r"413|reached"):
            send(Upload(files=(tmp_path / "large.pb",)), Receiver(url), wait_s=1)
        stranger.shutdown()


class _Sender(_Stranger):
    """Sends 4 of the bytes that it promised, or all of them."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "8" if "cut" in self.path else "4")
        self.end_headers()
        self.wfile.write(b"four")


def test_a_full_disk_is_no_broken_connection_and_each_is_said(tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "profile").symlink_to("/dev/full")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Sender) as sender:
        threading.Thread(target=sender.serve_forever, daemon=True).start()
        link = ServerLink(Receiver(f"http://127.0.0.1:{sender.server_address[1]}"))
        assert link.download("/whole", tmp_path).read_bytes() == b"four"
        with pytest.raises(StorageFullError, match="No space left"):
            link.download("/whole", full)
        with pytest.raises(UploadRejectedError, match="cannot be reached"):
            link.download("/cut", tmp_path)
        sender.shutdown()


def test_files_of_two_machines_are_told_apart_and_split_when_asked(server: Server) -> None:
    samples = Path(__file__).parents[2] / "sample_profiles" / "xspace"
    files = [samples / "v4-training-cmem.xplane.pb", samples / "v6e-training.xplane.pb"]
    refused = run(*files, "--server", server.url)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"TPU v4: {files[0].name}" in refused.stderr
    assert "--split" in refused.stderr
    assert f"{server.url}/p/" in refused.stderr
    split = run(*files, "--server", server.url, "--split")
    assert split.returncode == 0, split.stderr
    links = split.stdout.split()
    assert len(set(links)) == 2
    assert all(link.startswith(f"{server.url}/p/") for link in links)


def test_file_that_cannot_be_read_is_left_out_when_asked(server: Server, tmp_path: Path) -> None:
    good = Path(__file__).parents[2] / "sample_profiles/xspace/v6e-training.xplane.pb"
    (tmp_path / "bad.xplane.pb").write_bytes(good.read_bytes()[:999])
    files = (good, tmp_path / "bad.xplane.pb")
    refused = run(*files, "--server", server.url)
    assert refused.returncode == 2
    assert "not readable: bad.xplane.pb" in refused.stderr
    split = run(*files, "--server", server.url, "--split", "--json")
    body = json.loads(split.stdout)
    assert (body["state"], len(body["files"])) == ("ready", 1)


def test_bit_that_flips_on_the_way_is_refused(
    server: Server, hosts: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digest is that of the file, whatever the network makes of its bytes."""

    def damaged(*given: Any) -> Iterator[bytes]:
        for number, piece in enumerate(sent_as_it_is(*given)):
            flip = number == 1  # after the first head comes the first file
            yield piece[:500] + bytes([piece[500] ^ 1]) + piece[501:] if flip else piece

    sent_as_it_is = upload._body
    monkeypatch.setattr(upload, "_body", damaged)
    with pytest.raises(UploadRejectedError) as refused:
        send(Upload(files=tuple(hosts)), Receiver(server.url, TOKEN), wait_s=0)
    assert hashlib.sha256(hosts[0].read_bytes()).hexdigest() in refused.value.message
    assert hosts[0].name in refused.value.message
