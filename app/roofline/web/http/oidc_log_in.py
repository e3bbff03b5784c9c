"""Mode `oidc`: log-ins by a sign-in provider, and the sessions that they open.

The browser that begins a log-in keeps its state, nonce and code verifier in a signed cookie, so
that any server of the instance can end what another began. Sessions last for some hours: then the
provider is asked again, and says whether the person still belongs here.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from itsdangerous import BadSignature, Signer, URLSafeTimedSerializer
from starlette.datastructures import Headers

from roofline.storage.sign_ins import EndedSessions, People
from roofline.web.http.access import NAME_LENGTH, Actor, cookie_of
from roofline.web.http.oidc_provider import Attempt, Provider, refused
from roofline.web.http.sessions import COOKIE, SIGNING

if TYPE_CHECKING:
    from roofline.settings import Settings
    from roofline.web.http.forwarded import Peer

ATTEMPT_COOKIE = "roofline_login"
ATTEMPT_LIFETIME_S = 600
LIFETIME_S = 12 * 3600
# The ID token, which the browser sends with a log-out only.
HINT_COOKIE = "roofline_id_token"
# A proxy reads the head of an answer into 4 KiB, nginx for one, and this one has other fields.
LONGEST_HINT = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A person as the provider describes them; `id` never changes."""

    id: str
    shown: str
    is_admin: bool


class OidcLogIn:
    """Log-ins and sessions of one instance."""

    def __init__(self, settings: "Settings", ended: EndedSessions, people: People) -> None:
        assert settings.oidc_client_secret is not None  # `check_access` saw to it
        self.provider = Provider(settings)
        self._ended = ended
        self._people = people
        self._account = _reader_of_accounts(settings)
        # Another secret, client or issuer ends all sessions.
        secret = settings.oidc_client_secret.get_secret_value()
        salt = f"roofline oidc {self.provider.issuer} {settings.oidc_client_id}"
        self._sessions = URLSafeTimedSerializer(secret, f"{salt} session", signer_kwargs=SIGNING)
        self._attempts = URLSafeTimedSerializer(secret, f"{salt} attempt", signer_kwargs=SIGNING)
        self._changes = Signer(secret, salt=f"{salt} csrf", **SIGNING)

    def begin(self, next_path: str) -> tuple[Attempt, str]:
        """A new log-in, and the cookie that its browser keeps."""
        attempt = Attempt(
            state=secrets.token_urlsafe(32),
            nonce=secrets.token_urlsafe(32),
            verifier=secrets.token_urlsafe(48),
            next=next_path,
        )
        return attempt, self._attempts.dumps(list(astuple(attempt)))

    def begun(self, headers: Headers, state: str) -> Attempt:
        """The log-in that this browser began; `LogInRefusedError` where it began no such."""
        try:
            kept = self._attempts.loads(
                cookie_of(headers, ATTEMPT_COOKIE), max_age=ATTEMPT_LIFETIME_S
            )
        except BadSignature:
            raise refused(
                "This log-in was begun more than ten minutes ago, or in another browser."
            ) from None
        attempt = Attempt(**dict(zip(("state", "nonce", "verifier", "next"), kept, strict=True)))
        if not hmac.compare_digest(attempt.state.encode(), state.encode("utf-8", "replace")):
            raise refused("This log-in is not the one that this browser began last.")
        return attempt

    def end(self, claims: Mapping[str, Any]) -> tuple[str, str]:
        """The cookie of a new session for the person of these claims, and what to call them.

        `LogInRefusedError` for a person in no group that may use this server.
        """
        found = self._account(claims)
        digest = hashlib.sha256(f"{self.provider.issuer}\0{found.id}".encode()).hexdigest()
        owner = self._people.log_in(digest, shown=found.shown, is_admin=found.is_admin)
        content = [secrets.token_hex(16), owner, found.shown, found.is_admin]
        return self._sessions.dumps(content), found.shown

    def identify(self, headers: Headers, _peer: "Peer") -> Actor | None:
        """The person of a session's cookie."""
        found = self._session(headers)
        if found is None:
            return None
        session_id, owner, shown, is_admin = found[0]
        return Actor(
            owner=owner,
            name=shown,
            is_admin=is_admin,
            csrf=self._changes.get_signature(session_id).decode(),
            has_session=True,
        )

    def log_out(self, headers: Headers) -> None:
        """Ends the session of these headers, if they have one, for every copy of its cookie."""
        found = self._session(headers)
        if found is not None:
            self._ended.end(found[0][0], over_s=found[1] + LIFETIME_S)

    def _session(self, headers: Headers) -> tuple[tuple[str, str, str, bool], float] | None:
        try:
            content, opened = self._sessions.loads(
                cookie_of(headers, COOKIE), max_age=LIFETIME_S, return_timestamp=True
            )
        except BadSignature:
            return None
        return None if self._ended.has(content[0]) else (tuple(content), opened.timestamp())


def _reader_of_accounts(settings: "Settings") -> Callable[[Mapping[str, Any]], Account]:
    """A reader of claims as these settings say."""
    admin_groups, allowed = set(settings.oidc_admin_groups), set(settings.oidc_groups)

    def read(claims: Mapping[str, Any]) -> Account:
        groups = _groups(claims, settings.oidc_groups_claim)
        email = claims.get("email")
        is_named = claims.get("email_verified") is True and email in settings.admins
        is_admin = is_named or bool(groups & admin_groups)
        if allowed and not is_admin and not groups & allowed:
            raise refused(
                "Your account is in no group that may use this server.",
                remedy="Ask the operator of the server, or log in with another account.",
            )
        return Account(id=claims["sub"], shown=_shown(claims), is_admin=is_admin)

    return read


def _groups(claims: Mapping[str, Any], name: str) -> set[str]:
    """The person's groups, from the claim `name`; dots lead into objects: `realm_access.roles`."""
    found: Any = claims.get(name)
    if found is None:
        found = claims
        for part in name.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    listed = [found] if isinstance(found, str) else found
    return {one for one in listed if isinstance(one, str)} if isinstance(listed, list) else set()


def _shown(claims: Mapping[str, Any]) -> str:
    """The shown name of a person: address, user name, name, or the provider's id."""
    for name in ("email", "preferred_username", "name", "sub"):
        text = claims.get(name)
        found = "".join(ch for ch in text if ch.isprintable()) if isinstance(text, str) else ""
        if found.strip():
            return found.strip()[:NAME_LENGTH]
    return ""
