"""A capture of one program that serves `tensorflow.ProfilerService`: JAX, TensorFlow, PyTorch/XLA.

`grpcio` is all that is needed. The bytes of the answer are the capture file.
"""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from roofline.capture.wire import (
    CaptureOptions,
    profile_request,
    read_answer,
    terminate_request,
)
from roofline.errors import CaptureFailedError
from roofline.model.units import MEGA, MS_PER_S

if TYPE_CHECKING:
    import grpc

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
    """Asks the program at `address` (`HOST:PORT`) for captures; close it after use."""

    def __init__(self, address: str, *, most_bytes: int = MOST_BYTES) -> None:
        import grpc  # loads slowly, and only the extra `capture` installs it

        self.address = address
        self._most_bytes = most_bytes
        self._session = f"roofline-{secrets.token_hex(8)}"
        self._is_ended = threading.Event()
        self._channel = grpc.insecure_channel(
            address,
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
        half = _time(max(10, options.duration_ms // 2))
        if self.is_busy:
            return CaptureFailedError(
                f"Another capture of the program at {address} is running.",
                remedy="Wait until it has ended, then try again.",
            )
        if self.code == "UNAVAILABLE" and self._is_unknown_name:
            return CaptureFailedError(
                f"The name {host} is not known here.", remedy="Check the address."
            )
        if self.code == "UNAVAILABLE" and self._is_http:
            return CaptureFailedError(
                f"{address} speaks HTTP, not the protocol of the profiler.",
                remedy=f"For vLLM and SGLang write http://{address}.",
            )
        if self.code == "UNAVAILABLE":
            return CaptureFailedError(
                f"Nothing listens at {address}.",
                remedy=f"Does the program call `jax.profiler.start_server({port})`?",
            )
        if self.code == "DEADLINE_EXCEEDED":
            return CaptureFailedError(
                f"The program at {address} did not answer in {waited}.",
                remedy="It may be compiling, or the capture is large. Try --duration 500ms.",
            )
        if self.code == "RESOURCE_EXHAUSTED":
            return CaptureFailedError(
                f"The capture of {address} is larger than {most_bytes / MEGA:,.0f} MB.",
                remedy=f"Try --duration {half}.",
            )
        if self.code == "UNIMPLEMENTED":
            return CaptureFailedError(
                f"{address} serves another protocol.",
                remedy=f"Is {port} the port of `jax.profiler.start_server`?",
            )
        return CaptureFailedError(
            f"The program at {address} could not record: {self.code.lower().replace('_', ' ')}.",
            remedy="Try again; the program's own log may say more.",
        )


def _time(milliseconds: int) -> str:
    """A duration as one writes it behind `--duration`."""
    return f"{milliseconds / MS_PER_S:g} s" if milliseconds >= MS_PER_S else f"{milliseconds} ms"
