"""An object store between a client and the real one: slow, and failing now and then."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx


class Flaky:
    """Passes requests on after `delay_s`; every `fails_every`-th is answered with 503 instead.

    `read` counts whole answers to GET by path, `before` is called with the path of each GET.
    """

    def __init__(self, behind: str) -> None:
        self.behind = behind
        self.address = ""
        self.delay_s, self.fails_every = 0.0, 0
        self.read: Counter[str] = Counter()
        self.failed = 0
        self.before: Callable[[str], None] = lambda _path: None
        self._seen = 0
        self._lock = threading.Lock()

    def fails(self) -> bool:
        """True if this request is one that fails."""
        with self._lock:
            self._seen += 1
            failing = bool(self.fails_every) and self._seen % self.fails_every == 0
            self.failed += failing
            return failing


@contextmanager
def flaky(behind: str) -> Iterator[Flaky]:
    """A server in front of the one at `behind`."""
    state = Flaky(behind)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(state: Flaky) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self.pass_on()

        def do_HEAD(self) -> None:
            self.pass_on()

        def pass_on(self) -> None:
            time.sleep(state.delay_s)
            if state.fails():
                self._answer(503, {}, b"")
                return
            if self.command == "GET":
                state.before(self.path)
            headers = {name: text for name, text in self.headers.items() if name != "Host"}
            answer = httpx.request(self.command, state.behind + self.path, headers=headers)
            if self.command == "GET" and answer.is_success:
                state.read[self.path.partition("?")[0]] += 1
            kept = ("etag", "last-modified", "content-type", "content-length")
            self._answer(
                answer.status_code,
                {name: answer.headers[name] for name in kept if name in answer.headers},
                answer.content,
            )

        def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            length = headers.pop("content-length", str(len(body)))
            for name, text in headers.items():
                self.send_header(name, text)
            self.send_header("content-length", length if self.command == "HEAD" else str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

    return Handler
