"""The sender of a request: `identify(request) -> Actor | None`, one for each mode of access.

| mode    | access for                                          | may edit and delete       |
|---------|-----------------------------------------------------|---------------------------|
| `open`  | everyone; the server listens on this machine only   | everyone                  |
| `token` | people and tools with the shared token              | uploading browser, admins |
| `proxy` | users that a trusted proxy names in a header        | uploading user, admins    |
| `oidc`  | people whom a sign-in provider vouches for          | uploading user, admins    |

Every secret is compared in constant time, as digests of equal length.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from importlib.util import find_spec
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from roofline.errors import SettingsError
from roofline.settings import Settings
from roofline.storage.revocable import EndedSessions, Scope
from roofline.storage.visibility import Viewer
from roofline.web.http.forwarded import Peer
from roofline.web.http.sessions import COOKIE, LIFETIME_S, Session, Sessions

NAME_LENGTH = 80
CSRF_HEADER = "x-csrf-token"
_MARK_LENGTH = 16
_MARK = re.compile(rf"#[0-9a-f]{{{_MARK_LENGTH}}}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The sender of a request.

    `owner` is what a profile remembers of its uploader (see `shown_owner`), empty when no later
    request could prove to be theirs. `csrf` is what this server's own pages send along to change
    anything, empty when the request proves itself by other means than what browsers add unasked.
    `captures` is true where a token, or a group, allows that programs are captured, which
    administrators may.
    `scope` and `token_id` are those of the API token that was sent, `None` without one; the scope
    is all that the sender may do.
    """

    owner: str = ""
    name: str = ""
    is_admin: bool = False
    csrf: str = ""
    has_session: bool = False
    scope: Scope | None = None
    token_id: str | None = None
    captures: bool = False

    @property
    def viewer(self) -> Viewer:
        """The sender as a viewer of lists and profiles."""
        return Viewer(owner=self.owner, sees_all=self.is_admin)

    @property
    def may_capture(self) -> bool:
        """True for those who may have programs captured."""
        return self.is_admin or self.captures

    def may_change(self, owner: str) -> bool:
        """True for admins and for the uploader."""
        return self.is_admin or (self.owner != "" and _equal(self.owner, owner))

    def is_forged(self, headers: Mapping[str, str]) -> bool:
        """True if a browser may have been made to send this change by another page.

        Tools behind a signing-in proxy send neither of the two headers, browsers at least one.
        """
        is_browser = "origin" in headers or "sec-fetch-site" in headers
        if not self.csrf or not (self.has_session or is_browser):
            return False
        return not self.accepts(headers.get(CSRF_HEADER, ""))

    def accepts(self, csrf: str) -> bool:
        """True if `csrf` is what this server gave to this person's pages."""
        return _equal(csrf, self.csrf)


EVERYONE = Actor(is_admin=True)
_TOOL = Actor(name="token")
_ADMIN_TOOL = Actor(name="admin token", is_admin=True)

Identify = Callable[[Headers, Peer], Actor | None]
"""The sender of these headers from that address; `None` if this server does not know them."""


def everyone(_headers: Headers, _peer: Peer) -> Actor:
    """Mode `open`: anyone who reaches this machine's own address may do everything."""
    return EVERYONE


class Tokens:
    """Mode `token`: the shared secret, the admins' secret, and the sessions they open."""

    def __init__(self, settings: Settings, ended: EndedSessions) -> None:
        self._ended = ended
        assert settings.token is not None  # `Settings.check_access` saw to it
        token = settings.token.get_secret_value()
        self._token = token
        self._admin = settings.admin_token.get_secret_value() if settings.admin_token else None
        self._sessions = Sessions(token, self._admin or "")

    def identify(self, headers: Headers, _peer: Peer) -> Actor | None:
        """The holder of a Bearer token, or of a session's cookie."""
        given = bearer_token(headers)
        if given is not None:
            return self._holder(given)
        session = self._session(headers)
        if session is None:
            return None
        return Actor(
            owner=f"{session.name}#{hashlib.sha256(session.id.encode()).hexdigest()[:_MARK_LENGTH]}",
            name=session.name,
            is_admin=session.is_admin,
            csrf=self._sessions.csrf(session),
            has_session=True,
        )

    def log_out(self, headers: Headers) -> None:
        """Ends the session of these headers, if they have one, for every copy of its cookie."""
        session = self._sessions.read(cookie_of(headers, COOKIE))
        if session is not None:
            self._ended.end(session.id, over_s=session.opened_s + LIFETIME_S)

    def _session(self, headers: Headers) -> Session | None:
        session = self._sessions.read(cookie_of(headers, COOKIE))
        return None if session is None or self._ended.has(session.id) else session

    def log_in(self, given: str, name: str) -> str | None:
        """The cookie of a new session for a right token; `None` for a wrong one."""
        holder = self._holder(given.strip())
        if holder is None:
            return None
        return self._sessions.open(_shown(name), is_admin=holder.is_admin)

    def _holder(self, given: str) -> Actor | None:
        # Both are compared whatever the first says: the time tells nothing.
        is_admin = self._admin is not None and _equal(given, self._admin)
        is_known = _equal(given, self._token)
        if is_admin:
            return _ADMIN_TOOL
        return _TOOL if is_known else None


class ProxyUsers:
    """Mode `proxy`: the header is trusted if it comes from one of the named addresses.

    `csrf_key` gives the secret that pages' tokens are made with. Servers of one instance share it:
    a form is opened from one of them, and sent to another or after a restart.
    """

    def __init__(self, settings: Settings, csrf_key: Callable[[], bytes]) -> None:
        self._header = settings.proxy_header.lower()
        self._admins = frozenset(settings.admins)
        self._csrf_key = csrf_key

    def identify(self, headers: Headers, peer: Peer) -> Actor | None:
        """The user whom the proxy names; `None` for a request that did not come through it.

        A request with two names is not the proxy's work alone: a client has sent one of them.
        """
        named = headers.getlist(self._header)
        name = _utf8(named[0]).strip() if len(named) == 1 else ""
        if not peer.is_proxy or not name:
            return None
        return Actor(
            owner=name,
            name=_shown(name),
            is_admin=name in self._admins,
            csrf=hmac.new(self._csrf_key(), name.encode(), hashlib.sha256).hexdigest(),
        )


def shown_owner(owner: str) -> str:
    """The shown name of an uploader. Of a session it is the name, without the mark that tells two
    browsers of one name apart; empty when no name was given."""
    return _MARK.sub("", owner)


def metrics_token_matches(settings: Settings, headers: Headers) -> bool:
    """True if the request carries the token that reads `/metrics`."""
    given = bearer_token(headers)
    if settings.metrics_token is None or given is None:
        return False
    return _equal(given, settings.metrics_token.get_secret_value())


def bearer_token(headers: Headers) -> str | None:
    """The token that a tool sends, "" for two of them; `None` where it sends none."""
    given = [one.partition(" ") for one in headers.getlist("authorization")]
    tokens = [token.strip() for scheme, _, token in given if scheme.lower() == "bearer"]
    if not tokens:
        return None
    return tokens[0] if len(given) == 1 else ""


def cookie_of(headers: Headers, name: str) -> str:
    """The cookie `name`, empty without one."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _utf8(text: str) -> str:
    """A header as the proxy meant it: HTTP libraries read bytes as Latin-1, proxies write UTF-8."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _shown(name: str) -> str:
    return "".join(ch for ch in name.strip() if ch.isprintable())[:NAME_LENGTH]


def _equal(given: str, wanted: str) -> bool:
    digests = (hashlib.sha256(text.encode()).digest() for text in (given, wanted))
    return hmac.compare_digest(*digests)


LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})
SECRET_LENGTH = 16
SECRET_LETTERS = 5
# No private network is larger: 10.0.0.0/8, and fc00::/7.
SHORTEST_PREFIX = {4: 8, 6: 7}
UPLOADS_PER_HOUR = 60


def check_access(settings: Settings) -> None:
    """Raises `SettingsError` for settings that would expose the server unintentionally."""
    if settings.auth == "open" and settings.host not in LOOPBACK_NAMES:
        raise SettingsError(
            "Without ROOFLINE_AUTH the server listens on this machine only, not on"
            f" {settings.host}: everyone who reaches that address could see and delete every"
            " profile.",
            remedy="Choose who has access: ROOFLINE_AUTH=token with ROOFLINE_TOKEN_FILE,"
            " ROOFLINE_AUTH=oidc with a sign-in provider, or ROOFLINE_AUTH=proxy behind a proxy"
            " that signs people in.",
        )
    _check_reach(settings)
    _check_secrets(settings)
    _check_provider(settings)
    _check_networks(settings)
    if settings.auth == "proxy" and not settings.proxy_addresses:
        raise SettingsError(
            f"ROOFLINE_AUTH=proxy trusts the header {settings.proxy_header}, and anyone can send"
            " a header.",
            remedy="Set ROOFLINE_PROXY_ADDRESSES to the proxy's addresses, such as 10.0.0.7/32;"
            " the header is ignored when it comes from elsewhere.",
        )


def _check_reach(settings: Settings) -> None:
    """Other machines reach the server through a proxy, or directly: each has limits of its own."""
    if settings.reached == "directly" and settings.proxy_addresses:
        raise SettingsError(
            "ROOFLINE_REACHED=directly and ROOFLINE_PROXY_ADDRESSES contradict each other.",
            remedy="Unset one of them.",
        )
    is_said = settings.reached == "directly" or settings.proxy_addresses
    if settings.host not in LOOPBACK_NAMES and not is_said:
        raise SettingsError(
            f"Other machines can reach {settings.host}: through a proxy, or directly?",
            remedy="Behind a proxy, set ROOFLINE_PROXY_ADDRESSES to its address, such as"
            " 10.0.0.7/32; with a proxy on this machine, listen on 127.0.0.1 with --behind-proxy."
            " Without a proxy, start with --directly: connections are then not encrypted, and each"
            " address has at most 64.",
        )


def _check_secrets(settings: Settings) -> None:
    if settings.auth == "token" and settings.token is None:
        raise SettingsError(
            "ROOFLINE_AUTH=token needs the token that people are to enter.",
            remedy="Put one in a file (`openssl rand -hex 24 > token`) and set"
            " ROOFLINE_TOKEN_FILE to it.",
        )
    found: dict[str, str] = {}
    for variable, secret in (
        ("ROOFLINE_TOKEN", settings.token),
        ("ROOFLINE_ADMIN_TOKEN", settings.admin_token),
        ("ROOFLINE_METRICS_TOKEN", settings.metrics_token),
        ("ROOFLINE_OIDC_CLIENT_SECRET", settings.oidc_client_secret),
    ):
        if secret is None:
            continue
        value = secret.get_secret_value()
        _check_strength(variable, value)
        if value in found:
            raise SettingsError(
                f"{found[value]} and {variable} are the same: each would give the other's rights.",
                remedy="Make another one with `openssl rand -hex 24`.",
            )
        found[value] = variable


def _check_provider(settings: Settings) -> None:
    if settings.auth != "oidc":
        return
    if find_spec("authlib") is None:
        raise SettingsError(
            "ROOFLINE_AUTH=oidc needs Authlib, which is not installed.",
            remedy="Install `roofline[team]`.",
        )
    given = (settings.oidc_issuer, settings.oidc_client_id, settings.oidc_client_secret)
    if not all(given):
        raise SettingsError(
            "ROOFLINE_AUTH=oidc needs the provider's issuer, and the id and secret by which it"
            " knows this server.",
            remedy="Set ROOFLINE_OIDC_ISSUER, ROOFLINE_OIDC_CLIENT_ID and"
            " ROOFLINE_OIDC_CLIENT_SECRET_FILE.",
        )
    issuer = urlsplit(settings.oidc_issuer)
    is_here = issuer.scheme == "http" and issuer.hostname in LOOPBACK_NAMES
    if not issuer.hostname or (issuer.scheme != "https" and not is_here):
        raise SettingsError(
            f"ROOFLINE_OIDC_ISSUER is {settings.oidc_issuer!r}, and must begin with https://.",
            remedy="Take it from the provider: its address ends before /.well-known/.",
        )


def _check_strength(variable: str, secret: str) -> None:
    if len(secret) < SECRET_LENGTH:
        why = f"it is under {SECRET_LENGTH} characters"
    elif len(set(secret)) < SECRET_LETTERS:
        why = f"it has under {SECRET_LETTERS} different characters"
    else:
        return
    raise SettingsError(
        f"{variable} can be guessed: {why}.", remedy="Make one with `openssl rand -hex 24`."
    )


def _check_networks(settings: Settings) -> None:
    """Refuses networks in which strangers can send the headers that a proxy is trusted for."""
    for network in settings.proxy_addresses:
        if network.prefixlen < SHORTEST_PREFIX[network.version]:
            raise SettingsError(
                f"ROOFLINE_PROXY_ADDRESSES holds {network}: almost every address could name the"
                " user of a request.",
                remedy="Name the proxy alone, such as 10.0.0.7/32.",
            )


def uploads_per_hour(settings: Settings) -> int | None:
    """Uploads of one person or address in an hour; `None` for any number."""
    if settings.uploads_per_hour is None:
        return None if settings.auth == "open" else UPLOADS_PER_HOUR
    return settings.uploads_per_hour


def answered_hosts(settings: Settings) -> frozenset[str] | None:
    """The `Host` names to answer, or `None` for any.

    A server on a loopback address answers only to loopback names: otherwise a web site could point
    its own name at 127.0.0.1 and read the profiles through the visitor's browser.
    """
    if settings.allowed_hosts:
        return frozenset(settings.allowed_hosts)
    return LOOPBACK_NAMES if settings.host in LOOPBACK_NAMES else None
