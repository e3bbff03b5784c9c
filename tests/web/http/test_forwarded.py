"""The proxies of deploy/ as they are shipped, in front of a real server: TLS, large uploads,
events, sizes, names, and the words of their logs."""

import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.browser.freezing import frozen_imports
from tests.conftest import ROOT, SAMPLES
from tests.tools.services import free_port
from tests.web.test_server import Server

DEPLOY = ROOT / "deploy"
NAME = "roofline.example.org"
USER = "ada@example.org"
LIMIT_MIB = 70
HOST = SAMPLES / "xspace" / "v5e-three-hosts" / "host_0.xplane.pb"


class Site:
    """A proxy (`nginx` or `caddy`) with its shipped file, in front of a server in mode `proxy`."""

    def __init__(self, folder: Path, program: str) -> None:
        self.folder = folder
        self.server = Server(
            folder / "data",
            auth="proxy",
            proxy_addresses="127.0.0.1/32",
            allowed_hosts=f"{NAME},127.0.0.1",
            import_workers=1,
            max_upload_bytes=LIMIT_MIB << 20,
            # A link is made by its uploader; no request may wait for others' uploads.
            uploads_per_hour=1_000,
        )
        self.port, self.plain_port = free_port(), free_port()
        self._make_certificate()
        command = {"nginx": self._nginx, "caddy": self._caddy}[program]()
        home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "PATH": "/usr/bin:/usr/sbin"}
        with (folder / "output.log").open("wb") as output:
            self.proxy = subprocess.Popen(command, stdout=output, stderr=output, env=home)
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
            # A proxy chooses its site by the name in TLS, and answers to no other.
            transport=_Named(self.tls),
        )

    def logs(self) -> str:
        """All that the proxy has written."""
        return "".join(path.read_text() for path in self.folder.glob("*.log"))

    def close(self) -> None:
        self.http.close()
        self.proxy.terminate()
        self.proxy.wait(30)
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

    def _replaced(self, text: str, *pairs: tuple[str, str]) -> str:
        """The shipped text, with ports, paths and the signed-in user as a site would write them."""
        for ours, theirs in (("127.0.0.1:8000", f"127.0.0.1:{self.server.port}"), *pairs):
            assert ours in text, ours
            text = text.replace(ours, theirs)
        return text

    def _nginx(self) -> list[str]:
        text = (DEPLOY / "nginx.conf").read_text("utf-8")
        text = self._replaced(
            re.sub(r"^ *listen \[::\].*\n", "", text, flags=re.MULTILINE),
            ("listen 80;", f"listen 127.0.0.1:{self.plain_port};"),
            ("listen 443 ", f"listen 127.0.0.1:{self.port} "),
            ("/etc/ssl/roofline", str(self.folder)),
            ("/var/log/nginx", str(self.folder)),
            ('X-Forwarded-User  ""', f'X-Forwarded-User  "{USER}"'),
        )
        (self.folder / "temporary").mkdir()
        paths = "\n".join(
            f"{kind}_temp_path {self.folder}/temporary;"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (self.folder / "nginx.conf").write_text(
            f"daemon off; user root; pid {self.folder}/nginx.pid;\n"
            f"events {{}}\nhttp {{\n{paths}\n{text}\n}}\n"
        )
        return [
            *("nginx", "-p", str(self.folder), "-c", "nginx.conf"),
            *("-e", str(self.folder / "main-error.log")),
        ]

    def _caddy(self) -> list[str]:
        ports = f"\thttp_port {self.plain_port}\n\thttps_port {self.port}"
        text = self._replaced(
            (DEPLOY / "Caddyfile").read_text("utf-8"),
            ("\tgrace_period 10s", f"\tgrace_period 1s\n\tadmin off\n{ports}"),
            (
                f"{NAME} {{\n",
                f"{NAME} {{\n\ttls {self.folder}/fullchain.pem {self.folder}/privkey.pem\n",
            ),
            ("header_up -X-Forwarded-User", f'header_up X-Forwarded-User "{USER}"'),
        )
        (self.folder / "Caddyfile").write_text(text)
        place = str(self.folder / "Caddyfile")
        return ["caddy", "run", "--adapter", "caddyfile", "--config", place]

    def _wait(self) -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self.proxy.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError(self.logs())


class _Named(httpx.HTTPTransport):
    """Requests whose TLS names the site."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        super().__init__(verify=tls)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.extensions = {**request.extensions, "sni_hostname": NAME}
        return super().handle_request(request)


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    for needed in (request.param, "openssl"):
        if shutil.which(needed) is None:
            pytest.skip(f"{needed} is not installed")
    running = Site(tmp_path_factory.mktemp("site"), request.param)
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
    assert plain.status_code in (301, 308)
    # Caddy names its own port, where that is not 443.
    assert plain.headers["location"].replace(f":{site.port}", "") == f"https://{NAME}/p/x?v=1"
    assert site.http.get("/metrics").status_code == 404


def test_upload_passes_through_as_it_comes(site: Site) -> None:
    """The proxy keeps nothing of it, and the server has it while the client still sends."""
    part = b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a.pb"\r\n\r\n'
    total = len(part) + (60 << 20) + len(b"\r\n--XX--\r\n")
    seen: list[bool] = []

    def body() -> Iterator[bytes]:
        yield part
        for _ in range(60):
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
    size_mib = LIMIT_MIB + 60
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


def test_run_is_pushed_and_followed(site: Site) -> None:
    run = site.http.post("/api/v1/runs", json={"hosts": 2}).json()
    with site.http.stream("GET", f"/api/v1/runs/{run['id']}/events") as events:
        # The run goes on: an event that the proxy holds back would never be here.
        assert next(events.iter_lines()) == "event: reading"
    large = {"file": (HOST.name, HOST.read_bytes() + bytes(2 << 20))}
    pushed = site.http.post(f"/api/v1/runs/{run['id']}/hosts", files=large)
    assert (pushed.status_code, pushed.json()["added"]) == (200, 1)


def test_no_log_has_a_link_or_an_id(site: Site, capture: bytes) -> None:
    profile = site.http.post("/api/v1/profiles", files={"file": ("h.pb", capture)}).json()
    links = f"/api/v1/profiles/{profile['id']}/links"
    secret = site.http.post(links, json={"name": "x"}).json()["url"].rpartition("/")[2]
    run = site.http.post("/api/v1/runs", json={"hosts": 2}).json()
    for path in (f"/l/{secret}", f"/p/{profile['id']}", f"/r/{run['id']}"):
        from_there = {"referer": f"https://{NAME}{path}", "accept": "text/html"}
        assert site.http.get(f"{path}?secret=yes", headers=from_there).status_code == 200
        httpx.get(f"http://127.0.0.1:{site.plain_port}{path}", headers={"host": NAME})
    site.server.process.send_signal(signal.SIGSTOP)  # an answer that the client gives up
    try:
        with pytest.raises(httpx.TimeoutException):
            site.http.get(f"/l/{secret}", timeout=0.5)
    finally:
        site.server.process.send_signal(signal.SIGCONT)
    logged = site.logs()
    assert "/p/..." in logged or '"status":200' in logged, "there is a log"
    for hidden in (secret[:10], profile["id"][:10], run["id"][:10], "secret=yes"):
        assert hidden not in logged
