"""The pages: home, one profile, the API reference, and errors."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from roofline import __version__
from roofline.errors import StorageFullError, StoreUnavailableError
from roofline.library.profiles import Failed, Importing, ProfileLibrary, Ready, State
from roofline.library.samples import Sample
from roofline.storage.records import Manifest
from roofline.web.answers import keep
from roofline.web.api.bodies import REV_LENGTH
from roofline.web.api.routes import Library
from roofline.web.http.access import shown_owner
from roofline.web.http.assets import StaticFiles, assets_dir
from roofline.web.http.guard import actor_of
from roofline.web.pages import views

PAGE_SIZE = 50
TAGS_SHOWN = 12

# HEAD too: link previews and monitors ask with it.
_READ = ["GET", "HEAD"]

router = APIRouter(include_in_schema=False)


class Templates:
    """Renders templates with `view`, `who`, `version` and addresses of static files.

    Everything is escaped.
    """

    def __init__(self, static: StaticFiles) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(assets_dir("templates")),
            autoescape=select_autoescape(default=True, default_for_string=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(
            static_url=static.url, imported_urls=static.imported, version=__version__
        )

    def page(self, name: str, view: object, request: Request, *, status: int = 200) -> HTMLResponse:
        """The template `name` as a response to `request`."""
        actor = actor_of(request)
        who = views.WhoView(name=actor.name, csrf=actor.csrf, has_session=actor.has_session)
        content = self._environment.get_template(name).render(view=view, who=who)
        return HTMLResponse(content, status)


def templates_of(request: Request) -> Templates:
    """The templates of this server."""
    templates: Templates = request.app.state.templates
    return templates


Pages = Annotated[Templates, Depends(templates_of)]


@router.api_route("/", methods=_READ)
def home(
    request: Request,
    library: Library,
    pages: Pages,
    q: Annotated[str, Query(max_length=200)] = "",
    tag: Annotated[str, Query(max_length=200)] = "",
    page: Annotated[int, Query(ge=1, le=9_999)] = 1,
) -> Response:
    """Drop zone, pinned and recent profiles, and samples."""
    limits = request.app.state.upload_limits
    view = views.HomeView(
        list=_list(library, q, tag, page),
        samples=tuple(_sample(sample) for sample in library.samples()),
        upload_url="/api/v1/profiles",
        origin=_origin(request),
        max_upload_bytes=limits.max_bytes,
        max_files=limits.max_files,
        kept_days=request.app.state.kept_days,
        wants_token=request.app.state.wants_token,
    )
    return pages.page("home.html", view, request)


@router.api_route("/p/{profile_id}", methods=_READ)
def profile(request: Request, profile_id: str, library: Library, pages: Pages) -> Response:
    """One profile: its charts and tables, its progress, or why it could not be imported."""
    state = library.state(profile_id)
    uploader = state.manifest.uploader if isinstance(state, Ready) else state.uploader
    may_change = actor_of(request).may_change(uploader or "")
    if isinstance(state, Ready):
        keep(request, profile_id, "actor", "measurements")
    return pages.page("profile.html", replace(_profile(state), may_change=may_change), request)


@router.api_route("/api", methods=_READ)
def reference(request: Request, pages: Pages) -> Response:
    """The API reference."""
    openapi: Mapping[str, Any] = request.app.openapi()
    view = views.ApiView(openapi=openapi, origin=_origin(request))
    return pages.page("api.html", view, request)


@router.api_route("/static/{build}/{name:path}", methods=_READ)
def static_file(request: Request, build: str, name: str) -> Response:
    """A script, style sheet, font or picture."""
    static: StaticFiles = request.app.state.static
    return static.response(request, build, name)


@router.api_route("/healthz", methods=_READ)
def health() -> dict[str, str]:
    """Answers while the process lives."""
    return {"status": "ok", "version": __version__}


@router.api_route("/readyz", methods=_READ)
def ready(request: Request, library: Library) -> dict[str, str]:
    """Answers 200 while profiles can be read and stored, 503 with the reason otherwise."""
    if request.app.state.streams.is_closing:
        raise StoreUnavailableError("The server is stopping.", remedy="Ask another one.")
    try:
        library.check()
    except StorageFullError as error:  # this question has one answer for "no"
        raise StoreUnavailableError(error.message, remedy=error.remedy) from error
    return {"status": "ready"}


def error_page(request: Request, view: views.ErrorView) -> Response:
    """A failed request as a page."""
    return templates_of(request).page("error.html", view, request, status=view.status)


def _origin(request: Request) -> str:
    return str(request.base_url).rstrip("/")


def _list(library: ProfileLibrary, query: str, tag: str, page: int) -> views.ListView:
    offset = (page - 1) * PAGE_SIZE
    found = library.search(query, tag=tag, offset=offset, limit=PAGE_SIZE)
    has_later = offset + PAGE_SIZE < found.total
    return views.ListView(
        profiles=tuple(_recent(manifest) for manifest in found.profiles),
        total=found.total,
        first=offset + 1,
        query=query,
        tag=tag,
        tags=tuple(_tag(name) for name, _ in library.facets().tags[:TAGS_SHOWN]),
        earlier_url=_list_url(query, tag, page - 1) if page > 1 else None,
        later_url=_list_url(query, tag, page + 1) if has_later else None,
    )


def _list_url(query: str, tag: str, page: int) -> str:
    wanted = {"q": query, "tag": tag, "page": str(page) if page > 1 else ""}
    given = {name: value for name, value in wanted.items() if value}
    return f"/?{urlencode(given)}" if given else "/"


def _tag(name: str) -> views.TagView:
    return views.TagView(name=name, url=_list_url("", name, 1))


def _recent(manifest: Manifest) -> views.RecentProfile:
    summary = manifest.summary
    return views.RecentProfile(
        id=manifest.id,
        url=f"/p/{manifest.id}",
        title=manifest.title,
        created_at=manifest.created_at,
        device=summary.device,
        device_kind=summary.device_kind,
        core_count=summary.core_count,
        core_word=summary.core_word,
        host_count=summary.host_count,
        op_count=summary.op_count,
        bound_by=summary.bound_by,
        bound_kind=summary.bound_kind,
        bound_token=summary.bound_token,
        efficiency_ratio=summary.efficiency_ratio,
        format=manifest.format,
        file_names=tuple(file.name for file in manifest.files),
        size_bytes=manifest.size_bytes,
        tags=tuple(_tag(name) for name in manifest.tags),
        uploader=shown_owner(manifest.uploader or ""),
        pinned=manifest.pinned,
    )


def _sample(sample: Sample) -> views.SampleView:
    return views.SampleView(
        name=sample.name,
        title=sample.title,
        description=sample.description,
        open_url=f"/api/v1/samples/{sample.name}",
        size_bytes=sample.size_bytes,
    )


def _profile(state: State) -> views.ProfileView:
    match state:
        case Ready(manifest=manifest):
            rev = state.page.etag[:REV_LENGTH]
            files = tuple((file.name, file.size_bytes) for file in manifest.files)
            view = _profile_view(
                manifest.id, manifest.title, files, "ready", rev=rev, description=_line(manifest)
            )
            return replace(view, about=_about(manifest))
        case Importing(progress=at):
            progress = views.ProgressView(
                phase=at.phase,
                fraction=at.fraction,
                overall=at.overall,
                elapsed_s=state.elapsed_s,
            )
            return _profile_view(state.id, state.title, state.files, "importing", progress=progress)
        case Failed(error=error):
            failure = views.FailureView(message=error.message, remedy=error.remedy, code=error.code)
            return _profile_view(state.id, state.title, state.files, "failed", failure=failure)


def _profile_view(
    profile_id: str,
    title: str,
    files: tuple[tuple[str, int], ...],
    state: str,
    *,
    rev: str = "",
    description: str = "",
    progress: views.ProgressView | None = None,
    failure: views.FailureView | None = None,
) -> views.ProfileView:
    base = f"/api/v1/profiles/{profile_id}"
    return views.ProfileView(
        id=profile_id,
        title=title,
        state=state,
        description=description,
        status_url=base,
        page_url=f"{base}/page?rev={rev}" if rev else "",
        roofline_url=f"{base}/roofline",
        csv_url=f"{base}/roofline.csv",
        ops_url=f"{base}/ops",
        source_url=f"{base}/source",
        delete_url=base,
        progress=progress,
        failure=failure,
        file_names=tuple(name for name, _ in files),
        size_bytes=sum(size for _, size in files),
        about=None,
        may_change=False,
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
