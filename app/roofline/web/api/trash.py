"""The HTTP API, version 1: profiles and runs that were deleted, until they are purged."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from fastapi import APIRouter, Request

from roofline.model.plain_data import alike
from roofline.storage.records import Trashed
from roofline.storage.run_records import TrashedRun
from roofline.storage.visibility import ALL_SEEING
from roofline.web.api.audit import log_action
from roofline.web.api.responses import MOST_LISTED, NO_ROOM, NOT_YOURS, Limit, Offset
from roofline.web.bodies import ProfileBody, body_of
from roofline.web.http.access import Actor, shown_owner
from roofline.web.http.guard import actor_of
from roofline.web.http.rights import DeleteToken, check_may_change, check_may_change_run
from roofline.web.parts import Library, Parts, ServerParts

router = APIRouter(prefix="/api/v1", tags=["trash"])


@dataclass(frozen=True, slots=True, kw_only=True)
class TrashedBody:
    """A profile in the trash; `reason` is deleted, expired or over quota.

    It can be restored until `gone_at`, or until the disk needs the room.
    """

    id: str
    title: str
    created_at: str
    trashed_at: str
    gone_at: str
    reason: str
    size_bytes: int
    restore_url: str
    uploader: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrashedRunBody:
    """A run in the trash, until `gone_at` or until the disk needs the room.

    `size_bytes` counts hosts that were pushed: others are not kept here.
    """

    id: str
    title: str
    created_at: str
    trashed_at: str
    gone_at: str
    hosts: int
    size_bytes: int
    restore_url: str
    uploader: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrashList:
    """The content of the trash, the newest first; the totals count all."""

    profiles: tuple[TrashedBody, ...]
    runs: tuple[TrashedRunBody, ...]
    total: int
    runs_total: int


@router.get("/trash", response_model_exclude_none=True)
def list_trash(
    request: Request, parts: Parts, offset: Offset = 0, limit: Limit = MOST_LISTED
) -> TrashList:
    """Your profiles and runs in the trash; for administrators, those of everybody.

    `offset` and `limit` are of each of the two lists.
    """
    return trash_of(actor_of(request), parts, offset, limit)


@router.post(
    "/profiles/{profile_id}/restore",
    response_model_exclude_none=True,
    responses={**NOT_YOURS, **NO_ROOM},
)
def restore_profile(
    request: Request,
    profile_id: str,
    parts: Parts,
    x_delete_token: DeleteToken = "",
) -> ProfileBody:
    """Take a profile out of the trash; an import that was cancelled starts again.

    It counts for the quota of its uploader again: answered with 507 where that has no room.
    For its uploader, administrators, and anyone holding the delete token returned by the upload.
    """
    library = parts.library
    check_may_change(actor_of(request), profile_id, library.ownership(profile_id), x_delete_token)
    library.restore(profile_id)
    log_action(request, "restore", profile_id)
    # Also for holders of the delete token, who may not see it otherwise.
    return body_of(request, parts.reader_for(ALL_SEEING).state(profile_id))


@router.delete("/trash/{profile_id}", status_code=204, responses=NOT_YOURS)
def purge_profile(
    request: Request, profile_id: str, library: Library, x_delete_token: DeleteToken = ""
) -> None:
    """Delete a profile that is in the trash for good, with its files.

    For its uploader, administrators, and anyone holding the delete token returned by the upload.
    """
    check_may_change(actor_of(request), profile_id, library.ownership(profile_id), x_delete_token)
    library.purge(profile_id)
    log_action(request, "purge", profile_id)


@router.delete("/trash/runs/{run_id}", status_code=204, responses=NOT_YOURS)
def purge_run(
    request: Request, run_id: str, parts: Parts, x_delete_token: DeleteToken = ""
) -> None:
    """Delete a run that is in the trash for good, with the files that were pushed to it.

    For its owner, administrators, and anyone holding its delete token.
    """
    owned = parts.runs.ownership(run_id, in_trash=True)
    check_may_change_run(actor_of(request), run_id, owned, x_delete_token)
    parts.runs.purge(run_id)
    log_action(request, "purge run", run_id)


def trash_of(
    actor: Actor, parts: ServerParts, offset: int = 0, limit: int = MOST_LISTED
) -> TrashList:
    """The trash that `actor` may restore."""
    chosen = slice(offset, offset + limit)
    kept = timedelta(days=parts.settings.trash_days)
    profiles = parts.lists_for(actor.viewer).trashed()
    runs = parts.runs.in_trash(actor.viewer)
    return TrashList(
        profiles=tuple(_body(one, kept) for one in profiles[chosen]),
        runs=tuple(_run_body(one, kept) for one in runs[chosen]),
        total=len(profiles),
        runs_total=len(runs),
    )


def _gone_at(trashed_at: str, kept: timedelta) -> str:
    gone_at = datetime.fromisoformat(trashed_at) + kept
    return gone_at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _run_body(one: TrashedRun, kept: timedelta) -> TrashedRunBody:
    return alike(
        TrashedRunBody,
        one,
        gone_at=_gone_at(one.trashed_at, kept),
        restore_url=f"/api/v1/runs/{one.id}/restore",
        uploader=shown_owner(one.uploader or "") or None,
    )


def _body(one: Trashed, kept: timedelta) -> TrashedBody:
    return alike(
        TrashedBody,
        one,
        gone_at=_gone_at(one.trashed_at, kept),
        restore_url=f"/api/v1/profiles/{one.id}/restore",
        uploader=shown_owner(one.uploader or "") or None,
    )
