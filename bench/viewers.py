"""Viewers in Python, where `wrk` is not installed: each asks, waits, and asks again.

    python -m bench.viewers URL VIEWERS SECONDS PAUSE

It says what `bench.server` reads: RESULT, answers, p50, p99 and longest in milliseconds, errors.
Plain sockets in one loop, one connection per viewer. The viewers run on the server's machine, so
each answer costs them as little as it can: with asyncio's streams it took as much processor time
as the server's. Linux throws bodies away without copying them; their bytes are counted.
"""

import heapq
import random
import re
import selectors
import socket
import statistics
import sys
import time
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

TIMEOUT_S = 10.0
FAILED = float("inf")
PIECE_BYTES = 1 << 20
# More than any head, and little of a body: this much is copied.
HEAD_BYTES = 1 << 12
# Linux alone takes this flag to mean that the bytes are not wanted.
_REST = socket.MSG_DONTWAIT | (socket.MSG_TRUNC if sys.platform == "linux" else 0)
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: (\d+)\r\n")


@dataclass(eq=False)
class Viewer:
    """One connection. `missing` counts the bytes of the answer that have not come; -1: no head."""

    connection: socket.socket
    asked_at: float = 0.0
    missing: int = -1
    head: bytes = b""
    is_waiting: bool = False
    times: list[float] = field(default_factory=list)

    def ask(self, request: bytes) -> None:
        """Sends the request, which fits into the socket's buffer."""
        self.missing, self.head, self.is_waiting = -1, b"", True
        self.asked_at = time.perf_counter()
        self.connection.sendall(request)

    def hear(self, piece: memoryview) -> bool:
        """Takes a piece of the answer; true at its end. `ValueError` if it is not a good one."""
        if self.missing < 0:
            head, end, rest = (self.head + piece).partition(b"\r\n\r\n")
            if not end:
                self.head = head
                return False
            length = _LENGTH.search(head + b"\r\n")
            if length is None or not head.startswith(b"HTTP/1.1 200 "):
                raise ValueError("not an answer with 200 and a length")
            self.missing = int(length[1]) - len(rest)
        else:
            self.missing -= len(piece)
        self.is_waiting = self.missing > 0
        return not self.is_waiting


def watch(url: str, viewers: int, seconds: float, pause_s: float) -> list[float]:
    """The times of all answers in milliseconds; infinity for each that failed."""
    address = urlsplit(url)
    request = _request(address)
    with selectors.DefaultSelector() as selector:
        seen = [_connect(address, selector) for _ in range(viewers)]
        _view(selector, request, seen, time.perf_counter() + seconds, pause_s)
    for viewer in seen:
        viewer.connection.close()
    return [one for viewer in seen for one in viewer.times]


def _view(
    selector: selectors.BaseSelector,
    request: bytes,
    viewers: list[Viewer],
    until: float,
    pause_s: float,
) -> None:
    """All ask until it is over, and get their last answers."""
    # When each asks next; the number keeps viewers from being compared.
    due = [(_after(pause_s), number, viewer) for number, viewer in enumerate(viewers)]
    heapq.heapify(due)
    while (now := time.perf_counter()) < until or len(due) < len(selector.get_map()):
        while due and due[0][0] <= now < until:
            heapq.heappop(due)[2].ask(request)
        wait_s = max(0.0, due[0][0] - now) if due and now < until else TIMEOUT_S
        answered = _answered(selector, min(wait_s, TIMEOUT_S))
        if answered is None and wait_s >= TIMEOUT_S:
            for key in selector.get_map().values():
                viewer: Viewer = key.data
                viewer.times += [FAILED] if viewer.is_waiting else []
            return
        for viewer in answered or ():
            heapq.heappush(due, (_after(pause_s), id(viewer), viewer))


def _request(address: SplitResult) -> bytes:
    lines = (f"GET {address.path} HTTP/1.1", f"Host: {address.netloc}", "Accept-Encoding: gzip")
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


def _connect(address: SplitResult, selector: selectors.BaseSelector) -> Viewer:
    viewer = Viewer(socket.create_connection((address.hostname or "", address.port or 80)))
    selector.register(viewer.connection, selectors.EVENT_READ, viewer)
    return viewer


def _after(pause_s: float) -> float:
    return time.perf_counter() + (random.uniform(0, 2 * pause_s) if pause_s else 0.0)


_PIECE = memoryview(bytearray(PIECE_BYTES))


def _hear(viewer: Viewer) -> bool:
    """Takes what has come for `viewer`; true at the end of its answer."""
    if viewer.missing < 0:
        size = viewer.connection.recv_into(_PIECE, HEAD_BYTES)
        if _took(viewer, size):
            return True
        if viewer.missing < 0:
            return False
    wanted = min(viewer.missing, PIECE_BYTES)
    try:
        return _took(viewer, viewer.connection.recv_into(_PIECE, wanted, _REST))
    except BlockingIOError:
        return False


def _took(viewer: Viewer, size: int) -> bool:
    if size == 0:
        raise ConnectionResetError("closed by the server")
    return viewer.hear(_PIECE[:size])


def _answered(selector: selectors.BaseSelector, timeout_s: float) -> list[Viewer] | None:
    """The viewers whose answer is there, `None` if nothing came; those that fail ask no more."""
    events = selector.select(timeout_s)
    ended = []
    for key, _ in events:
        viewer: Viewer = key.data
        try:
            if _hear(viewer):
                viewer.times.append((time.perf_counter() - viewer.asked_at) * 1000)
                ended.append(viewer)
        except (OSError, ValueError):
            selector.unregister(viewer.connection)
            viewer.times.append(FAILED)
    return ended if events else None


def main() -> None:
    url, viewers, seconds, pause_s = sys.argv[1:]
    found = watch(url, int(viewers), float(seconds), float(pause_s))
    times = sorted(one for one in found if one != FAILED)
    if len(times) < 2:
        sys.exit("nothing was answered")
    p99 = statistics.quantiles(times, n=100, method="inclusive")[98]
    median, errors = statistics.median(times), len(found) - len(times)
    print(f"RESULT {len(times)} {median:.3f} {p99:.3f} {times[-1]:.3f} {errors}")


if __name__ == "__main__":
    main()
