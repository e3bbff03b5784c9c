"""The pages: home, one profile, the API reference, and errors."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any
from urllib.parse import urlencode

import orjson
from fastapi import APIRouter, Query, Request, Response

from roofline.library.reader import ProfileReader
from roofline.library.states import Failed, Importing, Ready, State
from roofline.presentation.first_view.view import FirstView, first_view
from roofline.storage.queries import ProfileQueries
from roofline.storage.records import Manifest, StoredFile
from roofline.storage.results import DamagedResultError, ResultFile
from roofline.web.api.limits import limits_of
from roofline.web.api.tokens import tokens_of
from roofline.web.api.trash import trash_of
from roofline.web.bodies import REV_LENGTH, progress_body, sample_body
from roofline.web.http.access import shown_owner
from roofline.web.http.errors import ErrorView, error_body
from roofline.web.http.guard import actor_of
from roofline.web.http.response_cache import keep
from roofline.web.pages import views
from roofline.web.parts import Pages, Parts, Reader, parts_of

PAGE_SIZE = 50
TAGS_SHOWN = 12
FIRST_VIEWS = 64  # kept for viewers whose page differs in nothing but their name

# HEAD too: link previews and monitors ask with it.
_READ = ["GET", "HEAD"]

router = APIRouter(include_in_schema=False)


@router.api_route("/", methods=_READ)
def home(
    request: Request,
    parts: Parts,
    q: Annotated[str, Query(max_length=200)] = "",
    tag: Annotated[str, Query(max_length=200)] = "",
    page: Annotated[int, Query(ge=1, le=9_999)] = 1,
) -> Response:
    """Drop zone, pinned and recent profiles, and samples."""
    settings = parts.settings
    view = views.HomeView(
        list=_list(parts.queries, q, tag, page),
        samples=tuple(sample_body(sample) for sample in parts.library.samples()),
        upload_url="/api/v1/profiles",
        origin=_origin(request),
        max_upload_bytes=settings.max_upload_bytes,
        max_files=settings.max_files,
        kept_days=settings.retention_days,
        wants_token=parts.door is not None,
        has_trash=settings.trash_days > 0,
    )
    return parts.templates.page("home.html", view, request)


@router.api_route("/p/{profile_id}", methods=_READ)
def profile(request: Request, profile_id: str, reader: Reader, parts: Parts) -> Response:
    """One profile: its charts and tables, its progress, or why it could not be imported."""
    state = reader.state(profile_id)
    uploader = state.manifest.uploader if isinstance(state, Ready) else state.uploader
    may_change = actor_of(request).may_change(uploader or "")
    if isinstance(state, Ready):
        keep(request)
    view = replace(
        _profile(state),
        may_change=may_change,
        max_upload_bytes=parts.settings.max_upload_bytes,
        max_files=parts.settings.max_files,
        budgets=_budgets(reader, profile_id),
        advice=_advice(reader, profile_id),
        first=None if not isinstance(state, Ready) else _first(state.page),
        trash_days=parts.settings.trash_days,
    )
    return parts.templates.page("profile.html", view, request)


@router.api_route("/api", methods=_READ)
def reference(request: Request, pages: Pages) -> Response:
    """The API reference."""
    openapi: Mapping[str, Any] = request.app.openapi()
    view = views.ApiView(openapi=openapi, origin=_origin(request))
    return pages.page("api.html", view, request)


@router.api_route("/static/{build}/{name:path}", methods=_READ)
def static_file(request: Request, build: str, name: str, parts: Parts) -> Response:
    """A script, style sheet, font or picture."""
    return parts.static.response(request, build, name)


@router.api_route("/limits", methods=_READ)
def limits_page(request: Request, parts: Parts) -> Response:
    """What this server takes, and how long it keeps it, for people."""
    return parts.templates.page("limits.html", limits_of(parts.settings), request)


@router.api_route("/tokens", methods=_READ)
def tokens_page(request: Request, parts: Parts) -> Response:
    """The tokens of this person, to make and to revoke; an administrator sees those of all."""
    actor = actor_of(request)
    view = views.TokensView(
        tokens=tokens_of(actor, parts, everybody=actor.is_admin),
        can_make=parts.token_holders is not None and actor.owner != "" and actor.scope is None,
        is_admin=actor.is_admin,
    )
    return parts.templates.page("tokens.html", view, request)


@router.api_route("/trash", methods=_READ)
def trash_page(request: Request, parts: Parts) -> Response:
    """Profiles that were deleted, to restore or to delete for good."""
    profiles = trash_of(actor_of(request), parts)
    view = views.TrashView(profiles=profiles, kept_days=parts.settings.trash_days)
    return parts.templates.page("trash.html", view, request)


def error_page(request: Request, view: ErrorView) -> Response:
    """A failed request as a page."""
    return parts_of(request).templates.page("error.html", view, request, status=view.status)


def _origin(request: Request) -> str:
    return str(request.base_url).rstrip("/")


def _list(queries: ProfileQueries, query: str, tag: str, page: int) -> views.ListView:
    offset = (page - 1) * PAGE_SIZE
    found = queries.search(query, tag=tag, offset=offset, limit=PAGE_SIZE)
    has_later = offset + PAGE_SIZE < found.total
    return views.ListView(
        profiles=tuple(_listed(manifest) for manifest in found.profiles),
        total=found.total,
        first=offset + 1,
        query=query,
        tag=tag,
        tags=tuple(map(_tag, queries.frequent_tags(TAGS_SHOWN))),
        earlier_url=_list_url(query, tag, page - 1) if page > 1 else None,
        later_url=_list_url(query, tag, page + 1) if has_later else None,
    )


# Tags repeat: a list of 50 profiles has a hundred of them.
@lru_cache(maxsize=1024)
def _list_url(query: str, tag: str, page: int) -> str:
    wanted = {"q": query, "tag": tag, "page": str(page) if page > 1 else ""}
    given = {name: value for name, value in wanted.items() if value}
    return f"/?{urlencode(given)}" if given else "/"


def _tag(name: str) -> views.TagView:
    return views.TagView(name=name, url=_list_url("", name, 1))


def _listed(manifest: Manifest) -> views.ListedProfile:
    return views.ListedProfile(
        manifest=manifest,
        url=f"/p/{manifest.id}",
        tags=tuple(map(_tag, manifest.tags)),
        uploader=shown_owner(manifest.uploader or ""),
    )


def _budgets(reader: ProfileReader, profile_id: str) -> Sequence[Mapping[str, Any]]:
    """How the time divides; nothing without a timeline, and while the profile is not ready."""
    found = reader.budget(profile_id)
    scopes: list[Mapping[str, Any]] = [] if found is None else orjson.loads(found)["scopes"]
    return scopes


def _advice(reader: ProfileReader, profile_id: str) -> Mapping[str, Any] | None:
    """What would help; `None` while the profile is not ready."""
    found = reader.advice(profile_id)
    record: Mapping[str, Any] | None = None if found is None else orjson.loads(found)
    return record


@lru_cache(maxsize=FIRST_VIEWS)
def _first_view(page: ResultFile) -> FirstView:
    return first_view(orjson.loads(page.plain()))


def _first(page: ResultFile) -> FirstView | None:
    """What the page shows before its script: made once per result."""
    try:
        return _first_view(page)
    except DamagedResultError:  # the script finds that out, too, and has it computed again
        return None


def _profile(state: State) -> views.ProfileView:
    match state:
        case Ready(manifest=manifest):
            rev = state.page.etag[:REV_LENGTH]
            view = _profile_view(manifest.id, manifest.title, manifest.files, "ready", rev=rev)
            return replace(view, about=_about(manifest), description=_line(manifest))
        case Importing():
            view = _profile_view(state.id, state.title, state.files, "importing")
            return replace(view, progress=progress_body(state))
        case Failed(error=error):
            view = _profile_view(state.id, state.title, state.files, "failed")
            return replace(view, failure=error_body(error), can_retry=state.can_retry)


def _profile_view(
    profile_id: str,
    title: str,
    files: Sequence[StoredFile],
    state: str,
    *,
    rev: str = "",
) -> views.ProfileView:
    base = f"/api/v1/profiles/{profile_id}"
    return views.ProfileView(
        id=profile_id,
        title=title,
        state=state,
        description="",
        status_url=base,
        page_url=f"{base}/page?rev={rev}" if rev else "",
        roofline_url=f"{base}/roofline",
        csv_url=f"{base}/roofline.csv",
        ops_url=f"{base}/ops",
        source_url=f"{base}/source",
        delete_url=base,
        progress=None,
        failure=None,
        can_retry=False,
        file_names=tuple(file.name for file in files),
        size_bytes=sum(file.size_bytes for file in files),
        about=None,
        budgets=(),
        advice=None,
        first=None,
        may_change=False,
        max_upload_bytes=0,
        max_files=0,
    )


def _about(manifest: Manifest) -> views.AboutView:
    return views.AboutView(
        note=manifest.note,
        tags=tuple(_tag(name) for name in manifest.tags),
        uploader=shown_owner(manifest.uploader or ""),
        created_at=manifest.created_at,
        expires_at=manifest.expires_at,
        pinned=manifest.pinned,
    )


def _line(manifest: Manifest) -> str:
    """One line for link previews: device, cores, bound and share of the roof."""
    summary = manifest.summary
    parts = [f"{summary.device}, {summary.core_count} {summary.core_word}s"]
    if summary.bound_by is not None:
        parts.append(f"bound by {summary.bound_by}")
    if summary.efficiency_ratio is not None:
        parts.append(f"{summary.efficiency_ratio:.0%} of the roof")
    return " · ".join(parts)
