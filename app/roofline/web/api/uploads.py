"""A multipart body → files in a staging area, as the bytes arrive.

Starlette's own form parser writes each file to the system's temporary folder first and is four
times slower on 2 GB; this push parser hashes and writes each chunk once, in the data folder, and
holds some MiB of the body in memory.
"""

import asyncio
import hmac
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from roofline.errors import DamagedUploadError, UploadRejectedError, UploadTooLargeError
from roofline.model.units import MIB
from roofline.settings import Settings
from roofline.storage.staging import IncomingFile, StagedFile, StagingArea

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

BATCH_BYTES = 1 << 20
# Enough for the longest note in any script, and for every tag in a field of its own.
FIELD_BYTES = 64 << 10
MAX_FIELDS = 40
PART_HEADER_BYTES = 16 << 10
NAME_LENGTH = 255
# A client that sends less for longer than it may pause holds a place for nothing.
MIN_BYTES_PER_S = 16 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadLimits:
    """The limits of one request: bytes and files, and how long the client may send nothing.

    `writers` is how many threads write bodies at the same time, of all requests. Each of them wants
    Python's lock as often as the loop that answers everyone else: with a thread for each of twenty
    uploads, an answer took 75 ms.
    """

    max_bytes: int
    max_files: int
    idle_seconds: float
    writers: asyncio.Semaphore


def upload_limits(settings: Settings, writers: asyncio.Semaphore) -> UploadLimits:
    """The limits of this server's settings; `writers` are the threads that all uploads share."""
    return UploadLimits(
        writers=writers,
        max_bytes=settings.max_upload_bytes,
        max_files=settings.max_files,
        idle_seconds=settings.upload_idle_seconds,
    )


Fields = dict[str, list[str]]
"""The text fields of a form; a field may be repeated."""


async def receive(
    request: Request, area: StagingArea, limits: UploadLimits, check_room: Callable[[int], None]
) -> Fields:
    """Writes the parts named `file` to `area`; returns the text fields.

    `check_room` refuses so many bytes before the first is read. Raises `UploadTooLargeError`,
    `UploadRejectedError` or `StorageFullError`; `area` is the caller's to discard.
    """
    body = _Body(request, limits.idle_seconds)
    try:
        declared_bytes = _declared_bytes(request, limits)
        await run_in_threadpool(check_room, declared_bytes)
        return await _receive(request, body, area, limits)
    except FormParserError as error:
        raise _malformed(error) from error


async def _receive(
    request: Request, body: "_Body", area: StagingArea, limits: UploadLimits
) -> Fields:
    form = _Form(area, limits)
    form.expect_alone(request.headers.getlist(DIGEST_HEADER))
    parser = MultipartParser(
        _boundary(request), form.callbacks(), max_header_size=PART_HEADER_BYTES
    )
    try:
        async for batch in body.batches():
            # On a thread: writing and hashing 1 MiB takes about 2 ms, which others need not wait.
            async with limits.writers:
                await run_in_threadpool(parser.write, batch)
        await run_in_threadpool(parser.finalize)
        form.check_complete()
    finally:
        form.close()
    return form.fields


def _declared_bytes(request: Request, limits: UploadLimits) -> int:
    """How long the body says it is, 0 if it does not; `UploadTooLargeError` past the limit."""
    declared = request.headers.get("content-length", "")
    size_bytes = int(declared) if declared.isdecimal() else 0
    if size_bytes > limits.max_bytes + FIELD_BYTES * MAX_FIELDS:
        raise too_large(limits.max_bytes)
    return size_bytes


class _Body:
    """The request's body as it arrives. Knows whether it has ended, unlike `Request.stream`."""

    def __init__(self, request: Request, idle_seconds: float) -> None:
        self._request = request
        self._idle_seconds = idle_seconds
        self._ended = False
        self._received_bytes = 0
        self._waited_s = 0.0

    async def batches(self) -> AsyncIterator[bytes]:
        """The body in pieces of some MiB; `ClientDisconnect` if the client hangs up."""
        batch = bytearray()
        while not self._ended:
            batch += await self._next()
            if len(batch) >= BATCH_BYTES:
                yield bytes(batch)
                batch.clear()
        if batch:
            yield bytes(batch)

    async def _next(self) -> bytes:
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._idle_seconds):
                message = await self._request.receive()
        except TimeoutError as error:
            raise UploadRejectedError(
                f"The upload stood still for {self._idle_seconds:,.0f} s.",
                remedy="Check the connection and upload again.",
            ) from error
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        self._ended = not message.get("more_body", False)
        body: bytes = message.get("body", b"")
        self._check_rate(len(body), time.monotonic() - began)
        return body

    def _check_rate(self, size_bytes: int, waited_s: float) -> None:
        """Only what we waited for the client counts, not what our own disk took."""
        self._received_bytes += size_bytes
        self._waited_s += waited_s
        if self._waited_s > self._idle_seconds + self._received_bytes / MIN_BYTES_PER_S:
            raise UploadRejectedError(
                f"The upload is slower than {MIN_BYTES_PER_S >> 10} KiB/s.",
                remedy="Pack the files (.gz, .zst), or upload from a faster connection.",
            )


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise UploadRejectedError(
            "The request is not a multipart form.",
            remedy="Send files as curl does: curl -F file=@host.xplane.pb ADDRESS.",
        )
    return options[b"boundary"]


def too_large(max_bytes: int) -> UploadTooLargeError:
    """The refusal of an upload past the limit."""
    return UploadTooLargeError(
        f"The upload is larger than this server takes ({max_bytes / MIB:,.4g} MiB).",
        remedy="Compress it (.gz, .zip), upload fewer hosts, or raise ROOFLINE_MAX_UPLOAD_BYTES.",
    )


def _malformed(error: FormParserError) -> UploadRejectedError:
    if "header size" in str(error):
        return UploadRejectedError(
            "A file's name, or another header of its part, is longer than"
            f" {PART_HEADER_BYTES >> 10} KiB.",
            remedy="Give the file a shorter name; 255 characters of it are kept.",
        )
    return UploadRejectedError(
        "The request's multipart body is malformed or ends early.",
        remedy="Send it again; with curl: curl -F file=@host.xplane.pb ADDRESS.",
    )


class _Form:
    """The callbacks of the parser: parts named `file` become files, others text fields."""

    def __init__(self, area: StagingArea, limits: UploadLimits) -> None:
        self.fields: Fields = {}
        self._field_count = 0
        self._area = area
        self._limits = limits
        self._received_bytes = 0
        self._parts = 0
        self._ended = False
        self._header_name = b""
        self._header_value = b""
        self._disposition = b""
        self._digests: list[bytes] = []
        self._alone: str | None = None
        self._file: IncomingFile | None = None
        self._field = ""
        self._text = bytearray()

    def callbacks(self) -> "MultipartCallbacks":
        """The parser's callback table."""
        return {
            "on_part_begin": self._part_begin,
            "on_header_field": self._on_header_field,
            "on_header_value": self._on_header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._part_data,
            "on_part_end": self._part_end,
            "on_end": self._end,
        }

    def expect_alone(self, digests: list[str]) -> None:
        """The digest that the request itself gives, for its only file."""
        self._alone = expected_digest([text.encode("latin-1") for text in digests])

    def check_complete(self) -> None:
        """Refuses a body that stops before its last boundary."""
        if not self._ended:
            raise UploadRejectedError(
                "The upload ended before it was complete.", remedy="Upload the file again."
            )
        if self._alone is None:
            return
        if len(self._area.files) != 1:
            raise UploadRejectedError(
                f"One {DIGEST_HEADER} came for {len(self._area.files)} files.",
                remedy="Give each file its own, as a header of its part.",
            )
        check_digest(self._area.files[0], self._alone)

    def close(self) -> None:
        """Deletes a file whose end never came."""
        if self._file is not None:
            self._file.abandon()
            self._file = None

    def _part_begin(self) -> None:
        self._disposition = self._header_name = self._header_value = b""
        self._digests.clear()
        self._parts += 1
        if self._parts > self._limits.max_files + MAX_FIELDS:
            raise _too_many(self._limits.max_files)

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _header_end(self) -> None:
        if self._header_name.lower() == b"content-disposition":
            self._disposition = self._header_value
        if self._header_name.lower() == DIGEST_HEADER.encode():
            self._digests.append(self._header_value)
        self._header_name = self._header_value = b""

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._disposition)
        name = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" in options:
            self._begin_file(name, options[b"filename"].decode("utf-8", "replace"))
        else:
            self._field = name
            self._text.clear()

    def _begin_file(self, field: str, name: str) -> None:
        if field != "file":
            raise UploadRejectedError(
                f"There is a file in the form field {field[:80]!r}.",
                remedy="Send files in fields named 'file': curl -F file=@host.xplane.pb ADDRESS.",
            )
        if len(self._area.files) >= self._limits.max_files:
            raise _too_many(self._limits.max_files)
        self._file = self._area.receive(_shown_name(name))

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if self._file is None:
            self._text += data[start:end]
            if len(self._text) > FIELD_BYTES:
                raise UploadRejectedError(
                    f"The form field {self._field[:80]!r} is too long.",
                    remedy=f"Send at most {FIELD_BYTES:,} bytes.",
                )
            return
        self._received_bytes += end - start
        if self._received_bytes > self._limits.max_bytes:
            raise too_large(self._limits.max_bytes)
        self._file.write(memoryview(data)[start:end])

    def _part_end(self) -> None:
        if self._file is not None:
            expected = expected_digest(self._digests)
            staged = self._file.finish()
            self._file = None
            if expected is not None:
                check_digest(staged, expected)
        else:
            self._field_count += 1
            if self._field_count > MAX_FIELDS:
                raise UploadRejectedError(
                    f"The form has more than {MAX_FIELDS} text fields.",
                    remedy="Send title and note once, and tags between commas in one field.",
                )
            text = self._text.decode("utf-8", "replace")
            self.fields.setdefault(self._field[:80], []).append(text)

    def _end(self) -> None:
        self._ended = True


def _too_many(max_files: int) -> UploadRejectedError:
    return UploadRejectedError(
        f"The upload has more than {max_files:,} files.",
        remedy="Pack them as one .zip or .tar.gz, or raise ROOFLINE_MAX_FILES.",
    )


def _shown_name(name: str) -> str:
    """A name to show for a file: the last part of its path, printable. Never used as a path."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return "".join(ch for ch in last if ch.isprintable())[:NAME_LENGTH] or "unnamed"


DIGEST_HEADER = "x-content-sha256"
_SHA256 = re.compile(rb"[0-9a-f]{64}")


def expected_digest(given: Sequence[bytes]) -> str | None:
    """The digest of these headers, in lower case; `None` where there is none.

    Raises `UploadRejectedError` for two of them, and for what is not a SHA-256.
    """
    if not given:
        return None
    text = given[0].strip().lower()
    if len(given) > 1 or not _SHA256.fullmatch(text):
        raise UploadRejectedError(
            "X-Content-SHA256 is not one SHA-256 of 64 hexadecimal digits.",
            remedy="Send what `sha256sum FILE` prints, or leave the header out.",
        )
    return text.decode()


def check_digest(file: StagedFile, expected: str) -> None:
    """Raises `DamagedUploadError` unless the bytes that came are those that were meant."""
    if not hmac.compare_digest(file.sha256, expected):
        raise DamagedUploadError(
            f"{file.name} was damaged on its way, or its digest is of another file: its SHA-256"
            f" should be {expected}, and that of the {file.size_bytes:,} bytes that came is"
            f" {file.sha256}.",
            remedy="Upload it again. Nothing of this upload was stored.",
        )


def upload_form(
    files: str, fields: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """The `openapi_extra` of a route with `files`, in its words, in fields named `file`.

    `fields` are the schemas of further fields of the form, by name.
    """
    several = {
        "type": "array",
        "items": {"type": "string", "format": "binary"},
        "description": files,
    }
    properties = {"file": several, **(fields or {})}
    schema = {"type": "object", "required": ["file"], "properties": properties}
    content = {"multipart/form-data": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}
