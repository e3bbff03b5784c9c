"""The HTTP API, version 1: stored profiles against each other."""

import hashlib
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.library.comparing import Sides, StoredRun, compare_profiles
from roofline.storage.results import COMPARED
from roofline.web.api.responses import NOT_READY
from roofline.web.api.results import computed
from roofline.web.http.assets import matches
from roofline.web.parts import Reader

MOST_CAPTURES = 16

Ids = Annotated[
    list[str], Query(min_length=1, max_length=MOST_CAPTURES, description="Repeatable: captures.")
]
Unit = Annotated[
    Literal["step", "execution", "capture"] | None,
    Query(description="What times are per; without it, the best that all captures have."),
]

router = APIRouter(prefix="/api/v1", tags=["compare"])


@router.get("/compare", responses=NOT_READY)
async def compare(request: Request, reader: Reader, a: Ids, b: Ids, unit: Unit = None) -> Response:
    """What changed from the profiles `a` to the profiles `b`, with terms that add up to it.

    Each of `a` and `b` is the id of a profile; several are captures of one program.
    """
    found: dict[str, StoredRun] = {}
    for one in dict.fromkeys((*a, *b)):
        file, packed = await computed(reader, one, partial(reader.packed, one, COMPARED))
        title = (await run_in_threadpool(reader.manifest, one)).title
        found[one] = StoredRun(title=title, etag=file.etag, packed=packed)
    sides = Sides(a=tuple(found[one] for one in a), b=tuple(found[one] for one in b))
    etag = _etag(sides, unit)
    headers = {"etag": etag, "cache-control": "private, no-cache"}
    if matches(request, etag):
        return Response(status_code=304, headers=headers)
    content = await run_in_threadpool(compare_profiles, sides, unit)
    return Response(content, headers=headers, media_type="application/json")


def _etag(sides: Sides, unit: str | None) -> str:
    """What the answer depends on: each side's captures in their order, their titles, the unit."""
    told = [unit or ""]
    for side in (sides.a, sides.b):
        told += [f"{one.title}\0{one.etag}" for one in side]
        told.append("")
    digest = hashlib.sha256("\0\0".join(told).encode()).hexdigest()
    return f'"{digest[:32]}"'
