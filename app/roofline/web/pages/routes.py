"""The pages: home, one profile, that of a share link, the API reference, and errors.

Rows of profiles on the home page: first sentence, of the roof, idle, do first.

They are of its subject, as its page says them.

Runs of many hosts on the home page: a short list above profiles, which search narrows, too.

Beside the profiles are runs that the watch found and that were not imported yet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request, Response
from starlette.exceptions import HTTPException

from roofline.devices.measured import written_at_ns
from roofline.exports.run_page import Arriving, Preview, run_preview
from roofline.library.ranges import Part
from roofline.library.reader import Failed, ProfileLists, ProfileReader
from roofline.library.run_places import RunFound
from roofline.library.runs import RunLibrary
from roofline.library.samples import SHOWN_AT_FIRST
from roofline.presentation.first_view.summary import Piece, pieces
from roofline.presentation.goal_numbers import COMPLETE, marked, whole_percent
from roofline.presentation.quantities import count, size
from roofline.storage.records import Manifest
from roofline.storage.run_records import READING, Run
from roofline.storage.visibility import Viewer
from roofline.web.api.limits import limits_of
from roofline.web.api.ranges import PageRange, written_results
from roofline.web.api.shared import Shared, SharedProfile
from roofline.web.api.tokens import tokens_of
from roofline.web.api.trash import trash_of
from roofline.web.bodies import retry_url, sample_body
from roofline.web.http.access import shown_owner
from roofline.web.http.api_tokens import LINK_FOLDER
from roofline.web.http.encodings import accepts, best_encoding, matches
from roofline.web.http.errors import ErrorView
from roofline.web.http.forwarded import origin_of
from roofline.web.http.guard import actor_of
from roofline.web.offline.views import ProfileView
from roofline.web.pages import views
from roofline.web.pages.profile_view import in_range, list_url, own_view, shared_view, tag_view
from roofline.web.pages.views import (
    FailedUploadView,
    FoundRunsView,
    FoundRunView,
    ListedProfile,
    ListedRun,
    RunListView,
)
from roofline.web.pages.xprof import WantedXprof, xprof_page
from roofline.web.parts import Lists, Parts, Reader, ServerParts, as_page, parts_of

IMMUTABLE = "public, max-age=31536000, immutable"
RUNS_PAGE_SIZE = 5
FOUND_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """The filter and the order of the list."""

    query: str
    tag: str
    sort: str

    def url(self, page: int = 1, sort: str | None = None, runs: int = 1) -> str:
        """The path of a page of the list, perhaps in another order."""
        order = self.sort if sort is None else sort
        return list_url(self.query, self.tag, page, order, runs)


def run_list(parts: ServerParts, viewer: Viewer, narrowed: Narrowed, page: int) -> RunListView:
    """A page of the runs that `viewer` sees."""
    offset = (page - 1) * RUNS_PAGE_SIZE
    found = parts.runs.listed(viewer, text=narrowed.query, offset=offset, limit=RUNS_PAGE_SIZE)
    has_later = offset + RUNS_PAGE_SIZE < found.total
    return RunListView(
        runs=tuple(_listed(parts, one) for one in found.runs),
        total=found.total,
        first=offset + 1,
        earlier_url=narrowed.url(runs=page - 1) if page > 1 else None,
        later_url=narrowed.url(runs=page + 1) if has_later else None,
    )


def _listed(parts: ServerParts, run: Run) -> ListedRun:
    return ListedRun(
        run=run,
        url=f"/r/{run.id}",
        preview=_preview(parts, run),
        uploader=shown_owner(run.uploader or ""),
    )


def _preview(parts: ServerParts, run: Run) -> Preview | None:
    arriving = Arriving(read=run.read, total=run.wanted) if run.state == READING else None
    key = f"{run.document} {arriving}"
    if (kept := parts.run_previews.get(key)) is not None:
        return kept
    document = parts.runs.document(run)
    if document is None:
        return None
    return parts.run_previews.put(key, run_preview(orjson.loads(document), arriving))


def found_runs(runs: RunLibrary, viewer: Viewer) -> FoundRunsView:
    """Runs that the watch found, without those that `viewer` sees in the list of runs."""
    found = runs.found(viewer)
    shown = tuple(map(_found, found[:FOUND_SHOWN]))
    return FoundRunsView(shown=shown, more=len(found) - len(shown))


def _found(run: RunFound) -> FoundRunView:
    written = datetime.fromtimestamp(run.newest_at, UTC)
    return FoundRunView(
        address=run.place,
        name=run.name,
        hosts=f"{count(run.hosts)} host{'' if run.hosts == 1 else 's'}",
        size=size(run.size_bytes),
        newest_at=f"{written:%Y-%m-%dT%H:%M:%SZ}",
        is_complete=run.is_complete,
    )


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
        origin=origin_of(request),
        max_upload_bytes=settings.max_upload_bytes,
        max_files=settings.max_files,
        kept_days=settings.retention_days,
        wants_token=parts.door is not None or parts.oidc is not None,
        has_trash=settings.trash_days > 0,
        captures=bool(parts.captures.targets) and actor_of(request).may_capture,
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
    is_out = request.query_params.get("infeed") == "out"
    key = repr((*inputs, is_out))
    kept = parts.answers.get(key)
    if kept is not None:
        return as_page(kept, encoding)
    view = replace(_profile(request, profile_id, reader, parts, part), is_without_infeed=is_out)
    page = parts.templates.page("profile.html", view, request)
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
) -> ProfileView:
    actor = actor_of(request)
    lists = parts.lists_for(actor.viewer)
    view = own_view(reader, lists, profile_id, actor, parts.settings, parts.advice)
    if part is None or view.state != "ready":
        return view
    return in_range(view, part, written_results(parts, reader, profile_id, part))


@router.api_route("/api", methods=_READ)
def reference(request: Request, parts: Parts) -> Response:
    """The API reference."""
    openapi: Mapping[str, Any] = request.app.openapi()
    view = views.ApiView(openapi=openapi, origin=origin_of(request))
    return parts.templates.page("api.html", view, request)


@router.api_route("/static/{build}/{name:path}", methods=_READ)
def static_file(request: Request, build: str, name: str, parts: Parts) -> Response:
    """A script, style sheet, font or picture; one at another build's address is not kept."""
    asset = parts.static.get(name)
    if asset is None:
        raise HTTPException(404)
    headers = {
        "cache-control": IMMUTABLE if build == parts.static.build else "no-cache",
        "vary": "accept-encoding",
    }
    encoding = "br" if asset.forms.get("br") and accepts(request, "br") else ""
    encoding = encoding or best_encoding(request)
    packed = asset.packed_in(encoding)
    headers["etag"] = f'"{asset.etag}{f"-{encoding}" if packed else ""}"'
    if matches(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    if packed:
        headers["content-encoding"] = encoding
    return Response(packed or asset.content, headers=headers, media_type=asset.media_type)


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


_DO_FIRST = "Do first: "  # the column's heading says it


def row_of(manifest: Manifest) -> ListedProfile:
    """A row of the list; one stored by an earlier release says nothing of its subject."""
    subject, lines = manifest.summary.subject or {}, manifest.summary.lines
    known = subject.get("known_ratio")
    saving, do_first = _first(lines.get("do_first", ()), subject)
    return ListedProfile(
        manifest=manifest,
        url=f"/p/{manifest.id}",
        tags=tuple(map(tag_view, manifest.tags)),
        uploader=shown_owner(manifest.uploader or ""),
        headline=pieces(lines.get("headline", ())),
        saving=saving,
        do_first=do_first,
        share=_percent("roof_share", subject.get("roof_ratio")),
        idle=_percent("idle", subject.get("idle_ratio")),
        is_part_known=known is not None and known < COMPLETE,
    )


def failed_row(state: Failed) -> FailedUploadView:
    """A failed upload of this person, with another try where that may help."""
    return FailedUploadView(
        title=state.title,
        url=f"/p/{state.id}",
        message=state.error.message,
        retry_url=retry_url(state.id) if state.can_retry else "",
    )


def _first(
    said: Sequence[Mapping[str, Any]], subject: Mapping[str, Any]
) -> tuple[Piece | None, str]:
    """What the first finding saves and its title; without a saving, the sentence said instead."""
    found = pieces(said)
    saving = next((one for one in found if one.quantity == "saving"), None)
    if saving is not None:
        return saving, subject["first"]["title"]
    text = "".join(one.text for one in found).removeprefix(_DO_FIRST)
    return None, text[:1].upper() + text[1:]


def _percent(quantity: str, ratio: float | None) -> Piece | None:
    """A ratio of a subject, marked as what it is; `None` where it is not known."""
    return None if ratio is None else pieces([marked(whole_percent(ratio), quantity, ratio)])[0]


@router.api_route(f"{LINK_FOLDER}{{token}}", methods=_READ)
def shared_profile(
    request: Request, shared: Shared, parts: Parts, part: PageRange, xprof: WantedXprof
) -> Response:
    """The profile of a link, without what only people with access may do."""
    if xprof is not None:
        view = _of_link(shared, parts, None)
        if view.state == "ready":
            return xprof_page(request, parts, shared.reader, view, xprof)
    is_out = request.query_params.get("infeed") == "out"
    view = replace(_of_link(shared, parts, part), is_without_infeed=is_out)
    return parts.templates.page("profile.html", view, request)


@router.api_route(f"{LINK_FOLDER}{{token}}/advice-card", methods=_READ)
def shared_advice_card(request: Request, shared: Shared, parts: Parts, part: PageRange) -> Response:
    """The card of advice by the peaks that the page was given."""
    return parts.templates.page("advice_card.html", _of_link(shared, parts, part), request)


def _of_link(shared: SharedProfile, parts: ServerParts, part: Part | None) -> ProfileView:
    view = shared_view(shared.reader, shared.id, shared.path)
    if part is None or view.state != "ready":
        return view
    return in_range(view, part, written_results(parts, shared.reader, shared.id, part))
