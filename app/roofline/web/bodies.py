"""The answers of the API, as FastAPI documents and serialises them; `None` fields are left out.

Pages show the same: templates are given these bodies, too.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from fastapi import Request

from roofline.errors import MixedUploadError
from roofline.library.reader import Failed, Importing, Ready, State
from roofline.library.results_version import changes_since
from roofline.library.samples import Sample
from roofline.model.plain_data import alike, taken
from roofline.storage.records import Manifest, StoredFile, Summary, Visibility
from roofline.web.http.access import shown_owner
from roofline.web.http.forwarded import origin_of
from roofline.web.offline.views import ComputedBody, ErrorBody, ProgressBody, error_body

REV_LENGTH = 16


REFUSES_OTHERS = {"extra": "forbid"}
"""For the library that reads bodies: a key that nothing reads is refused, as it may be misspelt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBody:
    """One raw file of a profile."""

    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileBody:
    """A profile in one of the states `importing`, `ready` and `failed`.

    `progress` is there while importing, `summary` and
    `computed_by` when ready, the error's fields when failed;
    `retry_url` where a POST there may help.
    `delete_token` is given once, to the uploader: it deletes the profile when sent as the header
    `X-Delete-Token`.
    """

    id: str
    url: str
    state: Literal["importing", "ready", "failed"]
    title: str
    files: tuple[FileBody, ...]
    note: str | None = None
    tags: tuple[str, ...] | None = None
    uploader: str | None = None
    pinned: bool | None = None
    visibility: Visibility | None = None
    expires_at: str | None = None
    created_at: str | None = None
    delete_token: str | None = None
    format: str | None = None
    progress: ProgressBody | None = None
    summary: Summary | None = None
    rev: str | None = None
    message: str | None = None
    remedy: str | None = None
    code: str | None = None
    details: dict[str, Any] | None = None
    retry_url: str | None = None
    computed_by: "ComputedBody | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadErrorBody(ErrorBody):
    """Why an upload failed.

    Where its import failed, the files are kept for a week: the profile `id` has failed. Where they
    are not what was wrong, a POST to `retry_url` imports them again. Where they are several
    profiles (`mixed-upload`), a POST to `split_url` makes a profile of each group. `delete_token`
    allows both, and to delete the files, when sent as the header `X-Delete-Token`.
    """

    id: str | None = None
    url: str | None = None
    retry_url: str | None = None
    split_url: str | None = None
    delete_token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileList:
    """One page of profiles, pinned ones first, then newest first; `total` counts all that match."""

    profiles: tuple[ProfileBody, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EditBody:
    """Changes of a profile; fields that are left out stay as they are, others are refused."""

    __pydantic_config__ = REFUSES_OTHERS

    title: str | None = None
    note: str | None = None
    tags: tuple[str, ...] | None = None
    pinned: bool | None = None
    visibility: Visibility | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleBody:
    """A bundled profile; POST to `open_url` opens it, to `beside_url` another to compare it with.

    `headline` and `picture` (an `svg` element) are of its page, for some.
    """

    name: str
    title: str
    description: str
    open_url: str
    size_bytes: int
    beside_url: str = ""
    headline: str = ""
    picture: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleList:
    """The bundled profiles."""

    samples: tuple[SampleBody, ...]


def profile_url(request: Request, profile_id: str) -> str:
    """The full address of a profile's page, as this client reaches the server and the profile."""
    path = getattr(request.state, "share_path", f"/p/{profile_id}")
    return f"{origin_of(request)}{path}"


def split_url(profile_id: str) -> str:
    """The path that makes several profiles of one upload."""
    return f"/api/v1/profiles/{profile_id}/split"


def retry_url(profile_id: str) -> str:
    """The path that has a failed import run again."""
    return f"/api/v1/profiles/{profile_id}/retry"


def upload_error_body(
    request: Request, state: Failed, delete_token: str | None = None
) -> UploadErrorBody:
    """Why an upload failed, and how to go on with the files that the server kept."""
    return UploadErrorBody(
        **asdict(error_body(state.error)),
        id=state.id,
        url=profile_url(request, state.id),
        retry_url=retry_url(state.id) if state.can_retry else None,
        split_url=split_url(state.id) if isinstance(state.error, MixedUploadError) else None,
        delete_token=delete_token,
    )


def body_of(request: Request, state: State) -> ProfileBody:
    """How a profile stands, for a program."""
    match state:
        case Ready(manifest=manifest):
            return stored_body(request, manifest, rev=state.page.etag[:REV_LENGTH])
        case Importing():
            return _importing_body(request, state)
        case Failed():
            return _failed_body(request, state)


def stored_body(request: Request, manifest: Manifest, *, rev: str | None = None) -> ProfileBody:
    """A stored profile; `rev` makes the address of its page data immutable."""
    return alike(
        ProfileBody,
        manifest,
        url=profile_url(request, manifest.id),
        state="ready",
        files=_files(manifest.files),
        uploader=shown_owner(manifest.uploader or "") or None,
        rev=rev,
        computed_by=None if rev is None else computed_by(manifest),
    )


def computed_by(manifest: Manifest) -> ComputedBody:
    """The release that computed a profile's numbers, and what it changed in them."""
    changes = changes_since(manifest.before, manifest.format)
    return ComputedBody(release=manifest.release, changes=changes)


def sample_body(sample: Sample) -> SampleBody:
    """A bundled profile, and where to POST to open it."""
    return alike(
        SampleBody,
        sample,
        open_url=_sample_url(sample.name),
        beside_url=_sample_url(sample.beside) if sample.beside else "",
        headline=sample.sight.headline if sample.sight else "",
        picture=sample.sight.picture if sample.sight else "",
    )


def _sample_url(name: str) -> str:
    return f"/api/v1/samples/{name}"


def _importing_body(request: Request, state: Importing) -> ProfileBody:
    return ProfileBody(
        id=state.id,
        url=profile_url(request, state.id),
        state="importing",
        title=state.title,
        files=_files(state.files),
        visibility=state.visibility,
        progress=progress_body(state),
    )


def _failed_body(request: Request, state: Failed) -> ProfileBody:
    return ProfileBody(
        **asdict(error_body(state.error)),
        id=state.id,
        url=profile_url(request, state.id),
        state="failed",
        title=state.title,
        files=_files(state.files),
        visibility=state.visibility,
        retry_url=retry_url(state.id) if state.can_retry else None,
    )


def progress_body(state: Importing) -> ProgressBody:
    """How far an import is, for programs and templates."""
    waits = taken(state, "elapsed_s", "waits_for", "needs_bytes")
    return alike(ProgressBody, state.progress, **waits)


def _files(files: Sequence[StoredFile]) -> tuple[FileBody, ...]:
    return tuple(alike(FileBody, one) for one in files)
