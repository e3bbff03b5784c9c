"""The HTTP API, version 1: what would help, what was decided of it, and what became of it."""

import gzip
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.errors import NotAllowedError
from roofline.library.advising import Decision
from roofline.library.reader import ProfileReader
from roofline.storage.results import ADVICE
from roofline.web.api.audit import JSON_LINES, log_action
from roofline.web.api.comparing import note_compared, sides_of
from roofline.web.api.ranges import Range
from roofline.web.api.responses import NO_SUCH_VIEW, NOT_READY, NOT_YOURS, sent_as
from roofline.web.api.results import computed, stored_advice
from roofline.web.http.encodings import sent_json
from roofline.web.http.guard import actor_of
from roofline.web.http.rights import check_may_change
from roofline.web.parts import Library, Lists, Parts, Reader

router = APIRouter(prefix="/api/v1", tags=["advice"])


# A number as JSON has it: neither a truth value nor a text is taken for one.
Number = Annotated[float, Body(strict=True, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionBody:
    """A decision on a finding, by its `id`; "open" takes a decision back."""

    finding: str
    state: Decision
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureBody:
    """The id of the later profile."""

    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredEntryBody:
    """The changes that a later profile shows, in us."""

    profile: str
    at: str
    term_us: Number
    side_us: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryBody:
    """An entry of the ledger; docs/advice.md."""

    profile: str
    finding: str
    state: Literal["accepted", "dismissed"]
    at: str
    rule: str
    device: str
    unit: str
    term: str
    ops: list[str]
    title: str
    saving_us: Number
    reason: str = ""
    measured: MeasuredEntryBody | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerBody:
    """Entries of another ledger, as `GET /api/v1/ledger` gives them."""

    entries: list[EntryBody]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredBody:
    """Accepted findings with what was measured of them; see docs/advice.md."""

    entries: tuple[dict[str, Any], ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateBody:
    """How often a rule was right on a device: hits, their median and quartiles."""

    rule: str
    device: str
    count: int
    median: float
    low: float
    high: float
    corrects: bool


@router.get("/profiles/{profile_id}/advice", responses=NO_SUCH_VIEW)
async def advice(
    request: Request,
    profile_id: str,
    parts: Parts,
    reader: Reader,
    lists: Lists,
    part: Range,
) -> Response:
    """The advice, by what each finding adds to those before it; docs/advice.md."""
    if part is not None:
        return await stored_advice(request, profile_id, reader, part)
    stored = await stored_record(reader, profile_id)
    run = await run_in_threadpool(reader.manifest, profile_id)
    decided = await run_in_threadpool(parts.advice.advice, reader, lists, run, lambda: stored)
    return await sent_json(request, decided or stored)


@router.post("/profiles/{profile_id}/decisions", status_code=204, responses=NOT_YOURS | NOT_READY)
async def decide(
    request: Request,
    profile_id: str,
    given: DecisionBody,
    parts: Parts,
    reader: Reader,
    library: Library,
) -> None:
    """Accept a finding, to be measured by a later profile; dismiss it; or take that back.

    For the profile's uploader and administrators.
    """
    await _check(request, library, profile_id)
    stored = await stored_record(reader, profile_id)
    await run_in_threadpool(
        parts.advice.decide, profile_id, stored, given.finding, given.state, given.reason
    )
    details = f"{given.state}: {given.finding[:100]}"
    await run_in_threadpool(log_action, request, "decide", profile_id, details=details)


@router.post("/profiles/{profile_id}/measured", responses=NOT_YOURS | NOT_READY)
async def measure(
    request: Request,
    profile_id: str,
    given: MeasureBody,
    parts: Parts,
    reader: Reader,
    library: Library,
) -> MeasuredBody:
    """Read accepted findings from the terms of a later profile, and keep what they saved.

    For the uploader of the first profile and administrators.
    """
    await _check(request, library, profile_id)
    sides = await sides_of(reader, (profile_id,), (given.after,))
    note_compared(request, (profile_id, given.after))
    found = await run_in_threadpool(parts.advice.measured, profile_id, given.after, sides)
    kept = await run_in_threadpool(parts.advice.keep, found)
    await run_in_threadpool(log_action, request, "measure", profile_id, details=given.after)
    return MeasuredBody(entries=tuple(kept))


@router.get("/ledger", response_class=Response, responses={200: sent_as(JSON_LINES)})
def ledger(request: Request, parts: Parts) -> Response:
    """Decisions on findings of all profiles, with what was measured of them, as JSON lines."""
    from roofline.exports.ledger import entries_to_lines

    content = entries_to_lines(parts.advice.every(actor_of(request).viewer))
    return Response(content, media_type=JSON_LINES)


@router.get("/ledger/rates")
def rule_rates(parts: Parts) -> list[RateBody]:
    """How often each rule was right on each device."""
    return [RateBody(**one) for one in parts.advice.rates()]


@router.post("/ledger", status_code=204, responses=NOT_YOURS)
def add_entries(request: Request, given: LedgerBody, parts: Parts) -> None:
    """Take the hits of another ledger, so that they correct predictions here; administrators."""
    if not actor_of(request).is_admin:
        raise NotAllowedError(
            "Only an administrator can add to the ledger.", remedy="Ask one of them."
        )
    count = parts.advice.add([asdict(one) for one in given.entries])
    log_action(request, "add to ledger", details=f"{count} hits")


async def _check(request: Request, library: Library, profile_id: str) -> None:
    ownership = await run_in_threadpool(library.ownership, profile_id)
    check_may_change(actor_of(request), profile_id, ownership)


async def stored_record(reader: ProfileReader, profile_id: str) -> bytes:
    """The stored advice of a profile, as JSON; nothing in it is decided."""
    _, packed = await computed(reader, profile_id, partial(reader.packed, profile_id, ADVICE))
    return await run_in_threadpool(gzip.decompress, packed)
