"""The example's nginx in front of a real server: TLS, large uploads, events, sizes, names."""

import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.browser.freezing import frozen_imports
from tests.tools.services import free_port
from tests.web.test_server import Server

EXAMPLE = Path(__file__).resolve().parents[3] / "deploy" / "nginx.conf"
NAME = "roofline.example.org"
USER = "ada@example.org"
LIMIT_MIB = 210


class Site:
    """nginx with the example's configuration, in front of a server in mode `proxy`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = Server(
            folder / "data",
            auth="proxy",
            proxy_addresses="127.0.0.1/32",
            allowed_hosts=f"{NAME},127.0.0.1",
            import_workers=1,
            max_upload_bytes=LIMIT_MIB << 20,
        )
        self.port, self.plain_port = free_port(), free_port()
        self._make_certificate()
        (folder / "nginx.conf").write_text(self._configuration(signed_in=USER))
        self.nginx = subprocess.Popen(
            ["nginx", "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log"],
            stderr=subprocess.PIPE,
        )
        self._wait()
        self.tls = ssl.create_default_context(cafile=str(folder / "fullchain.pem"))
        self.http = self.client()

    def client(self) -> httpx.Client:
        """A client that takes the site's name to be this machine's."""
        return httpx.Client(
            base_url=f"https://127.0.0.1:{self.port}",
            headers={"host": NAME},
            verify=self.tls,
            timeout=120,
        )

    def close(self) -> None:
        self.http.close()
        self.nginx.terminate()
        self.nginx.communicate(timeout=30)
        self.server.stop()

    def _make_certificate(self) -> None:
        names = f"subjectAltName=DNS:{NAME},IP:127.0.0.1"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
             "-subj", f"/CN={NAME}", "-addext", names,
             "-keyout", self.folder / "privkey.pem", "-out", self.folder / "fullchain.pem"],
            check=True,
            capture_output=True,
        )  # fmt: skip

    def _configuration(self, signed_in: str) -> str:
        """The example, with ports, paths and the signed-in user as a site would write them."""
        text = EXAMPLE.read_text("utf-8")
        text = re.sub(r"^ *listen \[::\].*\n", "", text, flags=re.MULTILINE)
        for ours, theirs in (
            ("listen 80;", f"listen 127.0.0.1:{self.plain_port};"),
            ("listen 443 ", f"listen 127.0.0.1:{self.port} "),
            ("127.0.0.1:8000", f"127.0.0.1:{self.server.port}"),
            ("/etc/ssl/roofline", str(self.folder)),
            ("/var/log/nginx/roofline.log", str(self.folder / "access.log")),
            ('X-Forwarded-User  ""', f'X-Forwarded-User  "{signed_in}"'),
        ):
            assert ours in text, ours
            text = text.replace(ours, theirs)
        (self.folder / "temporary").mkdir()
        paths = "\n".join(
            f"{kind}_temp_path {self.folder}/temporary;"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        return (
            f"daemon off; user root; pid {self.folder}/nginx.pid;\n"
            f"events {{}}\nhttp {{\n{paths}\n{text}\n}}\n"
        )

    def _wait(self) -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if self.nginx.poll() is not None:
                raise AssertionError((self.nginx.communicate()[1] or b"").decode())
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError("nginx does not answer")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    if shutil.which("nginx") is None or shutil.which("openssl") is None:
        pytest.skip("nginx or openssl is not installed")
    running = Site(tmp_path_factory.mktemp("site"))
    yield running
    running.close()


def test_user_comes_from_the_proxy_and_from_nobody_else(site: Site, capture: bytes) -> None:
    forged = {"x-forwarded-user": "root@example.org"}
    answer = site.http.post(
        "/api/v1/profiles", files={"file": ("h.pb", capture)}, headers=forged
    ).json()
    assert answer["uploader"] == USER
    assert answer["url"].startswith(f"https://{NAME}/p/")
    assert site.http.delete(f"/api/v1/profiles/{answer['id']}").status_code == 204


def test_answers_are_those_of_a_site_with_tls(site: Site) -> None:
    answer = site.http.get("/", headers={"accept": "text/html"})
    assert answer.status_code == 200
    assert "strict-transport-security" in answer.headers
    plain = httpx.get(f"http://127.0.0.1:{site.plain_port}/p/x?v=1", headers={"host": NAME})
    assert (plain.status_code, plain.headers["location"]) == (301, f"https://{NAME}/p/x?v=1")
    assert site.http.get("/metrics").status_code == 404


def test_upload_passes_through_as_it_comes(site: Site) -> None:
    """nginx keeps nothing of it, and the server has it while the client still sends."""
    part = b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a.pb"\r\n\r\n'
    total = len(part) + (200 << 20) + len(b"\r\n--XX--\r\n")
    seen: list[bool] = []

    def body() -> Iterator[bytes]:
        yield part
        for _ in range(200):
            yield bytes(1 << 20)
        incoming = site.server.data_dir / "incoming"
        seen.append(any(path.stat().st_size for path in incoming.glob("*/*/file-*")))
        seen.append(any((site.folder / "temporary").rglob("?*/*")))
        yield b"\r\n--XX--\r\n"

    answer = site.http.post(
        "/api/v1/profiles?wait=60",
        content=body(),
        headers={
            "content-type": "multipart/form-data; boundary=XX",
            "content-length": str(total),
        },
    )
    assert (answer.status_code, answer.json()["code"]) == (415, "unknown-format")
    assert seen == [True, False]


def test_upload_past_the_limit_is_refused_in_the_servers_words(site: Site) -> None:
    """Though most of it is still to be sent when the answer comes."""
    size_mib = LIMIT_MIB + 100
    answer = site.http.post(
        "/api/v1/profiles",
        content=(bytes(1 << 20) for _ in range(size_mib)),
        headers={
            "content-type": "multipart/form-data; boundary=XX",
            "content-length": str(size_mib << 20),
        },
    )
    assert (answer.status_code, answer.json()["code"]) == (413, "upload-too-large")
    assert "ROOFLINE_MAX_UPLOAD_BYTES" in answer.json()["remedy"]


def test_large_request_that_is_no_upload_is_refused(site: Site) -> None:
    answer = site.http.patch("/api/v1/profiles/x", content=bytes(2 << 20))
    assert answer.status_code == 413


def test_events_come_when_they_happen(site: Site, capture: bytes) -> None:
    """Not together at the end: the first is there while the import cannot go on."""
    with frozen_imports(site.server):
        started = site.http.post("/api/v1/profiles?wait=0", files={"file": ("h.pb", capture)})
        path = f"/api/v1/profiles/{started.json()['id']}/events"
        answer = site.http.send(site.http.build_request("GET", path), stream=True)
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = (line for line in answer.iter_lines() if line.startswith("event: "))
        assert next(events) == "event: importing"
    *_, last = events
    assert last == "event: ready"
    answer.close()


def test_log_has_no_link(site: Site) -> None:
    profile_id = "A" * 22
    site.http.get(f"/p/{profile_id}?v=1&secret=yes")
    site.http.get(f"/api/v1/profiles/{profile_id}/events")
    log = (site.folder / "access.log").read_text()
    assert "/p/AAAAAA..." in log
    assert profile_id not in log
    assert "secret" not in log
