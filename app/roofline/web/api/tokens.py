"""The HTTP API, version 1: the tokens that people make for their tools."""

import time
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Query, Request

from roofline.errors import BadEditError, NotAllowedError, ProfileNotFoundError
from roofline.model.plain_data import alike
from roofline.storage.revocable import ApiToken, Scope
from roofline.web.api.audit import log_action
from roofline.web.api.responses import DAY_S, MOST_LISTED, NOT_THERE, Limit, Offset, moment
from roofline.web.http.access import Actor, shown_owner
from roofline.web.http.guard import actor_of
from roofline.web.parts import Parts, ServerParts

NAME_LENGTH = 80
USUAL_DAYS = 90.0
LONGEST_DAYS = 3650.0

router = APIRouter(prefix="/api/v1", tags=["tokens"])


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTokenBody:
    """A token to be made; `expires_days` from now, `null` for no end."""

    name: str
    scope: Scope = "upload"
    expires_days: float | None = USUAL_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBody:
    """One token; `token` is the secret itself, given once. Times are ISO 8601 in UTC."""

    id: str
    name: str
    scope: Scope
    owner: str
    created_at: str
    expires_at: str | None = None
    last_used_at: str | None = None
    token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenList:
    """Tokens that were not revoked, newest first; `total` counts all."""

    tokens: tuple[TokenBody, ...]
    total: int


@router.get("/tokens", response_model_exclude_none=True)
def list_tokens(
    request: Request,
    parts: Parts,
    everybody: Annotated[bool, Query(description="Of all people; for administrators.")] = False,
    offset: Offset = 0,
    limit: Limit = MOST_LISTED,
) -> TokenList:
    """Your tokens, with their last use."""
    found = tokens_of(actor_of(request), parts, everybody=everybody)
    return TokenList(tokens=found[offset : offset + limit], total=len(found))


@router.post("/tokens", status_code=201, response_model_exclude_none=True)
def make_token(request: Request, new: NewTokenBody, parts: Parts) -> TokenBody:
    """Make a token for a tool: its secret is in this answer, and nowhere afterwards.

    A token with the scope `read` reads, one with `upload` may do what you may but share links, one
    with `share` these, too, one with `capture` captures programs and changes nothing else, and one
    with `admin` does what administrators may. The last two are for administrators.
    """
    actor = actor_of(request)
    if parts.token_holders is None:
        raise NotAllowedError(
            "This server does not ask for tokens.",
            remedy="Send requests without one, or set ROOFLINE_AUTH.",
        )
    if new.scope in ("admin", "capture") and not actor.is_admin:
        raise NotAllowedError(
            f"Only an administrator can make a token with the scope `{new.scope}`.",
            remedy="Choose `share`, `upload` or `read`.",
        )
    token, digest = parts.token_holders.new(actor)
    expires_at = _end(new.expires_days)
    made = parts.instance.store.api_tokens.add(
        digest, name=_name(new.name), owner=actor.owner, scope=new.scope, expires_at=expires_at
    )
    log_action(request, "make token", made.id, details=f"{made.scope}: {made.name}")
    return replace(_body(made), token=token)


@router.delete("/tokens/{token_id}", status_code=204, responses=NOT_THERE)
def revoke_token(request: Request, token_id: str, parts: Parts) -> None:
    """Revoke a token: here at once, on other servers of the same database within ten seconds.

    The share links that were made with it end at once on all.
    """
    actor = actor_of(request)
    if not parts.instance.store.api_tokens.revoke(token_id, _whose(actor, everybody=True)):
        raise ProfileNotFoundError(
            "You have no token with this id.", remedy="It may have been revoked before."
        )
    log_action(request, "revoke token", token_id)


def tokens_of(
    actor: Actor, parts: ServerParts, *, everybody: bool = False
) -> tuple[TokenBody, ...]:
    """The tokens that `actor` may see; those of `everybody` for administrators only."""
    if everybody and not actor.is_admin:
        raise NotAllowedError(
            "Only an administrator can see the tokens of everybody.", remedy="Leave it out."
        )
    whose = _whose(actor, everybody=everybody)
    return tuple(map(_body, parts.instance.store.api_tokens.list(whose)))


def _whose(actor: Actor, *, everybody: bool) -> str | None:
    return None if everybody and actor.is_admin else actor.owner


def _name(text: str) -> str:
    name = "".join(ch for ch in text.strip() if ch.isprintable())
    if not name or len(name) > NAME_LENGTH:
        raise BadEditError(
            f"A token needs a name of 1 to {NAME_LENGTH} characters.",
            remedy="Say what uses it, such as `nightly`.",
        )
    return name


def _end(days: float | None) -> float | None:
    if days is None:
        return None
    if not 0 < days <= LONGEST_DAYS:
        raise BadEditError(
            f"A token lasts up to {LONGEST_DAYS:.0f} days.",
            remedy="Give `expires_days` in days, or null for no end.",
        )
    return time.time() + days * DAY_S


def _body(token: ApiToken) -> TokenBody:
    return alike(
        TokenBody,
        token,
        owner=shown_owner(token.owner),
        created_at=moment(token.created_at),
        expires_at=None if token.expires_at is None else moment(token.expires_at),
        last_used_at=None if token.used_at is None else moment(token.used_at),
    )
