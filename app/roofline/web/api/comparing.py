"""The HTTP API, version 1: stored profiles against each other."""

import gzip
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.library.comparing import (
    ComparedPage,
    Sides,
    StoredRun,
    compare_for_page,
    compare_profiles,
    packed_run,
    partners,
)
from roofline.library.ranges import Part
from roofline.library.reader import ProfileReader
from roofline.model.plain_data import alike
from roofline.storage.results import COMPARED
from roofline.web.api.ranges import results_for
from roofline.web.api.responses import NOT_READY
from roofline.web.api.results import computed
from roofline.web.bodies import profile_url
from roofline.web.http.encodings import accepts, matches
from roofline.web.http.guard import actor_of, peer_of_request
from roofline.web.parts import Lists, Parts, Reader, ServerParts, parts_of

MOST_CAPTURES = 16

Ids = Annotated[
    list[str], Query(min_length=1, max_length=MOST_CAPTURES, description="Repeatable: captures.")
]
UnitName = Literal["step", "execution", "capture"]
Unit = Annotated[
    UnitName | None,
    Query(description="What times are per; without it, the best that all captures have."),
]

Of = Annotated[
    str,
    Query(
        max_length=200,
        description="What all times are of, on both sides: `step`, `step:6`, `capture`,"
        " `10ms..20ms`; without it, what each profile opens with.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartnerBody:
    """A profile to compare with.

    `same_ratio` is the share of the time that both spend in operations of equal name, shapes and
    category, null where it is not known; `reason` is empty for one that is not likely.
    """

    id: str
    url: str
    title: str
    created_at: str
    device: str
    same_ratio: float | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartnerList:
    """The likeliest one first; `chosen` is the id of the one that a comparison opens with."""

    chosen: str | None
    partners: tuple[PartnerBody, ...]


router = APIRouter(prefix="/api/v1", tags=["compare"])


@router.get("/profiles/{profile_id}/partners", responses=NOT_READY)
def list_partners(
    request: Request,
    reader: Reader,
    lists: Lists,
    profile_id: str,
    q: Annotated[str, Query(max_length=200, description="Words of title, tag, device, who.")] = "",
) -> PartnerList:
    """The profiles that this one is likely compared with, at most 30."""
    found = partners(reader, lists, profile_id, q)
    listed = tuple(
        alike(
            PartnerBody,
            one.manifest,
            url=profile_url(request, one.manifest.id),
            device=one.manifest.summary.device,
            same_ratio=one.same_ratio,
            reason=one.reason,
        )
        for one in found
    )
    chosen = listed[0].id if listed and listed[0].reason else None
    return PartnerList(chosen=chosen, partners=listed)


@router.get("/compare", responses=NOT_READY)
async def compare(
    request: Request, parts: Parts, reader: Reader, a: Ids, b: Ids, unit: Unit = None, of: Of = ""
) -> Response:
    """The changes from the profiles `a` to the profiles `b`, with terms that add up to it.

    Each of `a` and `b` is the id of a profile; several are captures of one program.
    """
    sides = await sides_of_subject(parts, reader, a, b, of)
    note_compared(request, (*a, *b))
    headers = {"etag": f'"{digest_of(sides, unit)}"', "cache-control": "private, no-cache"}
    if matches(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    content = await run_in_threadpool(compare_profiles, sides, unit)
    return Response(content, headers=headers, media_type="application/json")


@router.get("/compare/page", responses=NOT_READY)
async def compare_page(
    request: Request, parts: Parts, reader: Reader, a: Ids, b: Ids, unit: Unit = None, of: Of = ""
) -> Response:
    """The same, with the words, colours and roofs that the page draws with."""
    sides = await sides_of_subject(parts, reader, a, b, of)
    note_compared(request, (*a, *b))
    is_packed = accepts(request, "gzip")
    headers = {
        "etag": f'"{digest_of(sides, unit)}-page{"-gz" if is_packed else ""}"',
        "cache-control": "private, no-cache",
        "vary": "accept-encoding",
    }
    if matches(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    found = await compared_page(parts, sides, unit)
    content = found.packed
    if is_packed:
        headers["content-encoding"] = "gzip"
    else:
        content = await run_in_threadpool(gzip.decompress, content)
    return Response(content, headers=headers, media_type="application/json")


def note_compared(request: Request, ids: Sequence[str]) -> None:
    """For the audit table: other reads of a profile are seen by their address."""
    person, address = actor_of(request).name, peer_of_request(request).address
    audit = parts_of(request).instance.store.audit
    for one in dict.fromkeys(ids):
        audit.note_read("read comparison", person, address, one)


async def sides_of(reader: ProfileReader, a: Sequence[str], b: Sequence[str]) -> Sides:
    """The stored captures of both sides; waits for results that must be computed again."""
    return await _sides(reader, a, b, partial(_stored, reader))


async def sides_of_subject(
    parts: ServerParts, reader: ProfileReader, a: Sequence[str], b: Sequence[str], of: str
) -> Sides:
    """The same with the times of the subject with the address `of`, where one is given."""
    if not of:
        return await sides_of(reader, a, b)
    return await _sides(reader, a, b, partial(_of_subject, parts, reader, of))


async def _sides(
    reader: ProfileReader,
    a: Sequence[str],
    b: Sequence[str],
    read: Callable[[str], tuple[str, bytes]],
) -> Sides:
    found: dict[str, StoredRun] = {}
    for one in dict.fromkeys((*a, *b)):
        etag, packed = await computed(reader, one, partial(read, one))
        title = (await run_in_threadpool(reader.manifest, one)).title
        found[one] = StoredRun(title=title, etag=etag, packed=packed)
    return Sides(a=tuple(found[one] for one in a), b=tuple(found[one] for one in b))


def _stored(reader: ProfileReader, one: str) -> tuple[str, bytes]:
    file, packed = reader.packed(one, COMPARED)
    return file.etag, packed


def _of_subject(parts: ServerParts, reader: ProfileReader, of: str, one: str) -> tuple[str, bytes]:
    etag, _ = _stored(reader, one)
    return f"{etag} {of}", packed_run(results_for(parts, reader, one, Part(of=of)))


async def compared_page(parts: ServerParts, sides: Sides, unit: str | None) -> ComparedPage:
    """The comparison for the page: its frame and its data are asked for one after the other."""
    key = digest_of(sides, unit)
    kept = parts.comparisons.get(key)
    if kept is not None:
        return kept
    return parts.comparisons.put(key, await run_in_threadpool(compare_for_page, sides, unit))


def digest_of(sides: Sides, unit: str | None) -> str:
    """Of what the answer depends on: each side's captures in order, their titles, the unit."""
    told = [unit or ""]
    for side in (sides.a, sides.b):
        told += [f"{one.title}\0{one.etag}" for one in side]
        told.append("")
    return hashlib.sha256("\0\0".join(told).encode()).hexdigest()[:32]
