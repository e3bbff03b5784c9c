"""Around every request: who may ask, security headers on every answer, a request id, one log line.

Logs carry route patterns and the first characters of ids, never addresses: a link is a secret.
"""

import secrets
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import NotAllowedError
from app.web.errors import error_json, status_of

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Links are secrets: other sites learn nothing; our own pages see where a visitor came from.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-robots-tag": "noindex, nofollow",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "private, no-cache",
}
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_QUIET_ROUTES = frozenset({"/static/{build}/{name:path}", "/healthz"})
_ID_CHARACTERS_LOGGED = 6
_log = structlog.get_logger("roofline.web")


class Guard:
    """Outermost ASGI layer. `answered_hosts` is the allow-list of `Host`, `None` for any."""

    def __init__(self, app: ASGIApp, *, answered_hosts: frozenset[str] | None) -> None:
        self._app = app
        self._answered_hosts = answered_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes HTTP requests on if they are allowed; other scopes unchanged."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = secrets.token_hex(6)
        scope.setdefault("state", {})["request_id"] = request_id
        answer = _Answer(send, request_id)
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            started = time.perf_counter()
            try:
                await self._pass(scope, receive, answer)
            finally:
                _write_line(scope, answer.status, time.perf_counter() - started)

    async def _pass(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        refusal = refusal_of(scope["method"], Headers(scope=scope), self._answered_hosts)
        if refusal is None:
            await self._app(scope, receive, answer)
        else:
            response = error_json(status_of(refusal), refusal.message, refusal.remedy, refusal.code)
            await response(scope, receive, answer)


class _Answer:
    """`send` with our headers added, unless the route set its own."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            headers["x-request-id"] = self._request_id
        await self._send(message)


def refusal_of(
    method: str, headers: Mapping[str, str], answered_hosts: frozenset[str] | None
) -> NotAllowedError | None:
    """Why a request may not pass, or `None`.

    A browser sends `Sec-Fetch-Site` or `Origin` with what another site makes it do; tools send
    neither. The host allow-list stops sites that point their own name at this server.
    """
    host = headers.get("host", "")
    if answered_hosts is not None and _host_name(host) not in answered_hosts:
        return NotAllowedError(
            "This server does not answer to this host name.",
            remedy="Use the address it printed at start, or set ROOFLINE_ALLOWED_HOSTS.",
        )
    if method in _SAFE_METHODS or not _is_foreign(headers, host):
        return None
    return NotAllowedError(
        "This request comes from another web site.",
        remedy="Use this server's own pages, or a command-line tool.",
    )


def _is_foreign(headers: Mapping[str, str], host: str) -> bool:
    site = headers.get("sec-fetch-site")
    if site is not None and site not in {"same-origin", "none"}:
        return True
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != host


def _host_name(host: str) -> str:
    """`Host` without its port; IPv6 addresses keep their brackets."""
    return host[: host.index("]") + 1] if host.startswith("[") else host.partition(":")[0]


def _write_line(scope: Scope, status: int, seconds: float) -> None:
    route = scope.get("route")
    fields: dict[str, object] = {
        "method": scope["method"],
        "route": getattr(route, "path", "-"),
        "status": status,
        "ms": round(seconds * 1000, 1),
    }
    profile_id = scope.get("path_params", {}).get("profile_id")
    if profile_id:
        fields["profile"] = str(profile_id)[:_ID_CHARACTERS_LOGGED]
    # Probes and static files would drown what people do.
    write = _log.debug if fields["route"] in _QUIET_ROUTES else _log.info
    write("request", **fields)
