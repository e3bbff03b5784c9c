"""The pages: home, one profile, the API reference, and errors."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from app import __version__
from app.library import Failed, Importing, Ready, State
from app.samples import Sample
from app.storage.profiles import Manifest
from app.web import views
from app.web.api import Library
from app.web.assets import StaticFiles, assets_dir
from app.web.bodies import REV_LENGTH
from app.web.guard import actor_of

RECENT_SHOWN = 200

# HEAD too: link previews and monitors ask with it.
_READ = ["GET", "HEAD"]

router = APIRouter(include_in_schema=False)


class Templates:
    """Renders templates with `view`, `who`, `static_url` and `version`; everything is escaped."""

    def __init__(self, static: StaticFiles) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(assets_dir("templates")),
            autoescape=select_autoescape(default=True, default_for_string=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(static_url=static.url, version=__version__)

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
def home(request: Request, library: Library, pages: Pages) -> Response:
    """Drop zone, recent profiles and samples."""
    limits = request.app.state.upload_limits
    view = views.HomeView(
        recent=tuple(_recent(manifest) for manifest in library.recent(RECENT_SHOWN)),
        samples=tuple(_sample(sample) for sample in library.samples()),
        upload_url="/api/v1/profiles",
        origin=_origin(request),
        max_upload_bytes=limits.max_bytes,
        max_files=limits.max_files,
    )
    return pages.page("home.html", view, request)


@router.api_route("/p/{profile_id}", methods=_READ)
def profile(request: Request, profile_id: str, library: Library, pages: Pages) -> Response:
    """One profile: its charts and tables, its progress, or why it could not be imported."""
    return pages.page("profile.html", _profile(library.state(profile_id)), request)


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


def error_page(request: Request, view: views.ErrorView) -> Response:
    """A failed request as a page."""
    return templates_of(request).page("error.html", view, request, status=view.status)


def _origin(request: Request) -> str:
    return str(request.base_url).rstrip("/")


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
            return _profile_view(
                manifest.id, manifest.title, files, "ready", rev=rev, description=_line(manifest)
            )
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
