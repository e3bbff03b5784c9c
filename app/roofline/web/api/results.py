"""The HTTP API, version 1: results of a profile, and the files that were uploaded.

Results go out as they are stored.
"""

import gzip
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Literal, TypeVar
from urllib.parse import quote

import orjson
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from roofline.errors import NotReadyError
from roofline.exports.csv_files import csv_of_xprof, csv_with_about
from roofline.library.ranges import Part, RangeResults
from roofline.library.reader import ProfileReader
from roofline.storage import results
from roofline.web.api.audit import log_action
from roofline.web.api.ranges import Range, results_for
from roofline.web.api.responses import NO_SUCH_VIEW, NOT_READY, sent_as, settle
from roofline.web.bodies import REV_LENGTH, profile_url
from roofline.web.http.encodings import accepts, matches, sent_json
from roofline.web.offline.assets import packed
from roofline.web.parts import Reader, parts_of

T = TypeVar("T")

COMPUTE_WAIT_S = 60.0
_ZSTD_LEVEL = 8  # of page data: higher ones take longer for 1 % less, up to 19
ETAG_ENDS = {"zstd": "-zst", "gzip": "-gz", "": ""}
PRIVATE_IMMUTABLE = "private, max-age=31536000, immutable"
_DOWNLOAD_POLICY = "sandbox; default-src 'none'"
_CSV = "text/csv; charset=utf-8"

Infeed = Annotated[
    Literal["in", "out"], Query(description="With (`in`) or without (`out`) infeed and outfeed.")
]

About = Annotated[
    bool, Query(description="With columns for device, profile's address and version of Roofline.")
]

router = APIRouter(prefix="/api/v1", tags=["profiles"])


@router.get("/profiles/{profile_id}/page", responses=NO_SUCH_VIEW)
async def page_data(
    request: Request, profile_id: str, reader: Reader, part: Range, rev: str | None = None
) -> Response:
    """The data of the profile's page, as one JSON document.

    With `rev` from the profile's state the answer never changes and may be kept.
    """
    if part is not None:
        return await _of_range(request, reader, profile_id, part, RangeResults.page)
    return await _result(request, reader, profile_id, results.PAGE, rev=rev)


@router.get("/profiles/{profile_id}/roofline", responses=NO_SUCH_VIEW)
async def roofline(
    request: Request, profile_id: str, reader: Reader, part: Range, infeed: Infeed = "in"
) -> Response:
    """Device, roofs, program points, ops and diagnostics at full precision; units in the keys."""
    if part is not None:
        return await _of_range(
            request, reader, profile_id, part, lambda found: found.roofline(infeed=infeed == "in")
        )
    return await _result(request, reader, profile_id, results.ROOFLINE[infeed])


@router.get(
    "/profiles/{profile_id}/roofline.csv",
    response_class=Response,
    responses={200: sent_as("text/csv"), **NO_SUCH_VIEW},
)
async def roofline_csv(
    request: Request,
    profile_id: str,
    reader: Reader,
    part: Range,
    infeed: Infeed = "in",
    about: About = False,
) -> Response:
    """Every op as one row of CSV."""
    manifest = await run_in_threadpool(reader.manifest, profile_id)
    headers = {"content-disposition": attachment(f"{manifest.title}-roofline.csv")}
    link = profile_url(request, profile_id)
    name = results.CSV[infeed]
    if part is not None:
        answer = await _of_range(
            request,
            reader,
            profile_id,
            part,
            lambda found: found.csv(infeed=infeed == "in", about=link if about else ""),
        )
    elif about:
        _, stored = await computed(reader, profile_id, lambda: reader.packed(profile_id, name))
        made = partial(csv_with_about, device=manifest.summary.device, profile=link)
        answer = await sent_json(request, await run_in_threadpool(_unpacked, stored, made))
    else:
        return await _result(request, reader, profile_id, name, headers=headers, media_type=_CSV)
    answer.headers.update({**headers, "content-type": _CSV})
    return answer


@router.get("/profiles/{profile_id}/xprof", responses=NO_SUCH_VIEW)
async def xprof(request: Request, profile_id: str, reader: Reader) -> Response:
    """XProf's own tables of the whole capture, mistakes included: `analyze --format xprof`."""
    return await _result(request, reader, profile_id, results.XPROF)


@router.get(
    "/profiles/{profile_id}/xprof.csv",
    response_class=Response,
    responses={200: sent_as("text/csv"), **NO_SUCH_VIEW},
)
async def xprof_csv(request: Request, profile_id: str, reader: Reader) -> Response:
    """XProf's roofline table as XProf exports it: all rows, with and without infeed and outfeed."""
    title = (await run_in_threadpool(reader.manifest, profile_id)).title
    _, stored = await computed(reader, profile_id, lambda: reader.packed(profile_id, results.XPROF))
    table = partial(_unpacked, stored, lambda content: csv_of_xprof(orjson.loads(content)[0]))
    answer = await sent_json(request, await run_in_threadpool(table))
    name = attachment(f"{title}-roofline_model.csv")
    answer.headers.update({"content-disposition": name, "content-type": _CSV})
    return answer


async def stored_advice(
    request: Request, profile_id: str, reader: ProfileReader, part: Part | None
) -> Response:
    """The advice, without what people decided: for links, and for parts of the time."""
    if part is not None:
        return await _of_range(request, reader, profile_id, part, RangeResults.advice)
    return await _result(request, reader, profile_id, results.ADVICE)


@router.get("/profiles/{profile_id}/ops/{index}", responses=NO_SUCH_VIEW)
async def op_details(
    request: Request, profile_id: str, index: int, reader: Reader, part: Range
) -> Response:
    """Long name and source of one op; `index` counts the ops of the page data."""
    if part is not None:
        found = await _range(request, reader, profile_id, part)
        return Response(found.op(index), media_type="application/json")
    content = await computed(reader, profile_id, lambda: reader.op_details(profile_id, index))
    return Response(content, media_type="application/json")


@router.get(
    "/profiles/{profile_id}/source",
    response_class=Response,
    responses={200: sent_as("application/octet-stream", "application/zip"), **NOT_READY},
)
def source(request: Request, profile_id: str, reader: Reader) -> Response:
    """The uploaded file as it was; several files as a zip."""
    files = reader.sources(profile_id)
    log_action(request, "download", profile_id)
    headers = {"content-security-policy": _DOWNLOAD_POLICY}
    if len(files) == 1:
        (file,) = files
        headers["content-disposition"] = attachment(file.name)
        headers["content-length"] = str(file.size_bytes)
        kind = "application/octet-stream"
        return StreamingResponse(file.chunks(), media_type=kind, headers=headers)
    headers["content-disposition"] = attachment(f"{reader.manifest(profile_id).title}.zip")
    stream = zip_stream([(file.name, file.size_bytes, file.chunks) for file in files])
    return StreamingResponse(stream, media_type="application/zip", headers=headers)


async def _range(
    request: Request, reader: ProfileReader, profile_id: str, part: Part
) -> RangeResults:
    parts = parts_of(request)
    return await computed(reader, profile_id, lambda: results_for(parts, reader, profile_id, part))


async def _of_range(
    request: Request,
    reader: ProfileReader,
    profile_id: str,
    part: Part,
    written: Callable[[RangeResults], bytes],
) -> Response:
    """A result of a part of the time, gzip if the client takes it; 304 if it holds it."""
    found = await _range(request, reader, profile_id, part)
    return await sent_json(request, await run_in_threadpool(written, found))


def _unpacked(stored: bytes, made: Callable[[bytes], bytes]) -> bytes:
    return made(gzip.decompress(stored))


async def computed(reader: ProfileReader, profile_id: str, read: Callable[[], T]) -> T:
    """The result of `read()`; waits for results of a stored profile that must be computed again."""
    try:
        return await run_in_threadpool(read)
    except NotReadyError:
        if not await run_in_threadpool(reader.is_stored, profile_id):
            raise
    await settle(reader, profile_id, COMPUTE_WAIT_S)
    return await run_in_threadpool(read)


async def _result(
    request: Request,
    reader: ProfileReader,
    profile_id: str,
    name: str,
    *,
    rev: str | None = None,
    headers: Mapping[str, str] | None = None,
    media_type: str = "application/json",
) -> Response:
    """A stored result: as it lies on the disk if the client takes gzip, 304 if it holds it.

    Browsers keep only what everybody here sees without asking again.
    """
    kept = parts_of(request).answers

    def found() -> tuple[results.ResultFile, str | None]:
        file = reader.result(profile_id, name)
        return file, rev if reader.is_for_everybody(profile_id) else None

    file, rev = await computed(reader, profile_id, found)
    encoding = _encoding(request, name)
    answer = {**(headers or {}), **_validators(encoding, file, rev)}
    if matches(request, answer["etag"]):
        return Response(status_code=304, headers=answer)
    content = kept.get(answer["etag"]) or b""
    if not content:
        file, content = await computed(reader, profile_id, lambda: reader.packed(profile_id, name))
        answer.update(_validators(encoding, file, rev))
        if encoding != "gzip":
            content = await run_in_threadpool(_repacked, content, encoding)
        kept.put(answer["etag"], content)
    if encoding:
        answer["content-encoding"] = encoding
    return Response(content, headers=answer, media_type=media_type)


def _encoding(request: Request, name: str) -> str:
    """The encoding a stored result is sent in. Page data are opened most, and worth packing anew.

    684 kB of them: 152 kB as gzip, 135 kB as zstd, which takes 12 ms.
    """
    if name == results.PAGE and accepts(request, "zstd"):
        return "zstd"
    return "gzip" if accepts(request, "gzip") else ""


def _repacked(content: bytes, encoding: str) -> bytes:
    return packed(gzip.decompress(content), encoding, zstd_level=_ZSTD_LEVEL)


def _validators(encoding: str, file: results.ResultFile, rev: str | None) -> dict[str, str]:
    is_current = rev is not None and rev == file.etag[:REV_LENGTH]
    return {
        "etag": f'"{file.etag}{ETAG_ENDS[encoding]}"',
        "vary": "accept-encoding",
        "cache-control": PRIVATE_IMMUTABLE if is_current else "private, no-cache",
    }


def attachment(name: str) -> str:
    """A `Content-Disposition` that saves the file as `name`, whatever characters it has."""
    ascii_name = re.sub(r"[^A-Za-z0-9._ -]", "_", name)
    return f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(name, safe='')}"


CHUNK_BYTES = 1 << 20
_MODE = 0o100644  # a plain file
# The same files make the same bytes. A zip knows no time before 1980.
_MODIFIED_AT = datetime(1980, 1, 1)

Member = tuple[str, int, Callable[[], Iterator[bytes]]]
"""A file to pack: its name, its size in bytes, and what gives its content."""


def zip_stream(files: Sequence[Member]) -> Iterator[bytes]:
    """The bytes of a zip of `files`. Equal names get a number in front."""
    # Loads a library of ciphers, 0.1 s: only for downloads of several files.
    from stream_zip import ZIP_AUTO, stream_zip

    names = _distinct([name for name, _, _ in files])
    members = (
        (name, _MODIFIED_AT, _MODE, ZIP_AUTO(size_bytes, level=0), chunks())
        for name, (_, size_bytes, chunks) in zip(names, files, strict=True)
    )
    yield from stream_zip(members, chunk_size=CHUNK_BYTES)


def _distinct(names: Sequence[str]) -> list[str]:
    if len(set(names)) == len(names):
        return list(names)
    return [f"{number}-{name}" for number, name in enumerate(names)]
