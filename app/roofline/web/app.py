"""create_app: the ASGI application of one server, from its settings."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

import structlog
from fastapi import APIRouter, FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route
from starlette.types import ASGIApp

from roofline import __version__
from roofline.api.packaged import assets_dir
from roofline.capture.targets import Targets
from roofline.library.advising import AdviceBook
from roofline.library.build import build_backend
from roofline.library.captures import CaptureBook
from roofline.library.instance import Instance, Listeners
from roofline.library.reader import ProfileLists
from roofline.settings import Settings
from roofline.web.api import (
    adding,
    advice,
    audit,
    captures,
    comparing,
    devices,
    estimate,
    events,
    figures,
    limits,
    notes,
    profiles,
    results,
    runs,
    series,
    shared,
    tokens,
    trash,
    views,
)
from roofline.web.api.openapi import corrected
from roofline.web.http.access import (
    Identify,
    ProxyUsers,
    Tokens,
    answered_hosts,
    check_access,
    everyone,
    metrics_token_matches,
    uploads_per_hour,
)
from roofline.web.http.api_tokens import TOOLS_PATH, TokenHolders, known_by_token
from roofline.web.http.computing import Changes, Memory
from roofline.web.http.errors import ErrorResponses
from roofline.web.http.guard import Guard, Policy
from roofline.web.http.oidc_provider import OidcLogIn
from roofline.web.http.rate_limit import HOUR_S, Attempts, Door, RateLimit, UploadRate
from roofline.web.http.server_metrics import ServerMetrics
from roofline.web.offline.assets import load_static
from roofline.web.pages import agents as agent_pages
from roofline.web.pages import comparing as comparing_pages
from roofline.web.pages import costs as costs_pages
from roofline.web.pages import devices as devices_pages
from roofline.web.pages import health, login, oidc
from roofline.web.pages import report as report_pages
from roofline.web.pages import routes as pages
from roofline.web.pages import run as run_pages
from roofline.web.pages import series as series_pages
from roofline.web.pages.agents import ToolsByHttp
from roofline.web.parts import ServedTemplates, ServerParts

_ROUTERS = (
    adding.router,
    profiles.router,
    results.router,
    views.router,
    advice.router,
    figures.router,
    comparing.router,
    series.router,
    events.router,
    runs.router,
    captures.router,
    devices.router,
    estimate.router,
    limits.router,
    audit.router,
    tokens.router,
    shared.links_router,
    notes.router,
    shared.router,
    trash.router,
    agent_pages.router,
    pages.router,
    report_pages.router,
    comparing_pages.router,
    series_pages.router,
    run_pages.router,
    costs_pages.router,
    devices_pages.router,
    health.router,
)
_log = structlog.get_logger("roofline.server")


def create_app(settings: Settings) -> "Application":
    """The application; it claims the data folder when it starts and frees it when it stops."""
    check_access(settings)
    parts = _parts(settings)
    tools = ToolsByHttp(parts)
    app = Application(parts, _policy(parts), tools)
    app.state.parts = parts
    app.router.routes.append(Route(TOOLS_PATH, tools))
    for router in (*_ROUTERS, *_log_in_routers(parts)):
        # As they are: `include_router` would build the validators of every route a second time.
        app.router.routes.extend(router.routes)
    return app


def _log_in_routers(parts: ServerParts) -> Iterator[APIRouter]:
    if parts.door is not None:
        yield login.router
    if parts.oidc is not None:
        yield oidc.router


class Application(FastAPI):
    """FastAPI with the guard outside everything, so that its answers to faults are guarded too."""

    def __init__(self, parts: ServerParts, policy: Policy, tools: ToolsByHttp) -> None:
        super().__init__(
            title="Roofline",
            summary="See what bounds an accelerator program.",
            version=__version__,
            docs_url=None,  # FastAPI's pages load scripts from other hosts; ours is /api
            redoc_url=None,
            lifespan=_lifespan(parts, tools),
        )
        self._policy = policy
        self._count = parts.metrics.count_request
        self._errors = ErrorResponses(pages.error_page)
        self._errors.install(self)

    def openapi(self) -> dict[str, Any]:
        """The document of the API, made once."""
        if self.openapi_schema is None:
            self.openapi_schema = corrected(super().openapi())
        return self.openapi_schema

    def build_middleware_stack(self) -> ASGIApp:
        """The guard, then FastAPI's own layers."""
        inner = super().build_middleware_stack()
        return Guard(inner, self._policy, refuse=self._errors.to_ours, count=self._count)


def _parts(settings: Settings) -> ServerParts:
    static = load_static(assets_dir("static"))
    metrics = ServerMetrics()
    changes = Changes()
    templates = ServedTemplates(static)
    listeners = Listeners(
        on_import_end=metrics.count_import, on_change=changes.note, draw=templates.drawn
    )
    backend = build_backend(
        settings, samples_dir=assets_dir("sample_profiles"), listeners=listeners
    )
    metrics.watch(backend.queries)
    attempts = Attempts()
    return ServerParts(
        settings=settings,
        instance=backend.instance,
        library=backend.library,
        runs=backend.runs,
        advice=AdviceBook(backend.instance.store),
        captures=CaptureBook(
            backend.instance, backend.library, backend.runs, Targets(settings.capture_targets)
        ),
        reader_for=backend.reader.seen_by,
        lists_for=partial(ProfileLists, backend.queries),
        static=static,
        templates=templates,
        metrics=metrics,
        answers=room_for_answers(settings),
        changes=changes,
        upload_rate=UploadRate(uploads_per_hour(settings)),
        capture_rate=RateLimit(settings.captures_per_hour, HOUR_S),
        attempts=attempts,
        door=_door(settings, backend.instance, attempts),
        oidc=_oidc(settings, backend.instance),
        token_holders=_token_holders(settings, backend.instance),
    )


def _door(settings: Settings, instance: Instance, attempts: Attempts) -> Door | None:
    if settings.auth != "token":
        return None
    return Door(Tokens(settings, instance.store.ended_sessions), attempts)


def _oidc(settings: Settings, instance: Instance) -> OidcLogIn | None:
    if settings.auth != "oidc":
        return None
    return OidcLogIn(settings, instance.store.ended_sessions, instance.store.people)


def _token_holders(settings: Settings, instance: Instance) -> TokenHolders | None:
    if settings.auth == "open":
        return None
    return TokenHolders(settings, instance.store.api_tokens, instance.store.people.is_admin)


def room_for_answers(settings: Settings) -> Memory[bytes]:
    """Room for answers where this process alone changes profiles.

    Servers that share a database do not hear of each other's changes: a page that one deleted
    must be gone from all.
    """
    is_alone = settings.database_url is None
    return Memory(settings.kept_answers_bytes if is_alone else 0, len)


def _policy(parts: ServerParts) -> Policy:
    settings = parts.settings
    identify: Identify = everyone
    if parts.door is not None:
        identify = parts.door.tokens.identify
    elif parts.oidc is not None:
        identify = parts.oidc.identify
    elif settings.auth == "proxy":
        identify = ProxyUsers(settings, partial(parts.instance.key_for, "csrf")).identify
    if parts.token_holders is not None:
        identify = known_by_token(parts.token_holders, identify)
    return Policy(
        answered_hosts=answered_hosts(settings),
        identify=identify,
        proxies=settings.proxies,
        logs_in=parts.door is not None or parts.oidc is not None,
        reads_metrics=lambda headers: metrics_token_matches(settings, headers),
        attempts=parts.attempts,
        idle_seconds=settings.upload_idle_seconds,
        note_read=parts.instance.store.audit.note_read,
    )


def _lifespan(
    parts: ServerParts, tools: ToolsByHttp
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(parts.instance.open)
        parts.runs.watch.start()
        for path in parts.instance.damaged:
            _log.error("a profile's manifest cannot be read", file=path.name)
        yield
        await tools.stop()
        await run_in_threadpool(parts.runs.watch.stop)
        await run_in_threadpool(parts.instance.close)

    return lifespan
