"""create_app: the ASGI application of one server, from its settings."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import structlog
from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp

from roofline import __version__
from roofline.library.build import build_library
from roofline.library.profiles import ProfileLibrary
from roofline.settings import Settings
from roofline.web import http_metrics
from roofline.web.answers import Answers, FromMemory
from roofline.web.api import devices, events, limits
from roofline.web.api import routes as api
from roofline.web.api.openapi import corrected
from roofline.web.api.uploads import UploadLimits
from roofline.web.http import errors, login
from roofline.web.http.access import Identify, ProxyUsers, Tokens, everyone, metrics_token_matches
from roofline.web.http.assets import assets_dir, load_static
from roofline.web.http.guard import Answer, Guard, Note, Policy
from roofline.web.http.rate_limit import UploadRate
from roofline.web.http_metrics import Metrics
from roofline.web.pages import routes as pages

_log = structlog.get_logger("roofline.server")


def create_app(settings: Settings) -> FastAPI:
    """The application; it claims the data folder when it starts and frees it when it stops."""
    library = build_library(settings, samples_dir=assets_dir("sample_profiles"))
    settings.check_access()
    app = _Application(
        title="Roofline",
        summary="See what bounds an accelerator program.",
        version=__version__,
        docs_url=None,  # FastAPI's pages load scripts from other hosts; ours is /api
        redoc_url=None,
        lifespan=_lifespan,
    )
    static = load_static(assets_dir("static"))
    app.state.library = library
    app.state.static = static
    app.state.templates = pages.Templates(static)
    app.state.upload_limits = UploadLimits(
        max_bytes=settings.max_upload_bytes,
        max_files=settings.max_files,
        idle_seconds=settings.upload_idle_seconds,
    )
    app.state.limits = limits.limits_of(settings)
    app.state.kept_days = settings.retention_days
    app.state.upload_rate = UploadRate(settings.upload_rate)
    app.answer = errors.install(app, pages.error_page)
    app.state.streams = events.Streams()
    app.include_router(api.router)
    app.include_router(devices.router)
    app.include_router(events.router)
    app.include_router(limits.router)
    app.include_router(pages.router)
    app.include_router(http_metrics.router)
    numbers = Metrics(library)
    app.state.metrics = numbers
    app.note = numbers.note_request
    library.on_import_end = numbers.note_import
    tokens = Tokens(settings) if settings.auth == "token" else None
    app.state.wants_token = tokens is not None
    if tokens is not None:
        app.state.door = login.door_to(tokens)
        app.include_router(login.router)
    app.policy = _policy(settings, tokens, partial(library.key_for, "csrf"))
    app.answers = _answers(settings, library)
    return app


class _Application(FastAPI):
    """FastAPI with the guard outside everything, so that its answers to faults are guarded too."""

    policy: Policy
    answer: Answer
    note: Note
    answers: Answers | None

    def openapi(self) -> dict[str, Any]:
        """The document of the API, made once."""
        if self.openapi_schema is None:
            self.openapi_schema = corrected(super().openapi())
        return self.openapi_schema

    def build_middleware_stack(self) -> ASGIApp:
        inner = super().build_middleware_stack()
        if self.answers is not None:
            inner = FromMemory(inner, self.answers)
        return Guard(inner, self.policy, answer=self.answer, note=self.note)


def _answers(settings: Settings, library: ProfileLibrary) -> Answers | None:
    if library.is_shared or not settings.kept_answers_bytes:
        return None
    answers = Answers(settings.kept_answers_bytes)
    library.on_change(answers.forget)
    return answers


def _policy(settings: Settings, tokens: Tokens | None, csrf_key: Callable[[], bytes]) -> Policy:
    identify: Identify = everyone
    if tokens is not None:
        identify = tokens.identify
    elif settings.auth == "proxy":
        identify = ProxyUsers(settings, csrf_key).identify
    return Policy(
        answered_hosts=settings.answered_hosts,
        identify=identify,
        proxies=settings.proxy_addresses,
        logs_in=tokens is not None,
        reads_metrics=lambda headers: metrics_token_matches(settings, headers),
    )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    library: ProfileLibrary = app.state.library
    await run_in_threadpool(library.open)
    for path in library.damaged:
        _log.error("a profile's manifest cannot be read", file=path.name)
    yield
    await run_in_threadpool(library.close)
