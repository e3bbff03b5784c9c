"""Rights to change a profile: its uploader, administrators, anyone holding its delete token."""

import hashlib
import hmac
import secrets
from typing import Annotated

from fastapi import Header

from roofline.errors import NotAllowedError
from roofline.library.reader import not_found
from roofline.library.runs import no_run
from roofline.storage.records import Ownership
from roofline.storage.visibility import may_see
from roofline.web.http.access import Actor

DeleteToken = Annotated[
    str, Header(max_length=200, description="What the upload answered as `delete_token`.")
]


IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=16,
        max_length=200,
        description="A random text, a UUID say: the same upload sent again with it, because the"
        " answer was lost, is answered as the first was and stored once.",
    ),
]


def new_delete_token(key: str | None = None) -> tuple[str, str]:
    """A secret for the uploader, and its digest, which alone is stored; `key` always has one."""
    token = secrets.token_urlsafe(24) if key is None else _digest(f"delete {key}")
    return token, _digest(token)


def check_may_change(
    actor: Actor, profile_id: str, ownership: Ownership, delete_token: str | None = None
) -> None:
    """Raises `NotAllowedError` unless `actor`, or the holder of this token, may change the profile.

    `ProfileNotFoundError` where they do not see it either. `delete_token` is `None` for changes
    that it does not allow: all but deleting.
    """
    if actor.may_change(ownership.uploader or ""):
        return
    stored = ownership.delete_token_hash
    if delete_token and stored and hmac.compare_digest(_digest(delete_token), stored):
        return
    if not may_see(actor.viewer, profile_id, ownership):
        raise not_found()
    raise NotAllowedError(
        "Only the person who uploaded this profile, or an administrator, can change it.",
        remedy="Ask one of them."
        if delete_token is None
        else "Ask one of them, or send the token that the upload answered with as"
        " `X-Delete-Token`.",
    )


def check_may_change_run(
    actor: Actor, run_id: str, ownership: Ownership, delete_token: str = ""
) -> None:
    """The same for a run."""
    if actor.may_change(ownership.uploader or "") or _holds(delete_token, ownership):
        return
    if not may_see(actor.viewer, run_id, ownership):
        raise no_run()
    raise NotAllowedError(
        "Only the person who imported this run, or an administrator, can change it.",
        remedy="Ask one of them, or send the token that the import answered with as"
        " `X-Delete-Token`.",
    )


def check_may_push(actor: Actor, run_id: str, ownership: Ownership, delete_token: str = "") -> None:
    """The same for adding hosts: where a run has no owner, anyone may who knows its id."""
    if ownership.uploader is not None:
        check_may_change_run(actor, run_id, ownership, delete_token)


def _holds(delete_token: str, ownership: Ownership) -> bool:
    stored = ownership.delete_token_hash
    return bool(delete_token and stored and hmac.compare_digest(_digest(delete_token), stored))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
