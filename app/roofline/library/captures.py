"""CaptureBook: captures of running programs that people ask this server for, while they last.

They are kept in memory: after a restart nothing is under way, and what was captured is a profile.
Bytes of programs are strangers': they are stored and read as those of an upload.
"""

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec

from roofline.capture.profiler_service import MOST_BYTES, CaptureOptions, ProfilerClient
from roofline.capture.targets import Reached, Targets
from roofline.errors import (
    BadEditError,
    ExtraMissingError,
    ProfileNotFoundError,
    RooflineError,
    TooManyRequestsError,
)
from roofline.library.instance import Instance
from roofline.library.profiles import ProfileLibrary
from roofline.library.runs import RunLibrary, RunWish
from roofline.model.units import MS_PER_S
from roofline.storage.records import Visibility

MOST_ADDRESSES, MOST_AT_ONCE = 256, 4
SHORTEST_MS, LONGEST_MS = 10, 60_000
PAUSE_S = 30.0
ENDING_PAUSE_S, MOST_ENDINGS = 0.5, 120
KEPT = 256
WAITING, RECORDING, FETCHING, READING = "waiting", "recording", "fetching", "reading"
FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureAsked:
    """A person's words on a capture; `owner` is what the profile remembers of its uploader."""

    addresses: Sequence[str]
    options: CaptureOptions
    retries: int = 2
    title: str = ""
    tags: Sequence[str] = ()
    visibility: Visibility | None = None
    owner: str = ""


@dataclass(slots=True, kw_only=True)
class CapturedHost:
    """One address: how its capture stands, and the words of why there is none."""

    reached: Reached
    state: str = WAITING
    size_bytes: int | None = None
    text: str = ""


@dataclass(slots=True, kw_only=True, eq=False)
class Capture:
    """One capture. `version` grows with each change; `profile_id` or `run_id` is its result."""

    id: str
    asked: CaptureAsked
    hosts: list[CapturedHost]
    version: int = 0
    is_ended: bool = False
    profile_id: str | None = None
    run_id: str | None = None
    clients: list[ProfilerClient] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def outcome(self) -> str:
        """What became of it, for the audit table."""
        parts = [
            f"{one.reached.typed}={one.reached.pinned} {one.size_bytes or 0} B"
            f" {one.text or one.state}"
            for one in self.hosts
        ]
        return "; ".join(parts)[:2000]


class CaptureBook:
    """The captures of one server. Every method may block; call it from any thread."""

    def __init__(
        self, instance: Instance, profiles: ProfileLibrary, runs: RunLibrary, targets: Targets
    ) -> None:
        self._instance, self._profiles, self._runs = instance, profiles, runs
        self.targets = targets
        self._captures: dict[str, Capture] = {}
        self._free_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def begin(self, asked: CaptureAsked, on_end: Callable[[Capture], None]) -> Capture:
        """Has the programs captured from now on; `on_end` hears of the end.

        Raises `NotAllowedError` where one address is not listed: then nothing is connected to.
        """
        _check(asked)
        if find_spec("grpc") is None:
            raise ExtraMissingError.of("capture")
        hosts = [CapturedHost(reached=self.targets.reach(one)) for one in asked.addresses]
        if len({one.reached.pinned for one in hosts}) < len(hosts):
            raise BadEditError("An address is named twice.", remedy="Name each program once.")
        capture = Capture(id=secrets.token_urlsafe(16), asked=asked, hosts=hosts)
        self._take_places(capture)
        threading.Thread(target=self._run, args=(capture, on_end), daemon=True).start()
        return capture

    def get(self, capture_id: str, owner: str, *, sees_all: bool) -> Capture:
        """A capture of this person, or of anybody for administrators."""
        found = self._captures.get(capture_id)
        if found is None or not (sees_all or (owner and owner == found.asked.owner)):
            raise ProfileNotFoundError(
                "There is no such capture.", remedy="After a restart it has to be asked for again."
            )
        return found

    def end(self, capture: Capture) -> None:
        """Ends the recording: the part recorded until now is fetched."""
        with capture.lock:
            clients = list(capture.clients)
        for client in clients:
            threading.Thread(target=_end, args=(capture, client), daemon=True).start()

    def _take_places(self, capture: Capture) -> None:
        now = time.monotonic()
        with self._lock:
            self._free_at = {key: at for key, at in self._free_at.items() if at > now}
            under_way = sum(not one.is_ended for one in self._captures.values())
            wait_s = max(self._free_at.get(one.reached.pinned, now) - now for one in capture.hosts)
            if under_way >= MOST_AT_ONCE or wait_s > 0:
                raise TooManyRequestsError(
                    "Captures are under way, or one of these programs was captured just now.",
                    remedy="Wait half a minute, then try again.",
                    retry_after_s=max(1.0, PAUSE_S if wait_s == float("inf") else wait_s),
                )
            for host in capture.hosts:
                self._free_at[host.reached.pinned] = float("inf")
            ended = [key for key, one in self._captures.items() if one.is_ended]
            for key in ended[: max(0, len(self._captures) - KEPT)]:
                del self._captures[key]
            self._captures[capture.id] = capture

    def _run(self, capture: Capture, on_end: Callable[[Capture], None]) -> None:
        threads = [
            threading.Thread(target=self._capture_host, args=(capture, host), daemon=True)
            for host in capture.hosts
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if capture.run_id is not None:
            self._runs.close(capture.run_id)
        with self._lock:
            for host in capture.hosts:
                self._free_at[host.reached.pinned] = time.monotonic() + PAUSE_S
        capture.is_ended = True
        capture.version += 1
        on_end(capture)

    def _capture_host(self, capture: Capture, host: CapturedHost) -> None:
        say = partial(_say, capture, host)
        try:
            content = self._recorded(capture, host, say)
            host.size_bytes = len(content)
            say(READING)
            self._store(capture, host, content)
            say(READING)
        except RooflineError as error:
            say(FAILED, f"{error.message} {error.remedy}")
        except Exception:
            say(FAILED, "The capture failed in the server; its log says why.")
            raise

    def _recorded(self, capture: Capture, host: CapturedHost, say: Callable[..., None]) -> bytes:
        asked, reached = capture.asked, host.reached
        most_bytes = min(MOST_BYTES, self._instance.settings.max_upload_bytes)
        client = ProfilerClient(reached.typed, most_bytes=most_bytes, pinned=reached.pinned)
        with capture.lock:
            capture.clients.append(client)
        say(RECORDING)
        fetches = threading.Timer(asked.options.duration_ms / MS_PER_S, say, (FETCHING,))
        fetches.start()
        try:
            return client.capture(asked.options, retries=asked.retries)
        finally:
            fetches.cancel()
            with capture.lock:
                capture.clients.remove(client)
            client.close()

    def _store(self, capture: Capture, host: CapturedHost, content: bytes) -> None:
        """As an upload: a profile of one address, a host of a run of several."""
        asked = capture.asked
        self._instance.check_room(len(content))
        area = self._profiles.stage()
        try:
            area.receive_all(f"{host.reached.typed}.xplane.pb", [content])
            if len(capture.hosts) == 1:
                capture.profile_id = self._profiles.add(
                    area,
                    title=asked.title,
                    tags=asked.tags,
                    uploader=asked.owner or None,
                    visibility=asked.visibility,
                )
                return
            with capture.lock:
                if capture.run_id is None:
                    wish = RunWish(
                        hosts=len(capture.hosts), title=asked.title, visibility=asked.visibility
                    )
                    capture.run_id = self._runs.add(
                        wish, uploader=asked.owner or None, delete_token_hash=secrets.token_hex(32)
                    )
            self._runs.push(capture.run_id, area)
        except BaseException:
            area.discard()
            raise


def _end(capture: Capture, client: ProfilerClient) -> None:
    """Asks again until the call is answered: a recording that has not begun yet cannot be ended."""
    for _ in range(MOST_ENDINGS):
        with capture.lock:
            if client not in capture.clients:
                return
        client.terminate()
        time.sleep(ENDING_PAUSE_S)


def _say(capture: Capture, host: CapturedHost, state: str, text: str = "") -> None:
    host.state, host.text = state, text
    capture.version += 1


def _check(asked: CaptureAsked) -> None:
    if not 0 < len(asked.addresses) <= MOST_ADDRESSES:
        raise BadEditError(
            "No address is named, or too many.", remedy=f"Name 1 to {MOST_ADDRESSES}."
        )
    if not SHORTEST_MS <= asked.options.duration_ms <= LONGEST_MS:
        raise BadEditError("A capture takes 10 ms to 60 s.", remedy="Choose another duration.")
    if not (0 <= asked.options.host_level <= 3 and 0 <= asked.retries <= 5):
        raise BadEditError("There are levels 0 to 3, and 0 to 5 retries.", remedy="Choose one.")
