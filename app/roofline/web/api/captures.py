"""The HTTP API, version 1: captures of programs that run, where the server's owner lists them."""

import asyncio
import math
import time
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from roofline.capture.profiler_service import CaptureOptions
from roofline.errors import NotAllowedError, TooManyRequestsError
from roofline.library.captures import Capture, CaptureAsked, CaptureBook
from roofline.model.plain_data import alike
from roofline.storage.records import Visibility
from roofline.web.api.audit import log_action
from roofline.web.api.responses import Responses, Wait
from roofline.web.http.guard import actor_of, peer_of_request
from roofline.web.offline.views import ErrorBody
from roofline.web.parts import Parts, ServerParts

INTERVAL_S = 0.2
NO_CAPTURE: Responses = {
    404: {"model": ErrorBody, "description": "There is no such capture, or no targets are listed."}
}

router = APIRouter(prefix="/api/v1", tags=["captures"])


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCaptureBody:
    """Programs to capture, each `HOST:PORT` of `jax.profiler.start_server`; several are one run.

    `host_level` is from 0 to 3, `python` records Python's functions, and without `hlo` no FLOPs
    are known.
    """

    addresses: tuple[str, ...]
    duration_ms: int = 2000
    host_level: int = 2
    python: bool = False
    hlo: bool = True
    retries: int = 2
    title: str = ""
    tags: tuple[str, ...] = ()
    visibility: Visibility | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedHostBody:
    """One address: `waiting`, `recording`, `fetching`, `reading` or `failed`, and why."""

    address: str
    state: str
    bytes: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureBody:
    """A capture: `running` or `ended`. `profile` or `run` is the address of its result; `version`
    grows with each change."""

    id: str
    state: str
    version: int
    hosts: tuple[CapturedHostBody, ...]
    profile: str | None = None
    run: str | None = None


def _book(request: Request, parts: ServerParts) -> CaptureBook:
    """Where captures are; an address that is not there where none are allowed."""
    if not parts.captures.targets:
        raise HTTPException(404)
    if not actor_of(request).may_capture:
        raise NotAllowedError(
            "You may not have programs captured.",
            remedy="Ask an administrator, or use a token with the scope `capture`.",
        )
    return parts.captures


@router.post(
    "/captures",
    status_code=202,
    response_model_exclude_none=True,
    responses={
        403: {"model": ErrorBody, "description": "An address is not listed, or no right."},
        404: {"model": ErrorBody, "description": "No targets are listed."},
        429: {"model": ErrorBody, "description": "Too many captures; see `Retry-After`."},
        501: {"model": ErrorBody, "description": "The extra `capture` is not installed."},
    },
)
def add_capture(
    request: Request, response: Response, wish: NewCaptureBody, parts: Parts
) -> CaptureBody:
    """Capture programs that run. Only what `ROOFLINE_CAPTURE_TARGETS` lists is connected to."""
    capture = begun(request, wish, parts)
    response.headers["location"] = f"/api/v1/captures/{capture.id}"
    return _body(capture)


def begun(request: Request, wish: NewCaptureBody, parts: ServerParts) -> Capture:
    """The capture that the sender asks for, which goes on. Raises as `add_capture` answers."""
    book, actor = _book(request, parts), actor_of(request)
    peer = peer_of_request(request).address
    wait_s = parts.capture_rate.take(actor.owner or peer)
    if wait_s is not None:
        raise TooManyRequestsError(
            f"You have asked for {parts.settings.captures_per_hour} captures within the hour.",
            remedy=f"Try again in {math.ceil(wait_s / 60)} min.",
            retry_after_s=wait_s,
        )
    options = alike(CaptureOptions, wish)
    asked = alike(CaptureAsked, wish, options=options, owner=actor.owner)
    typed = " ".join(wish.addresses)[:1000]
    details = f"{typed} for {wish.duration_ms} ms, host level {wish.host_level}"
    log_action(request, "capture.asked", details=details)
    return book.begin(asked, partial(_log_end, request))


def _log_end(request: Request, capture: Capture) -> None:
    subject = capture.profile_id or capture.run_id or ""
    log_action(request, "capture.done", subject, details=capture.outcome)


@router.get("/captures/{capture_id}", response_model_exclude_none=True, responses=NO_CAPTURE)
async def read_capture(
    request: Request,
    capture_id: str,
    parts: Parts,
    wait: Wait = 0.0,
    seen: Annotated[int, Query(description="The `version` that is known.")] = -1,
) -> CaptureBody:
    """How a capture stands; waits up to `wait` seconds for another version than `seen`, or for the
    end where no version is named."""
    capture, until = _asked_for(request, parts, capture_id), time.monotonic() + wait
    while not capture.is_ended and seen in (-1, capture.version) and time.monotonic() < until:
        await asyncio.sleep(INTERVAL_S)
    return _body(capture)


@router.delete("/captures/{capture_id}", status_code=204, responses=NO_CAPTURE)
async def end_capture(request: Request, capture_id: str, parts: Parts) -> None:
    """End a recording: the part recorded until now is fetched and read."""
    capture = _asked_for(request, parts, capture_id)
    await run_in_threadpool(parts.captures.end, capture)
    await run_in_threadpool(log_action, request, "capture.ended", details=capture.outcome)


def _asked_for(request: Request, parts: ServerParts, capture_id: str) -> Capture:
    actor = actor_of(request)
    return _book(request, parts).get(capture_id, actor.owner, sees_all=actor.is_admin)


def _body(capture: Capture) -> CaptureBody:
    return CaptureBody(
        id=capture.id,
        state="ended" if capture.is_ended else "running",
        version=capture.version,
        hosts=tuple(
            CapturedHostBody(
                address=one.reached.typed, state=one.state, bytes=one.size_bytes, text=one.text
            )
            for one in capture.hosts
        ),
        profile=None if capture.profile_id is None else f"/p/{capture.profile_id}",
        run=None if capture.run_id is None else f"/r/{capture.run_id}",
    )
