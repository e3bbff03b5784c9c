"""The HTTP API, version 1: profiles as a list and one by one: follow, edit, delete."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from roofline.web.api.audit import log_action
from roofline.web.api.responses import NOT_READY, NOT_YOURS, Limit, Offset, Wait, settle
from roofline.web.bodies import EditBody, ProfileBody, ProfileList, body_of, stored_body
from roofline.web.http.guard import actor_of
from roofline.web.http.rights import DeleteToken, check_may_change
from roofline.web.parts import Library, Lists, Reader

router = APIRouter(prefix="/api/v1", tags=["profiles"])


@router.get("/profiles", response_model_exclude_none=True)
def list_profiles(
    request: Request,
    lists: Lists,
    q: Annotated[str, Query(max_length=200, description="Words of title, tag, device, who.")] = "",
    tag: Annotated[str, Query(max_length=200)] = "",
    device: Annotated[str, Query(max_length=200)] = "",
    offset: Offset = 0,
    limit: Limit = 50,
) -> ProfileList:
    """Profiles that match, pinned ones first, then newest first."""
    found = lists.search(q, tag=tag, device=device, offset=offset, limit=limit)
    listed = tuple(stored_body(request, manifest) for manifest in found.profiles)
    return ProfileList(profiles=listed, total=found.total)


@router.get("/failed-uploads", response_model_exclude_none=True)
def list_failed_uploads(
    request: Request,
    lists: Lists,
    offset: Offset = 0,
    limit: Limit = 50,
) -> ProfileList:
    """Your uploads that failed, the newest first; where they have a `retry_url`, a POST may help.

    Their files are kept for a week. Uploads without an owner are listed for administrators.
    """
    found = lists.failed_uploads(None)
    listed = tuple(body_of(request, one) for one in found[offset : offset + limit])
    return ProfileList(profiles=listed, total=len(found))


@router.get("/profiles/{profile_id}", response_model_exclude_none=True, responses=NOT_READY)
async def profile_state(
    request: Request, profile_id: str, reader: Reader, wait: Wait = 0.0
) -> ProfileBody:
    """Whether a profile is being imported (and how far), ready, or failed (and why)."""
    await settle(reader, profile_id, wait)
    return body_of(request, await run_in_threadpool(reader.state, profile_id))


@router.patch("/profiles/{profile_id}", response_model_exclude_none=True, responses=NOT_YOURS)
def edit_profile(
    request: Request, profile_id: str, edit: EditBody, library: Library
) -> ProfileBody:
    """Change title, note, tags, pin or visibility; for its uploader and administrators.

    `everybody` here sees it, holders of its share links (`link`), or its `owner` alone.
    """
    check_may_change(actor_of(request), profile_id, library.ownership(profile_id))
    manifest = library.edit(profile_id, **asdict(edit))
    details = "" if edit.visibility is None else f"visible to {edit.visibility}"
    log_action(request, "edit", profile_id, details=details)
    return stored_body(request, manifest)


@router.delete("/profiles/{profile_id}", status_code=204, responses=NOT_YOURS)
def delete_profile(
    request: Request, profile_id: str, library: Library, x_delete_token: DeleteToken = ""
) -> None:
    """Move a profile with its files to the trash, from where it can be restored for some days.

    An import under way is cancelled. For its uploader, administrators, and anyone holding the
    delete token returned by the upload.
    """
    check_may_change(actor_of(request), profile_id, library.ownership(profile_id), x_delete_token)
    library.delete(profile_id)
    log_action(request, "delete", profile_id)
