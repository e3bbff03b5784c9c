"""One profile by its share link, without a log-in: its state, its data and its files.

There are no other routes below `/l/`, and a link reads as a viewer of its own, to whom all other
profiles do not exist: it can neither list nor search, compare or change anything.
"""

import time
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.errors import BadEditError, ProfileNotFoundError
from roofline.library.reader import ProfileReader, not_found
from roofline.presentation.figure_files import Form
from roofline.storage.revocable import ShareLink
from roofline.storage.visibility import Viewer
from roofline.web.api import devices, figures, results, views
from roofline.web.api.audit import log_action
from roofline.web.api.ranges import BaseRange, Range
from roofline.web.api.responses import (
    DAY_S,
    NO_SUCH_VIEW,
    NOT_READY,
    NOT_THERE,
    NOT_YOURS,
    moment,
    sent_as,
)
from roofline.web.api.results import About, Infeed
from roofline.web.bodies import ProfileBody, body_of
from roofline.web.http.access import Actor
from roofline.web.http.api_tokens import LINK_FOLDER, new_share_token, share_digest, share_path
from roofline.web.http.forwarded import origin_of
from roofline.web.http.guard import actor_of, peer_of_request
from roofline.web.http.rights import check_may_change
from roofline.web.parts import Parts

_PREFIX = f"{LINK_FOLDER}{{token}}"

router = APIRouter(prefix=_PREFIX, tags=["shared"])


@dataclass(frozen=True, slots=True)
class SharedProfile:
    """The profile of a valid link, what reads it, and the path that its addresses begin with."""

    id: str
    reader: ProfileReader
    path: str


def _shared(request: Request, token: str, parts: Parts) -> SharedProfile:
    """The profile behind a link; `ProfileNotFoundError` when it is revoked, over or unknown."""
    store = parts.instance.store
    link = store.share_links.find(share_digest(token))
    if link is None:
        raise not_found()
    # A link shows the same to everyone, also to people who are logged in.
    actor = Actor(name=f"link {link.name or link.id}")
    request.state.actor = actor
    request.state.share_path = share_path(token)
    part = request.scope["route"].path.removeprefix(_PREFIX).lstrip("/") or "profile"
    address = peer_of_request(request).address
    store.audit.note_read(f"read {part}", actor.name, address, link.profile_id)
    reader = parts.reader_for(Viewer(linked=link.profile_id))
    return SharedProfile(link.profile_id, reader, share_path(token))


Shared = Annotated[SharedProfile, Depends(_shared)]


@router.get("/state", name="profile_state", response_model_exclude_none=True, responses=NOT_READY)
async def state(request: Request, shared: Shared) -> ProfileBody:
    """Whether the profile is being imported, ready, or failed."""
    found = body_of(request, await run_in_threadpool(shared.reader.state, shared.id))
    return replace(found, uploader=None)


@router.get("/page", responses=NO_SUCH_VIEW)
async def page_data(request: Request, shared: Shared, part: Range) -> Response:
    """The data of the page, as one JSON document."""
    return await results.page_data(request, shared.id, shared.reader, part)


@router.get("/facts", responses=NO_SUCH_VIEW)
async def facts(request: Request, shared: Shared, part: Range) -> Response:
    """What was measured: the page data that every device has in common."""
    return await views.facts(request, shared.id, shared.reader, part)


@router.get("/view", responses=NO_SUCH_VIEW)
async def view(request: Request, shared: Shared, part: Range, infeed: Infeed = "in") -> Response:
    """What follows under these peaks."""
    return await views.view(request, shared.id, shared.reader, part, infeed)


@router.get("/parts", responses=NO_SUCH_VIEW)
async def other_parts(
    request: Request,
    shared: Shared,
    part: BaseRange,
    device: views.Devices = [],  # noqa: B006 (FastAPI copies it)
    usual: bool = False,
) -> Response:
    """What the subject would take on other parts."""
    return await views.other_parts(request, shared.id, shared.reader, part, device, usual)


@router.get("/roofline", responses=NO_SUCH_VIEW)
async def roofline(
    request: Request, shared: Shared, part: Range, infeed: Infeed = "in"
) -> Response:
    """Device, roofs, program points, ops and diagnostics at full precision."""
    return await results.roofline(request, shared.id, shared.reader, part, infeed)


@router.get(
    "/roofline.csv",
    response_class=Response,
    responses={200: sent_as("text/csv"), **NO_SUCH_VIEW},
)
async def roofline_csv(
    request: Request, shared: Shared, part: Range, infeed: Infeed = "in", about: About = False
) -> Response:
    """Every op as one row of CSV."""
    return await results.roofline_csv(request, shared.id, shared.reader, part, infeed, about)


@router.get("/xprof", responses=NO_SUCH_VIEW)
async def xprof(request: Request, shared: Shared) -> Response:
    """XProf's own tables of the whole capture."""
    return await results.xprof(request, shared.id, shared.reader)


@router.get(
    "/xprof.csv",
    response_class=Response,
    responses={200: sent_as("text/csv"), **NO_SUCH_VIEW},
)
async def xprof_csv(request: Request, shared: Shared) -> Response:
    """XProf's roofline table as XProf exports it."""
    return await results.xprof_csv(request, shared.id, shared.reader)


@router.get("/advice", responses=NO_SUCH_VIEW)
async def advice(request: Request, shared: Shared, part: Range) -> Response:
    """The advice, by what each finding adds to those before it."""
    return await results.stored_advice(request, shared.id, shared.reader, part)


@router.get("/figures", name="figures", responses=NO_SUCH_VIEW)
async def shown_figures(
    request: Request,
    shared: Shared,
    part: Range,
    choice: figures.Choice,
    vs: figures.Others = "",
) -> Response:
    """Both rooflines as figures of Plotly."""
    return await figures.figures(request, shared.id, shared.reader, part, choice, vs)


@router.get(figures.FIGURE, response_class=Response, responses=figures.FIGURE_SENT)
def figure_of(
    request: Request,
    shared: Shared,
    form: Form,
    part: Range,
    choice: figures.Choice,
    look: figures.Look,
) -> Response:
    """The roofline of the operations as a picture."""
    return figures.figure_of(request, shared.id, form, shared.reader, part, choice, look)


@router.get("/ops/{index}", responses=NO_SUCH_VIEW)
async def op_details(request: Request, shared: Shared, index: int, part: Range) -> Response:
    """Long name and source of one op."""
    return await results.op_details(request, shared.id, index, shared.reader, part)


@router.get(
    "/source",
    response_class=Response,
    responses={200: sent_as("application/octet-stream", "application/zip"), **NOT_READY},
)
def source(request: Request, shared: Shared) -> Response:
    """The uploaded file as it was; several files as a zip."""
    return results.source(request, shared.id, shared.reader)


@router.get("/devices", name="devices", responses=NOT_THERE)
async def device_list(request: Request, _shared: Shared) -> Response:
    """Parts with their published peaks, to hold the profile against; none that people measured."""
    return await devices.listed_devices(request, ())


NAME_LENGTH = 80
LONGEST_DAYS = 3650.0

links_router = APIRouter(prefix="/api/v1/profiles/{profile_id}/links", tags=["links"])


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLinkBody:
    """A link to be made; `name` says whom it is for, it ends `expires_days` from now if given."""

    name: Annotated[str, Body(max_length=NAME_LENGTH)] = ""
    expires_days: Annotated[float | None, Body(gt=0, le=LONGEST_DAYS)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkBody:
    """One share link; `url` holds its secret and is given once. Times are ISO 8601 in UTC."""

    id: str
    name: str
    created_at: str
    expires_at: str | None = None
    last_used_at: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkList:
    """Links that were not revoked, newest first."""

    links: tuple[LinkBody, ...]


@links_router.get("", response_model_exclude_none=True, responses=NOT_YOURS)
def list_links(request: Request, profile_id: str, parts: Parts) -> LinkList:
    """The share links of a profile, with their last use; for its uploader and administrators."""
    _check(request, profile_id, parts)
    found = parts.instance.store.share_links.list(profile_id)
    return LinkList(links=tuple(map(_body, found)))


@links_router.post("", status_code=201, response_model_exclude_none=True, responses=NOT_YOURS)
def make_link(request: Request, profile_id: str, new: NewLinkBody, parts: Parts) -> LinkBody:
    """Make a link that shows this profile without a log-in: its address is in this answer alone.

    It ends at its time, with the longest life that the server allows, when it is revoked, and with
    the token that made it. Tokens need the scope `share`.

    It shows the page, its data and the uploaded files, and nothing else of this server. While the
    profile is visible to its `owner` only, its links show nothing.
    """
    _check(request, profile_id, parts)
    days, longest_days = new.expires_days, parts.settings.link_days
    if days is not None and longest_days is not None and days > longest_days:
        raise BadEditError(
            f"Share links of this server last up to {longest_days:g} days.",
            remedy="Ask for fewer days, or leave them out.",
        )
    token, digest = new_share_token()
    made = parts.instance.store.share_links.add(
        digest,
        profile_id=profile_id,
        name="".join(ch for ch in new.name.strip() if ch.isprintable()),
        maker=actor_of(request).owner,
        token_id=actor_of(request).token_id,
        expires_at=None if days is None else time.time() + days * DAY_S,
    )
    log_action(request, "make link", profile_id, details=f"{made.id}: {made.name}")
    return replace(_body(made), url=f"{origin_of(request)}{share_path(token)}")


@links_router.delete("/{link_id}", status_code=204, responses=NOT_YOURS)
def revoke_link(request: Request, profile_id: str, link_id: str, parts: Parts) -> None:
    """Revoke a share link: its address is then an unknown one."""
    _check(request, profile_id, parts)
    if not parts.instance.store.share_links.revoke(profile_id, link_id):
        raise ProfileNotFoundError(
            "The profile has no link with this id.", remedy="It may have been revoked before."
        )
    log_action(request, "revoke link", profile_id, details=link_id)


def _check(request: Request, profile_id: str, parts: Parts) -> None:
    check_may_change(actor_of(request), profile_id, parts.library.ownership(profile_id))


def _body(link: ShareLink) -> LinkBody:
    return LinkBody(
        id=link.id,
        name=link.name,
        created_at=moment(link.created_at),
        expires_at=None if link.expires_at is None else moment(link.expires_at),
        last_used_at=None if link.used_at is None else moment(link.used_at),
    )
