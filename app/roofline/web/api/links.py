"""The HTTP API, version 1: the share links of a profile, for its uploader and administrators."""

import time
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Body, Request

from roofline.errors import BadEditError, ProfileNotFoundError
from roofline.storage.share_links import ShareLink
from roofline.web.api.audit import log_action
from roofline.web.api.responses import DAY_S, NOT_YOURS, moment
from roofline.web.http.api_tokens import new_share_token, share_path
from roofline.web.http.guard import actor_of
from roofline.web.http.rights import check_may_change
from roofline.web.parts import Parts

NAME_LENGTH = 80
LONGEST_DAYS = 3650.0

router = APIRouter(prefix="/api/v1/profiles/{profile_id}/links", tags=["links"])


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


@router.get("", response_model_exclude_none=True, responses=NOT_YOURS)
def list_links(request: Request, profile_id: str, parts: Parts) -> LinkList:
    """The share links of a profile, with their last use; for its uploader and administrators."""
    _check(request, profile_id, parts)
    found = parts.instance.store.share_links.list(profile_id)
    return LinkList(links=tuple(map(_body, found)))


@router.post("", status_code=201, response_model_exclude_none=True, responses=NOT_YOURS)
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
    origin = str(request.base_url).rstrip("/")
    return replace(_body(made), url=f"{origin}{share_path(token)}")


@router.delete("/{link_id}", status_code=204, responses=NOT_YOURS)
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
