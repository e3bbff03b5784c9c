"""Captures of vLLM and SGLang servers, which profile themselves when asked over HTTP.

Their files land on the server's disk, so the folder must be one that both machines see.
"""

import http.client
import ipaddress
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from roofline.errors import CaptureFailedError
from roofline.model.units import MS_PER_S

_ASK_S = 30.0
# vLLM answers when it has written its files, which takes minutes for long captures.
_FLUSH_S = 600.0
_STILL_S = 2.0
_LOOK_S = 0.5
_ENDINGS = (".json", ".json.gz")

Say = Callable[[str], None]
Stamp = tuple[int, int]
"""Size in bytes and time of the last change, in ns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCapture:
    """What to ask of a server; `steps` are SGLang's own, which then ends by itself."""

    url: str
    duration_ms: int
    remote_dir: Path | None = None
    steps: int | None = None
    by_stage: bool = False


def capture_server(wish: ServerCapture, say: Say) -> list[Path]:
    """The files that the server wrote of one capture. Raises `CaptureFailedError`."""
    server = _Server(wish.url)
    is_sglang = server.ask("GET", "/get_server_info")[0] == http.client.OK
    folder = _folder(wish, server, is_sglang=is_sglang)
    before = _stamps(folder)
    server.start(_sglang_request(wish, folder) if is_sglang else {})
    if wish.steps is None or not is_sglang:
        say(f"Recording {wish.url} for {wish.duration_ms / MS_PER_S:g} s.")
        time.sleep(wish.duration_ms / MS_PER_S)
        server.stop()
    say(f"Waiting for the files in {folder}.")
    return _written(folder, before)


class _Server:
    """One HTTP server; no proxy and no redirect lies between."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CaptureFailedError(
                f"{url} is not the address of a server.", remedy="Write http://HOST:PORT."
            )
        self.url, self.host = url, parts.hostname
        self._parts = parts

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        wait_s: float = _ASK_S,
    ) -> tuple[int, bytes]:
        """The status and the body of the answer."""
        kind = (
            http.client.HTTPSConnection
            if self._parts.scheme == "https"
            else http.client.HTTPConnection
        )
        connection = kind(self.host, self._parts.port, timeout=wait_s)
        headers = {"Content-Type": "application/json"} if body else {}
        try:
            connection.request(
                method,
                self._parts.path.rstrip("/") + path,
                body=json.dumps(body) if body else None,
                headers=headers,
            )
            answer = connection.getresponse()
            return answer.status, answer.read(1 << 20)
        except TimeoutError as error:
            raise CaptureFailedError(
                f"{self.url} did not answer in {wait_s:g} s.",
                remedy="It may still be writing: look into its folder, or shorten --duration.",
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise CaptureFailedError(
                f"Nothing answers at {self.url}.",
                remedy="Check that the server runs, and its port.",
            ) from error
        finally:
            connection.close()

    def start(self, body: Mapping[str, Any]) -> None:
        status, _ = self.ask("POST", "/start_profile", body)
        if status == http.client.NOT_FOUND:
            raise CaptureFailedError(
                "This server was started without its profiler.",
                remedy='vLLM: start it with --profiler-config \'{"profiler":"torch",'
                '"torch_profiler_dir":"DIR","torch_profiler_record_shapes":true,'
                '"torch_profiler_with_stack":false}\'; before 0.13 with VLLM_TORCH_PROFILER_DIR=DIR'
                " and VLLM_TORCH_PROFILER_RECORD_SHAPES=1.",
            )
        if status >= http.client.BAD_REQUEST:
            raise CaptureFailedError(
                f"{self.url} refused to record ({status}).",
                remedy="Another capture may be running; the server's log says more.",
            )

    def stop(self) -> None:
        status, _ = self.ask("POST", "/stop_profile", wait_s=_FLUSH_S)
        if status >= http.client.BAD_REQUEST:
            raise CaptureFailedError(
                f"{self.url} did not end its recording ({status}).",
                remedy="The server's log says why.",
            )


def _folder(wish: ServerCapture, server: _Server, *, is_sglang: bool) -> Path:
    if wish.remote_dir is not None:
        return wish.remote_dir
    if is_sglang and _is_here(server.host):
        return Path(tempfile.mkdtemp(prefix="roofline-sglang-"))
    raise CaptureFailedError(
        f"{wish.url} writes its capture to its own disk.",
        remedy="Name that folder, where this machine sees it: --remote-dir DIR.",
    )


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _sglang_request(wish: ServerCapture, folder: Path) -> dict[str, Any]:
    request: dict[str, Any] = {
        "output_dir": str(folder),
        "activities": ["CPU", "GPU"],
        "record_shapes": True,
        "with_stack": False,
    }
    if wish.steps is not None:
        request["num_steps"] = wish.steps
    if wish.by_stage:
        request["profile_by_stage"] = True
    return request


def _stamps(folder: Path) -> dict[Path, Stamp]:
    """Size and time of each trace in the folder; none where it is not there yet."""
    found = {}
    for path in folder.rglob("*") if folder.is_dir() else ():
        if path.name.endswith(_ENDINGS) and path.is_file():
            stat = path.stat()
            found[path] = (stat.st_size, stat.st_mtime_ns)
    return found


def _written(folder: Path, before: Mapping[Path, Stamp]) -> list[Path]:
    """The traces that are new, once none of them grew for two seconds."""
    end = time.monotonic() + _FLUSH_S
    last: dict[Path, Stamp] = {}
    still_since = time.monotonic()
    while time.monotonic() < end:
        now = {path: stamp for path, stamp in _stamps(folder).items() if before.get(path) != stamp}
        if now != last:
            last, still_since = now, time.monotonic()
        elif last and time.monotonic() - still_since >= _STILL_S:
            return sorted(last)
        time.sleep(_LOOK_S)
    raise CaptureFailedError(
        f"No trace appeared in {folder} within ten minutes.",
        remedy="Check that it is the folder that the server writes to: --remote-dir DIR.",
    )
