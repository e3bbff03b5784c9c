"""Around every request: access, security headers on every answer, a request id, one log line.

Routes are private by default; only those listed here are public. Routes themselves check who may
change a particular profile, because they know the profile.

Logs carry route patterns and the first characters of ids, never addresses: a link is a secret.
"""

import asyncio
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, urlsplit

import structlog
from fastapi import Request, Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from roofline.errors import (
    NotAllowedError,
    NotSignedInError,
    RooflineError,
    TooManyRequestsError,
)
from roofline.model.units import MS_PER_S
from roofline.settings import Network
from roofline.web.http.access import Actor, Identify, bearer_token
from roofline.web.http.api_tokens import LINK_FOLDER, refusal_to_token
from roofline.web.http.errors import prefers_html
from roofline.web.http.forwarded import Peer, counted_as, may_forward, peer_of, scheme_of
from roofline.web.http.gate import PER_ADDRESS
from roofline.web.http.rate_limit import Attempts

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
STRICT_TRANSPORT = "max-age=31536000"
Pairs = list[tuple[bytes, bytes]]


def _encoded(headers: Mapping[str, str], *, is_encrypted: bool) -> Pairs:
    strict = {"strict-transport-security": STRICT_TRANSPORT} if is_encrypted else {}
    return [(name.encode(), text.encode()) for name, text in {**headers, **strict}.items()]


# As ASGI sends them.
_HEADERS = {one: _encoded(SECURITY_HEADERS, is_encrypted=one) for one in (False, True)}
# The address of a link is its secret: no other page learns it, not even ours.
_LINK_HEADERS = {
    one: _encoded({**SECURITY_HEADERS, "referrer-policy": "no-referrer"}, is_encrypted=one)
    for one in (False, True)
}
LOGIN_PATH = "/login"
CALLBACK_PATH = "/login/callback"
LOGOUT_PATH = "/logout"
UPLOAD_PATH = "/api/v1/profiles"
_PUSH_PATH = re.compile(r"/api/v1/runs/[A-Za-z0-9_-]+/hosts")
BODY_BYTES = 1 << 20  # of every request but uploads, which have limits of their own
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_METHODS = _SAFE_METHODS | {"POST", "PUT", "PATCH", "DELETE"}
_PUBLIC_PATHS = frozenset({"/healthz", "/readyz", LOGIN_PATH, CALLBACK_PATH})
# The log-in page's own style and script, nothing of any profile; share links, which are secrets.
_PUBLIC_FOLDERS = ("/static/", LINK_FOLDER)
_SUBJECTS = (("profile", "profile_id"), ("run", "run_id"))
_WAS_READ = frozenset({200, 206, 304})
_QUIET_ROUTES = frozenset({"/static/{build}/{name:path}", "/healthz", "/readyz", "/metrics"})
ID_CHARACTERS_LOGGED = 6
_log = structlog.get_logger("roofline.web")


Refuse = Callable[[Request, RooflineError], Response]
"""The response that says why a request is refused."""

CountRequest = Callable[[str, str, int, float], None]
"""Counts a response: method, route pattern, status, seconds."""


NoteRead = Callable[[str, str, str, str], None]
"""Notes a read: action, person, address, id of the profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of access. `answered_hosts` is the allow-list of `Host`, `None` for any.

    `idle_seconds` is how long a body may pause.
    """

    answered_hosts: frozenset[str] | None
    identify: Identify
    proxies: tuple[Network, ...]
    logs_in: bool
    reads_metrics: Callable[[Headers], bool]
    attempts: Attempts
    idle_seconds: float
    note_read: NoteRead


class Guard:
    """Outermost ASGI layer; `refuse` answers what may not pass, `count` hears of each response."""

    def __init__(
        self,
        app: ASGIApp,
        policy: Policy,
        *,
        refuse: Refuse,
        count: CountRequest,
    ) -> None:
        self._app = app
        self._policy = policy
        self._refuse = refuse
        self._count = count
        self._has_warned = False
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes HTTP requests on if they are allowed; other scopes unchanged."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = os.urandom(6).hex()
        scope.setdefault("state", {})["request_id"] = request_id
        request = Request(scope)
        scope["scheme"] = scheme_of(scope, request.headers, self._policy.proxies)
        sender = _Sender(send, request_id, _usual_headers(scope))
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            started = time.perf_counter()
            try:
                await self._pass(request, receive, sender)
            finally:
                self._note(scope, request_id, sender.status, time.perf_counter() - started)

    def _note(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        """In the metrics, the audit table and the log."""
        route = getattr(scope.get("route"), "path", "-")
        name, subject = _subject(scope)
        self._count(_method(scope), route, status, seconds)
        if subject and scope["method"] == "GET" and status in _WAS_READ:
            self._note_read(scope, _read_what(route, name), subject)
        fields: dict[str, object] = {
            "method": scope["method"],
            "route": route,
            "status": status,
            "ms": round(seconds * MS_PER_S, 1),
            "request_id": request_id,
        }
        if subject:
            fields[name] = subject[:ID_CHARACTERS_LOGGED]
        # Probes and static files would drown what people do.
        write = _log.debug if route in _QUIET_ROUTES else _log.info
        write("request", **fields)

    def _note_read(self, scope: Scope, what: str, subject: str) -> None:
        """For the audit table."""
        state = scope["state"]
        person = state["actor"].name if state["actor"] is not None else ""
        self._policy.note_read(what, person, state["peer"].address, subject)

    async def _pass(self, request: Request, receive: Receive, sender: "_Sender") -> None:
        scope = request.scope
        self._enter(request)
        with self._place(request.state.peer) as has_place:
            refusal = self._refusal(request) if has_place else _too_many()
            if refusal is None:
                await self._app(scope, _limited(scope, receive, self._policy.idle_seconds), sender)
            else:
                response = self._drawn(request, refusal)
                await response(scope, receive, sender)

    @contextmanager
    def _place(self, peer: Peer) -> Iterator[bool]:
        """False where a client behind a proxy has as many requests under way as one address may.

        The gate cannot see these addresses; clients without a proxy have its limit.
        """
        if not peer.is_proxy or may_forward(peer.address, self._policy.proxies):
            yield True
            return
        address = counted_as(peer.address)
        self._under_way[address] += 1
        try:
            yield self._under_way[address] <= PER_ADDRESS
        finally:
            self._under_way[address] -= 1
            if not self._under_way[address]:
                del self._under_way[address]

    def _enter(self, request: Request) -> None:
        """Finds out who sends the request, and from where."""
        peer = peer_of(request.scope, request.headers, self._policy.proxies)
        if not (peer.is_proxy or self._has_warned) and "x-forwarded-for" in request.headers:
            self._has_warned = True
            _log.warning(
                "X-Forwarded-For is ignored: its sender is not a configured proxy. With a proxy on"
                " this machine, start with --behind-proxy",
                sender=peer.address,
            )
        actor = self._policy.identify(request.headers, peer)
        request.scope["state"].update(peer=peer, actor=actor)

    def _refusal(self, request: Request) -> RooflineError | None:
        elsewhere = refusal_of(request.method, request.headers, self._policy.answered_hosts)
        return elsewhere or self._refusal_to(request, request.state.actor)

    def _refusal_to(self, request: Request, actor: Actor | None) -> RooflineError | None:
        """Why this person may not ask this, or `None`."""
        path = request.scope["path"]  # as routing reads it; `request.url` is made anew each time
        if path in _PUBLIC_PATHS or path.startswith(_PUBLIC_FOLDERS):
            return None
        reads_metrics = path == "/metrics" and self._policy.reads_metrics(request.headers)
        if bearer_token(request.headers) is not None:
            try:
                is_wrong = actor is None and not reads_metrics
                self._policy.attempts.check(request.state.peer.address, is_wrong=is_wrong)
            except TooManyRequestsError as error:
                return error
        if actor is None:
            return None if reads_metrics else _stranger(self._policy)
        if actor.scope is not None and request.method not in _SAFE_METHODS:
            return refusal_to_token(actor.scope, path)
        # The form that logs out carries its token in a field, which its route reads.
        is_change = request.method not in _SAFE_METHODS and path != LOGOUT_PATH
        return stale_page() if is_change and actor.is_forged(request.headers) else None

    def _drawn(self, request: Request, refusal: RooflineError) -> Response:
        is_page = request.method in {"GET", "HEAD"} and prefers_html(request)
        if isinstance(refusal, NotSignedInError) and self._policy.logs_in and is_page:
            wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            return RedirectResponse(f"{LOGIN_PATH}?next={quote(wanted, safe='')}", 303)
        return self._refuse(request, refusal)


def actor_of(request: Request) -> Actor:
    """The sender; on public routes, which do not ask for one, a sender without any right."""
    actor: Actor | None = request.state.actor
    return actor if actor is not None else Actor()


def peer_of_request(request: Request) -> Peer:
    """Where the request comes from."""
    peer: Peer = request.state.peer
    return peer


def stale_page() -> NotAllowedError:
    """The refusal of a change without this session's anti-forgery token."""
    return NotAllowedError(
        "This page does not belong to your present session.",
        remedy="Reload the page and try again.",
    )


def _too_many() -> TooManyRequestsError:
    return TooManyRequestsError(
        f"{PER_ADDRESS} requests of your address are under way.",
        remedy="Wait for their answers, then try again.",
        retry_after_s=1,
    )


def _stranger(policy: Policy) -> NotSignedInError:
    if policy.logs_in:
        return NotSignedInError(
            "This server asks for a token.",
            remedy="Open it in a browser and log in, or send the header"
            " `Authorization: Bearer TOKEN`.",
        )
    return NotSignedInError(
        "This server does not know who you are.",
        remedy="Open it through the address at which you sign in, not directly.",
    )


def _limited(scope: Scope, receive: Receive, idle_seconds: float) -> Receive:
    """`receive` that refuses a body past `BODY_BYTES`, or one that stands still.

    Uploads have limits of their own, with reasons that name files.
    """
    if scope["path"] == UPLOAD_PATH or _PUSH_PATH.fullmatch(scope["path"]):
        return receive
    seen, has_ended, waited_s = 0, False, 0.0

    async def receive_some() -> Message:
        nonlocal seen, has_ended, waited_s
        if has_ended:  # what comes now is the end of the connection, whenever that is
            return await receive()
        began = time.monotonic()
        try:
            # The pauses of the whole body together: a byte a minute would hold a place for years.
            async with asyncio.timeout(idle_seconds - waited_s):
                message = await receive()
        except TimeoutError as error:
            raise HTTPException(408, headers={"connection": "close"}) from error
        waited_s += time.monotonic() - began
        has_ended = not message.get("more_body", False)
        seen += len(message.get("body", b""))
        if seen > BODY_BYTES:
            raise HTTPException(413)
        return message

    return receive_some


def _usual_headers(scope: Scope) -> Pairs:
    is_link = scope["path"].startswith(LINK_FOLDER)
    return (_LINK_HEADERS if is_link else _HEADERS)[scope["scheme"] == "https"]


class _Sender:
    """`send` with our headers added, unless the route set its own."""

    def __init__(self, send: Send, request_id: str, usual: Pairs) -> None:
        self._send = send
        self._request_id = request_id
        self._usual = usual
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = [*message.get("headers", ()), (b"x-request-id", self._request_id.encode())]
            named = {name for name, _ in own}
            usual = [pair for pair in self._usual if pair[0] not in named]
            message = {**message, "headers": own + usual}
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


def _method(scope: Scope) -> str:
    """The method, or one word for all unknown ones: clients can send any."""
    method: str = scope["method"]
    return method if method in _METHODS else "other"


def _subject(scope: Scope) -> tuple[str, str]:
    """The subject of a request: `profile` or `run`, and its id; two empty texts for others."""
    found = scope.get("path_params", {})
    for name, key in _SUBJECTS:
        if key in found:
            return name, str(found[key])
    return "", ""


@lru_cache(maxsize=256)
def _read_what(route: str, name: str) -> str:
    """What the audit table says of a read by this route. There are some dozens."""
    return f"read {route.rpartition(f'{{{name}_id}}')[2].lstrip('/') or name}"
