"""A capture of one program that serves `tensorflow.ProfilerService`: JAX, TensorFlow, PyTorch/XLA.

`grpcio` is all that is needed. The bytes of the answer are the capture file.

The messages of `tensorflow.ProfilerService`, written and read without generated code.

A request is a dozen small fields; an answer is one field whose bytes are the capture file. Numbers
are those of `tensorflow/tsl/profiler/protobuf/profiler_service.proto`, as jaxlib 0.10 serves them.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from roofline.errors import CaptureFailedError, RooflineError
from roofline.model.units import MEGA, MS_PER_S

if TYPE_CHECKING:
    import grpc


_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_OPTIONS_VERSION = 1
# Fields of ProfileResponse.
_EMPTY_TRACE, _XSPACE = 7, 8

Setting = str | bool | int


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureOptions:
    """What a program is asked to record; levels are those of XLA's tracers.

    Without `hlo` the capture has no FLOPs. `start_ns` is by the clock of the program's machine.
    """

    duration_ms: int = 2000
    host_level: int = 2
    python: bool = False
    hlo: bool = True
    start_ns: int | None = None
    advanced: Mapping[str, Setting] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProfileAnswer:
    """The capture that came back, `None` where the program sent none; `is_empty` is its word."""

    xspace: bytes | None
    is_empty: bool


def profile_request(options: CaptureOptions, session: str, host: str = "") -> bytes:
    """A ProfileRequest whose answer has the capture in it: nothing is written on the target."""
    return b"".join(
        (
            _number(1, options.duration_ms),
            _message(4, _profile_options(options)),
            _text(6, session),
            _text(7, host),
            _number(9, 1),  # emit_xspace
        )
    )


def terminate_request(session: str) -> bytes:
    """A TerminateRequest: the session ends now, and its call is answered with what there is."""
    return _text(1, session)


def read_answer(answer: bytes) -> ProfileAnswer:
    """A ProfileResponse. Raises `ValueError` where the bytes are not one."""
    fields = dict(_fields(answer))
    xspace = fields.get(_XSPACE)
    if xspace is not None and not isinstance(xspace, bytes):
        raise ValueError("field 8 is not a message")
    return ProfileAnswer(xspace=xspace or None, is_empty=bool(fields.get(_EMPTY_TRACE)))


def _profile_options(options: CaptureOptions) -> bytes:
    fields = [
        _number(5, _OPTIONS_VERSION),
        _number(2, options.host_level),
        _number(3, 1),
        _number(4, int(options.python)),
        _number(7, int(options.hlo)),
        _number(8, options.start_ns or 0),
        _number(9, options.duration_ms),
    ]
    for name, value in options.advanced.items():
        fields.append(_message(12, _text(1, name) + _message(2, _setting(value))))
    return b"".join(fields)


def _setting(value: Setting) -> bytes:
    if isinstance(value, str):
        return _text(1, value)
    return _number(2 if isinstance(value, bool) else 3, int(value))


def _number(field_id: int, value: int) -> bytes:
    """The field; left out where it is zero, as protocol buffers do."""
    return _varint(field_id << 3 | _VARINT) + _varint(value) if value else b""


def _text(field_id: int, text: str) -> bytes:
    return _message(field_id, text.encode()) if text else b""


def _message(field_id: int, content: bytes) -> bytes:
    return _varint(field_id << 3 | _BYTES) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _read_varint(message, at)
            yield key >> 3, value
            continue
        if kind == _BYTES:
            size, at = _read_varint(message, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"field kind {kind}")
        if at + size > len(message):
            raise ValueError("a field is longer than the message")
        yield key >> 3, message[at : at + size]
        at += size


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError("a number is not complete")


SERVICE = "/tensorflow.ProfilerService"
# A protocol buffer has at most this many bytes.
MOST_BYTES = 2**31 - 1
# How long a program may take to collect and send what it recorded.
COLLECTING_S = 300.0
LONGEST_RETRY_MS = 10_000
BUSY_PAUSES_S = (0.2, 0.4, 0.8, 1.6, 3.0)
RETRY_PAUSE_S = 0.5

Say = Callable[[str], None]


class ProfilerClient:
    """Asks the program at `address` (`HOST:PORT`) for captures; close it after use.

    `pinned` is where it connects to, if another look-up of the name must not lead elsewhere.
    """

    def __init__(self, address: str, *, most_bytes: int = MOST_BYTES, pinned: str = "") -> None:
        import grpc  # loads slowly, and only the extra `capture` installs it

        self.address = address
        self._most_bytes = most_bytes
        self._session = f"roofline-{secrets.token_hex(8)}"
        self._is_ended = threading.Event()
        self._channel = grpc.insecure_channel(
            pinned or address,
            options=(
                ("grpc.max_receive_message_length", most_bytes),
                # A proxy of the environment would get the call in place of the program.
                ("grpc.enable_http_proxy", 0),
            ),
        )

    def close(self) -> None:
        """Closes the connection."""
        self._channel.close()

    def terminate(self) -> None:
        """Ends the recording now; its call is answered with what was recorded until here."""
        import grpc

        self._is_ended.set()
        try:
            self._call("Terminate", terminate_request(self._session), timeout_s=5.0)
        except grpc.RpcError:
            return

    def capture(self, options: CaptureOptions, *, retries: int = 2) -> bytes:
        """The capture as the bytes of an `.xplane.pb`.

        Asks again while another capture runs, `retries` times where nothing answers, and once, for
        twice the time, where nothing ran. Raises `CaptureFailedError`.
        """
        content = self._recorded(options, retries)
        if content is None and not self._is_ended.is_set():
            longer_ms = min(2 * options.duration_ms, LONGEST_RETRY_MS)
            options = replace(options, duration_ms=max(longer_ms, options.duration_ms))
            content = self._recorded(options, retries)
        if content is None:
            raise CaptureFailedError(
                f"Nothing ran on {self.address} in {_time(options.duration_ms)}.",
                remedy="Capture while the program computes, or for longer: --duration 10s.",
            )
        return content

    def _recorded(self, options: CaptureOptions, retries: int) -> bytes | None:
        """The bytes of the capture; `None` where it is empty."""
        answer = read_answer(self._answered(options, retries))
        if answer.is_empty:
            return None
        if answer.xspace is None:
            raise CaptureFailedError(
                f"The program at {self.address} is too old to send its capture: it has written it"
                " to its own disk.",
                remedy="Name a folder that both machines see: --remote-dir DIR.",
            )
        return answer.xspace

    def _answered(self, options: CaptureOptions, retries: int) -> bytes:
        import grpc

        request = profile_request(options, self._session, self.address.rpartition(":")[0])
        timeout_s = options.duration_ms / MS_PER_S + COLLECTING_S
        busy_pauses = list(BUSY_PAUSES_S)
        while True:
            try:
                return self._call("Profile", request, timeout_s=timeout_s)
            except grpc.RpcError as error:
                problem = _Problem(error)
            if problem.is_busy and busy_pauses and not self._is_ended.is_set():
                time.sleep(busy_pauses.pop(0))
            elif problem.may_pass and retries > 0 and not self._is_ended.is_set():
                retries -= 1
                time.sleep(RETRY_PAUSE_S)
            else:
                if problem.code == "DEADLINE_EXCEEDED":
                    self.terminate()
                raise problem.as_error(self.address, options, self._most_bytes)

    def _call(self, method: str, request: bytes, *, timeout_s: float) -> bytes:
        ask: Callable[..., bytes] = self._channel.unary_unary(f"{SERVICE}/{method}")
        return ask(request, timeout=timeout_s)


class _Problem:
    """What gRPC says of a call that failed, in the words of the table of docs/capture.md."""

    def __init__(self, error: "grpc.RpcError") -> None:
        self.code = error.code().name
        self._details = (error.details() or "").lower()

    @property
    def is_busy(self) -> bool:
        """Whether another capture of the program runs."""
        return self.code == "INTERNAL" and "another profiling session" in self._details

    @property
    def may_pass(self) -> bool:
        """Whether nothing answered, which may change in a moment."""
        return self.code == "UNAVAILABLE" and not (self._is_http or self._is_unknown_name)

    @property
    def _is_http(self) -> bool:
        return "http/2" in self._details or "http1" in self._details or "http/1" in self._details

    @property
    def _is_unknown_name(self) -> bool:
        return "resol" in self._details or "domain name" in self._details

    def as_error(
        self, address: str, options: CaptureOptions, most_bytes: int
    ) -> CaptureFailedError:
        """The error of the user; never the remote's own words."""
        host, _, port = address.rpartition(":")
        waited = _time(options.duration_ms + int(COLLECTING_S * MS_PER_S))
        code = "BUSY" if self.is_busy else self.code
        if code == "UNAVAILABLE" and (self._is_unknown_name or self._is_http):
            code = "UNKNOWN NAME" if self._is_unknown_name else "HTTP"
        words = {
            "BUSY": (
                f"Another capture of the program at {address} is running.",
                "Wait until it has ended, then try again.",
            ),
            "UNKNOWN NAME": (f"The name {host} is not known here.", "Check the address."),
            "HTTP": (
                f"{address} speaks HTTP, not the protocol of the profiler.",
                f"For vLLM and SGLang write http://{address}.",
            ),
            "UNAVAILABLE": (
                f"Nothing listens at {address}.",
                f"Does the program call `jax.profiler.start_server({port})`?",
            ),
            "DEADLINE_EXCEEDED": (
                f"The program at {address} did not answer in {waited}.",
                "It may be compiling, or the capture is large. Try --duration 500ms.",
            ),
            "RESOURCE_EXHAUSTED": (
                f"The capture of {address} is larger than {most_bytes / MEGA:,.0f} MB.",
                f"Try --duration {_time(max(10, options.duration_ms // 2))}.",
            ),
            "UNIMPLEMENTED": (
                f"{address} serves another protocol.",
                f"Is {port} the port of `jax.profiler.start_server`?",
            ),
        }
        refused = f"The program at {address} could not record: {code.lower().replace('_', ' ')}."
        message, remedy = words.get(
            code, (refused, "Try again; the program's own log may say more.")
        )
        return CaptureFailedError(message, remedy=remedy)


def _time(milliseconds: int) -> str:
    """A duration as one writes it behind `--duration`."""
    return f"{milliseconds / MS_PER_S:g} s" if milliseconds >= MS_PER_S else f"{milliseconds} ms"


# How long a second Ctrl-C is waited for, while the programs send what they have.
_ENDING_S = 10.0


@dataclass(frozen=True, slots=True)
class HostCapture:
    """What became of one address: the file of its capture, or why there is none."""

    address: str
    path: Path | None
    problem: RooflineError | None = None


def file_names(addresses: Sequence[str]) -> dict[str, str]:
    """The file of each `HOST:PORT`: the host's name, with its port where a host has several."""
    hosts = [address.rpartition(":")[0].strip("[]") for address in addresses]
    return {
        address: f"{_safe(host if hosts.count(host) == 1 else address)}.xplane.pb"
        for address, host in zip(addresses, hosts, strict=True)
    }


def capture_hosts(
    addresses: Sequence[str],
    options: CaptureOptions,
    *,
    into: Path,
    retries: int,
    most_bytes: int,
    say: Say,
) -> list[HostCapture]:
    """Captures all `addresses` at the same time, and writes a file of each into the folder `into`.

    A host that fails has its reason and does not end the others. Ctrl-C ends the recording and
    keeps what the programs send within ten seconds; a second one ends the command.
    """
    names = file_names(addresses)
    clients = {address: ProfilerClient(address, most_bytes=most_bytes) for address in addresses}

    def captured(address: str) -> HostCapture:
        try:
            content = clients[address].capture(options, retries=retries)
        except RooflineError as problem:
            return HostCapture(address, None, problem)
        path = into / names[address]
        path.write_bytes(content)
        return HostCapture(address, path)

    with ThreadPoolExecutor(max_workers=len(addresses)) as threads:
        futures = [threads.submit(captured, address) for address in addresses]
        try:
            _wait(futures)
        except KeyboardInterrupt:
            say("Ending the recording and fetching its data.")
            ends = [threading.Thread(target=one.terminate) for one in clients.values()]
            for end in ends:
                end.start()
            wait(futures, timeout=_ENDING_S)
        finally:
            # A call that is still open ends with its channel, and its thread with the call.
            for client in clients.values():
                client.close()
    return [future.result() for future in futures]


def _wait(futures: Sequence["Future[HostCapture]"]) -> None:
    """Waits in short turns, for Python hears of Ctrl-C between them."""
    waiting = set(futures)
    while waiting:
        _, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)


def _safe(name: str) -> str:
    """`name` as the name of a file."""
    return "".join(char if char.isalnum() or char in "-._" else "_" for char in name)
