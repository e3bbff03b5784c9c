"""The messages of `tensorflow.ProfilerService`, written and read without generated code.

A request is a dozen small fields; an answer is one field whose bytes are the capture file. Numbers
are those of `tensorflow/tsl/profiler/protobuf/profiler_service.proto`, as jaxlib 0.10 serves them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

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
