"""The HTTP API, version 1: the facts of a profile, and a view of it under chosen peaks.

Both together are the page data; docs/page-data.md. The facts are measured, and the same under every
device. A view is computed for each choice of peaks, and kept by its ETag.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated

import orjson
from fastapi import APIRouter, Query, Request, Response

from roofline.devices.choice import part_id_of
from roofline.library.ranges import Part
from roofline.library.reader import ProfileReader
from roofline.presentation.facts_and_view import Document, part_of_page
from roofline.presentation.json_text import to_json
from roofline.storage.results import ADVICE, PAGE
from roofline.web.api.ranges import BaseRange, Range, check_names, etag_of, results_for, times_for
from roofline.web.api.responses import NO_SUCH_VIEW
from roofline.web.api.results import ETAG_ENDS, Infeed, computed
from roofline.web.http.encodings import best_encoding, matches
from roofline.web.offline.assets import packed
from roofline.web.offline.templates import pieces_version
from roofline.web.parts import Reader, ServerParts, parts_of

Devices = Annotated[
    list[str],
    Query(max_length=4, description="Parts of the catalogue; may be repeated."),
]
# A view of 600 kB becomes 124 kB in 7 ms. The facts, which no device changes, are packed once.
_ZSTD_LEVELS = {"facts": 16, "view": 6, "parts": 6}

router = APIRouter(prefix="/api/v1", tags=["profiles"])


@router.get("/profiles/{profile_id}/facts", responses=NO_SUCH_VIEW)
async def facts(request: Request, profile_id: str, reader: Reader, part: Range) -> Response:
    """What was measured: the page data that every device has in common."""
    check_names(request)
    measured = (part or Part()).measured
    make = partial(_facts, parts_of(request), reader, profile_id, measured)
    return await _sent(request, reader, profile_id, make, measured, "facts")


@router.get("/profiles/{profile_id}/view", responses=NO_SUCH_VIEW)
async def view(
    request: Request, profile_id: str, reader: Reader, part: Range, infeed: Infeed = "in"
) -> Response:
    """What follows under these peaks: roofs, bounds, shares, the verdict and the advice."""
    check_names(request)
    shown = part or Part()
    make = partial(view_for, parts_of(request), reader, profile_id, shown, infeed)
    names = "view", infeed, pieces_version()
    return await _sent(request, reader, profile_id, make, shown, *names)


@router.get("/profiles/{profile_id}/parts", responses=NO_SUCH_VIEW)
async def other_parts(
    request: Request,
    profile_id: str,
    reader: Reader,
    part: BaseRange,
    device: Devices = [],  # noqa: B006 (FastAPI copies it)
    usual: bool = False,
) -> Response:
    """What the subject would take on other parts: time, change, what binds, what is covered.

    `usual` adds the parts that a table begins with. `dev` and `peak.hbm` are the peaks that it is
    compared with; without them its own.
    """
    check_names(request)
    shown, ids = part or Part(), tuple(part_id_of(name) for name in device)

    def make() -> bytes:
        parts = parts_of(request)
        found = results_for(parts, reader, profile_id, shown)
        return to_json(found.on_parts(ids, usual=usual))

    return await _sent(request, reader, profile_id, make, shown, "parts", f"{usual:d}", *ids)


def _facts(parts: ServerParts, reader: ProfileReader, profile_id: str, part: Part) -> bytes:
    if part != Part():
        return results_for(parts, reader, profile_id, part).facts()
    page = orjson.loads(reader.result(profile_id, PAGE).plain())
    return to_json(part_of_page(page, Document.FACTS))


def view_for(
    parts: ServerParts, reader: ProfileReader, profile_id: str, part: Part, infeed: Infeed
) -> bytes:
    """The view of a part as JSON; that of the whole by its own peaks is stored."""
    if part == Part():
        page = orjson.loads(reader.result(profile_id, PAGE).plain())
        advice = orjson.loads(reader.result(profile_id, ADVICE).plain())
        return to_json(parts.templates.view_of(page, advice, infeed))
    view, page = results_for(parts, reader, profile_id, part).view(infeed=infeed)
    return to_json({**view, "pieces": parts.templates.pieces(page, infeed)})


async def _sent(
    request: Request,
    reader: ProfileReader,
    profile_id: str,
    make: Callable[[], bytes],
    part: Part,
    *names: str,
) -> Response:
    """A document compressed as the client takes it; 304 if it holds it, before it is made."""
    parts = parts_of(request)
    encoding = best_encoding(request)
    stored = partial(_stored_etag, reader, profile_id, part)
    etag = etag_of(await computed(reader, profile_id, stored), part, *names)
    headers = {
        "etag": f'"{etag}{ETAG_ENDS[encoding]}"',
        "vary": "accept-encoding",
        "cache-control": "private, no-cache",
    }
    if matches(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    if encoding:
        headers["content-encoding"] = encoding
    key = f"{profile_id} {etag} {encoding}"
    content = parts.rendered.get(key)
    if content is None:

        def rendered() -> bytes:
            sent = packed(make(), encoding, zstd_level=_ZSTD_LEVELS[names[0]])
            return parts.rendered.put(key, sent)

        content = await computed(reader, profile_id, rendered)
    return Response(content, headers=headers, media_type="application/json")


def _stored_etag(reader: ProfileReader, profile_id: str, part: Part) -> str:
    """Of what a part is computed from; the whole by its own peaks is stored before the times."""
    if part == Part():
        return reader.result(profile_id, PAGE).etag
    return times_for(reader, profile_id, part).etag
