"""The pages: home, one profile, the API reference, and errors."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from roofline.devices.this_machine import written_at_ns
from roofline.library.ranges import Part
from roofline.library.reader import ProfileLists, ProfileReader
from roofline.library.samples import SHOWN_AT_FIRST
from roofline.web.api.limits import limits_of
from roofline.web.api.ranges import PageRange, results_for
from roofline.web.api.tokens import tokens_of
from roofline.web.api.trash import trash_of
from roofline.web.bodies import sample_body
from roofline.web.http.encodings import best_encoding
from roofline.web.http.errors import ErrorView
from roofline.web.http.guard import actor_of
from roofline.web.http.templates import as_page
from roofline.web.pages import views
from roofline.web.pages.home_rows import failed_row, row_of
from roofline.web.pages.home_runs import Narrowed, found_runs, run_list
from roofline.web.pages.profile_view import in_range, own_view, tag_view
from roofline.web.pages.xprof import WantedXprof, xprof_page
from roofline.web.parts import Lists, Pages, Parts, Reader, ServerParts, parts_of

PAGE_SIZE = 50
TAGS_SHOWN = 12
FAILED_SHOWN = 5
# Key, label and first order of each column of the list: numbers and dates begin with the largest.
# A column without an order does not sort.
_HEADS = (
    ("title", "Profile", "title"),
    ("device", "Device", "device"),
    ("share", "Of the roof", "-share"),
    ("idle", "Idle", ""),
    ("first", "Do first", ""),
    ("added", "Added", "-added"),
)

# HEAD too: link previews and monitors ask with it.
_READ = ["GET", "HEAD"]

router = APIRouter(include_in_schema=False)


@router.api_route("/", methods=_READ)
def home(
    request: Request,
    parts: Parts,
    lists: Lists,
    reader: Reader,
    q: Annotated[str, Query(max_length=200)] = "",
    tag: Annotated[str, Query(max_length=200)] = "",
    page: Annotated[int, Query(ge=1, le=9_999)] = 1,
    sort: Annotated[str, Query(max_length=20)] = "",
    runs: Annotated[int, Query(ge=1, le=9_999)] = 1,
    joined: Annotated[str, Query(alias="with", max_length=200)] = "",
) -> Response:
    """Drop zone, runs of many hosts, pinned and recent profiles, and samples."""
    settings = parts.settings
    narrowed = Narrowed(query=q, tag=tag, sort=sort)
    has_runs = page == 1 and not tag  # runs have no tags
    view = views.HomeView(
        joined=(joined, reader.manifest(joined).title) if joined else None,
        list=_list(lists, narrowed, page),
        runs=run_list(parts, actor_of(request).viewer, narrowed, runs)
        if has_runs
        else views.RunListView(),
        found=found_runs(parts.runs, actor_of(request).viewer)
        if has_runs and not q
        else views.FoundRunsView(),
        failed=tuple(map(failed_row, lists.failed_uploads(FAILED_SHOWN))) if page == 1 else (),
        samples=tuple(sample_body(sample) for sample in parts.library.samples()),
        samples_shown=SHOWN_AT_FIRST,
        upload_url="/api/v1/profiles",
        origin=_origin(request),
        max_upload_bytes=settings.max_upload_bytes,
        max_files=settings.max_files,
        kept_days=settings.retention_days,
        wants_token=parts.door is not None or parts.oidc is not None,
        has_trash=settings.trash_days > 0,
    )
    return parts.templates.page("home.html", view, request)


@router.api_route("/p/{profile_id}", methods=_READ)
def profile(
    request: Request,
    profile_id: str,
    reader: Reader,
    parts: Parts,
    part: PageRange,
    xprof: WantedXprof,
) -> Response:
    """One profile: its charts and tables, its progress, or why it could not be imported."""
    if xprof is not None:
        view = _profile(request, profile_id, reader, parts, None)
        if view.state == "ready":
            return xprof_page(request, parts, reader, view, xprof)
    actor, encoding = actor_of(request), best_encoding(request)
    # All that a ready page depends on: made before it is drawn, see `Changes`.
    inputs = profile_id, parts.changes.last(profile_id), actor, part, encoding, written_at_ns()
    key = repr(inputs)
    kept = parts.answers.get(key)
    if kept is not None:
        return as_page(kept, encoding)
    view = _profile(request, profile_id, reader, parts, part)
    page = parts.templates.page("profile.html", view, request, frame=view.frame)
    if view.state == "ready":
        parts.answers.put(key, bytes(page.body))
    return page


@router.api_route("/p/{profile_id}/advice-card", methods=_READ)
def advice_card(
    request: Request, profile_id: str, reader: Reader, parts: Parts, part: PageRange
) -> Response:
    """The card of advice of a page by the peaks that it was given."""
    view = _profile(request, profile_id, reader, parts, part)
    return parts.templates.page("advice_card.html", view, request)


def _profile(
    request: Request, profile_id: str, reader: ProfileReader, parts: ServerParts, part: Part | None
) -> views.ProfileView:
    actor = actor_of(request)
    lists = parts.lists_for(actor.viewer)
    view = own_view(reader, lists, profile_id, actor, parts.settings, parts.advice)
    if part is None or view.state != "ready":
        return view
    return in_range(view, part, results_for(parts, reader, profile_id, part))


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
    """The limits of this server's uploads, and the time that it keeps them, for people."""
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
    """Profiles and runs that were deleted, to restore or to delete for good."""
    found = trash_of(actor_of(request), parts)
    kept_days = parts.settings.trash_days
    view = views.TrashView(profiles=found.profiles, runs=found.runs, kept_days=kept_days)
    return parts.templates.page("trash.html", view, request)


def error_page(request: Request, view: ErrorView) -> Response:
    """A failed request as a page."""
    return parts_of(request).templates.page("error.html", view, request, status=view.status)


def _origin(request: Request) -> str:
    return str(request.base_url).rstrip("/")


def _list(lists: ProfileLists, narrowed: Narrowed, page: int) -> views.ListView:
    offset = (page - 1) * PAGE_SIZE
    query, tag = narrowed.query, narrowed.tag
    found = lists.search(query, tag=tag, offset=offset, limit=PAGE_SIZE, sort=narrowed.sort)
    if 0 < found.total <= offset:  # a kept link, after profiles were deleted: the last page
        return _list(lists, narrowed, -(-found.total // PAGE_SIZE))
    has_later = offset + PAGE_SIZE < found.total
    return views.ListView(
        profiles=tuple(map(row_of, found.profiles)),
        total=found.total,
        first=offset + 1,
        query=query,
        tag=tag,
        folders=tuple(
            views.FolderView(tag=tag_view(name), count=count)
            for name, count in lists.frequent_tags(TAGS_SHOWN)
        ),
        everywhere=lists.search(limit=0).total if query or tag else found.total,
        earlier_url=narrowed.url(page - 1) if page > 1 else None,
        later_url=narrowed.url(page + 1) if has_later else None,
        heads=tuple(_head(narrowed, *head) for head in _HEADS),
        sort=narrowed.sort,
    )


def _head(narrowed: Narrowed, key: str, label: str, first: str) -> views.ListHead:
    """A header that sorts; the second click turns the order, the third ends it."""
    if not first:
        return views.ListHead(key=key, label=label, url="", direction="")
    other = f"-{key}" if first == key else key
    wanted = {first: other, other: ""}.get(narrowed.sort, first)
    direction = {key: "ascending", f"-{key}": "descending"}.get(narrowed.sort, "")
    return views.ListHead(key=key, label=label, url=narrowed.url(sort=wanted), direction=direction)
