"""The sign-in provider of mode `oidc`: discovery, codes for tokens, and what an ID token says.

Authlib writes and reads the messages of OAuth and checks the claims of ID tokens, joserfc their
signatures. The provider is first asked when somebody logs in: a server starts without it.

Sources: OpenID Connect Core 1.0 (3.1), Discovery 1.0, RP-Initiated Logout 1.0; RFC 7636 (PKCE),
RFC 9207 (`iss` in answers).

Mode `oidc`: log-ins by a sign-in provider, and the sessions that they open.

The browser that begins a log-in keeps its state, nonce and code verifier in a signed cookie, so
that any server of the instance can end what another began. Sessions last for some hours: then the
provider is asked again, and says whether the person still belongs here.
"""

import hashlib
import hmac
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from itsdangerous import BadSignature, Signer, URLSafeTimedSerializer
from starlette.datastructures import Headers

from roofline.errors import LogInRefusedError, ProviderUnavailableError
from roofline.storage.revocable import EndedSessions, People
from roofline.web.http.access import NAME_LENGTH, Actor, cookie_of
from roofline.web.http.sessions import COOKIE, SIGNING

if TYPE_CHECKING:
    from authlib.integrations.requests_client import OAuth2Session
    from joserfc.jwk import KeySet

    from roofline.settings import Settings
    from roofline.web.http.forwarded import Peer


WELL_KNOWN = "/.well-known/openid-configuration"
TIMEOUT_S = 10.0
METADATA_KEPT_S = 3600.0
# Keys are asked for again when none fits, but not at every forged token.
KEYS_KEPT_S = 60.0
LEEWAY_S = 60
# Signatures of the provider alone: "none" and those with a shared secret are not among them.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
_USED = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_OPTIONAL = ("userinfo_endpoint", "end_session_endpoint")
_JWT = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One log-in under way. All but `next` are secrets of the browser that began it."""

    state: str
    nonce: str
    verifier: str
    next: str


class SignedIn(NamedTuple):
    """The provider's claims about a person, and its ID token, which is the hint at a log-out."""

    claims: Mapping[str, Any]
    id_token: str


class Provider:
    """The provider that `settings` name. Every method may block, and may be called anywhere."""

    def __init__(self, settings: "Settings") -> None:
        assert settings.oidc_client_secret is not None  # `check_access` saw to it
        self.issuer = settings.oidc_issuer.rstrip("/")
        self._client_id = settings.oidc_client_id
        self._secret = settings.oidc_client_secret.get_secret_value()
        self._scope = " ".join(dict.fromkeys(("openid", *settings.oidc_scopes)))
        self._groups_claim = settings.oidc_groups_claim
        self._lock = threading.Lock()
        self._metadata: tuple[float, Mapping[str, Any]] | None = None
        self._keys: tuple[float, KeySet] | None = None

    def authorization_url(self, attempt: Attempt, redirect_uri: str) -> str:
        """Where a browser is sent to log in."""
        with self._session(redirect_uri) as session:
            url, _ = session.create_authorization_url(
                self._known()["authorization_endpoint"],
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.verifier,
            )
        return str(url)

    def signed_in(self, code: str, attempt: Attempt, redirect_uri: str) -> SignedIn:
        """The provider's claims about the person for whom it gave `code`, once it is checked.

        Raises `LogInRefusedError` for a code or token that is not right.
        """
        token = self._token(code, attempt, redirect_uri)
        claims = self._checked(token, attempt.nonce)
        if self._groups_claim not in claims or "email" not in claims:
            claims = {**self._user_info(token, claims["sub"]), **claims}
        return SignedIn(claims, token["id_token"])

    def end_session_url(self, return_to: str, hint: str = "") -> str | None:
        """Where the browser ends its session with the provider; `None` where it offers no such.

        `hint` is the ID token of the log-in, from the browser: anything else is left out.
        """
        endpoint = self._known().get("end_session_endpoint")
        if not endpoint:
            return None
        fields = {"client_id": self._client_id, "post_logout_redirect_uri": return_to}
        if _JWT.fullmatch(hint):
            fields["id_token_hint"] = hint
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(fields)}"

    def _session(self, redirect_uri: str) -> "OAuth2Session":
        from authlib.integrations.requests_client import OAuth2Session

        methods = self._known().get("token_endpoint_auth_methods_supported")
        method = "client_secret_basic"
        if methods and method not in methods:
            method = "client_secret_post"
        return OAuth2Session(
            self._client_id,
            self._secret,
            scope=self._scope,
            redirect_uri=redirect_uri,
            token_endpoint_auth_method=method,
            code_challenge_method="S256",
        )

    def _token(self, code: str, attempt: Attempt, redirect_uri: str) -> Mapping[str, Any]:
        import requests
        from authlib.integrations.base_client import OAuthError

        try:
            with self._session(redirect_uri) as session:
                token: Mapping[str, Any] = session.fetch_token(
                    self._known()["token_endpoint"],
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=attempt.verifier,
                    timeout=TIMEOUT_S,
                    allow_redirects=False,
                )
        except OAuthError as error:
            message = f"The provider did not take the code of this log-in ({error.error})."
            raise refused(message) from error
        except (requests.RequestException, ValueError) as error:
            raise self._unavailable() from error
        if not isinstance(token.get("id_token"), str):
            raise refused("The provider answered without an ID token.")
        return token

    def _checked(self, token: Mapping[str, Any], nonce: str) -> dict[str, Any]:
        """The claims of the ID token: signature, issuer, audience, times and nonce are right."""
        from authlib.oidc.core import CodeIDToken
        from joserfc.errors import JoseError

        options = {
            "iss": {"essential": True, "value": self.issuer},
            "aud": {"essential": True, "value": self._client_id},
            "sub": {"essential": True},
        }
        params = {
            "nonce": nonce,
            "client_id": self._client_id,
            "access_token": token.get("access_token"),
        }
        try:
            found = self._decoded(token["id_token"])
            claims = CodeIDToken(found.claims, found.header, options, params)
            claims.validate(leeway=LEEWAY_S)
        except (JoseError, ValueError, TypeError) as error:
            reason = getattr(error, "error", "") or type(error).__name__
            claim = getattr(error, "claim", "")
            raise refused(
                f"The provider's ID token is not right: {' '.join(filter(None, (reason, claim)))}."
            ) from error
        if not isinstance(claims["sub"], str) or not claims["sub"]:
            raise refused("The provider's ID token names no person.")
        return dict(claims)

    def _decoded(self, id_token: str) -> Any:
        from joserfc import jwt
        from joserfc.errors import JoseError

        offered = self._known().get("id_token_signing_alg_values_supported", ["RS256"])
        algorithms = [one for one in ALGORITHMS if one in offered]
        try:
            return jwt.decode(id_token, self._known_keys(), algorithms=algorithms)
        except (JoseError, ValueError):
            # Providers change their keys: once more with the present ones.
            return jwt.decode(id_token, self._known_keys(anew=True), algorithms=algorithms)

    def _user_info(self, token: Mapping[str, Any], subject: str) -> Mapping[str, Any]:
        """The provider's further claims about that person; none where it has no such address."""
        endpoint = self._known().get("userinfo_endpoint")
        access_token = token.get("access_token")
        if not endpoint or not isinstance(access_token, str):
            return {}
        found = self._get(endpoint, {"authorization": f"Bearer {access_token}"})
        if found.get("sub") != subject:
            raise refused("The provider spoke of two people in one log-in.")
        return found

    def _known(self) -> Mapping[str, Any]:
        """The provider's metadata, at most an hour old."""
        with self._lock:
            if self._metadata is not None and self._metadata[0] > time.monotonic():
                return self._metadata[1]
            found = self._get(f"{self.issuer}{WELL_KNOWN}")
            self._check_metadata(found)
            self._metadata = time.monotonic() + METADATA_KEPT_S, found
            return found

    def _check_metadata(self, found: Mapping[str, Any]) -> None:
        if str(found.get("issuer", "")).rstrip("/") != self.issuer:
            raise ProviderUnavailableError(
                "The sign-in provider calls itself by another name than ROOFLINE_OIDC_ISSUER.",
                remedy="Ask the operator of the server to correct that setting.",
            )
        schemes = {"https", urlsplit(self.issuer).scheme}
        given = [found.get(name) for name in _USED]
        given += [found[name] for name in _OPTIONAL if name in found]
        if not all(isinstance(one, str) and urlsplit(one).scheme in schemes for one in given):
            raise self._unavailable()

    def _known_keys(self, *, anew: bool = False) -> "KeySet":
        from joserfc.jwk import KeySet

        uri = self._known()["jwks_uri"]
        with self._lock:
            kept = self._keys
            if kept is not None and (not anew or kept[0] > time.monotonic()):
                return kept[1]
            keys = [one for one in self._get(uri).get("keys", []) if one.get("use") != "enc"]
            found = KeySet.import_key_set({"keys": keys})
            self._keys = time.monotonic() + KEYS_KEPT_S, found
            return found

    def _get(self, url: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        import requests

        try:
            answer = requests.get(
                url, headers=dict(headers or {}), timeout=TIMEOUT_S, allow_redirects=False
            )
            answer.raise_for_status()
            found = answer.json()
        except (requests.RequestException, ValueError) as error:
            raise self._unavailable() from error
        if answer.status_code != requests.codes.ok or not isinstance(found, dict):
            raise self._unavailable()
        return found

    def _unavailable(self) -> ProviderUnavailableError:
        return ProviderUnavailableError(
            f"The sign-in provider {urlsplit(self.issuer).netloc} does not answer as it should.",
            remedy="Try again in a minute. If it stays so, tell the operator of the server.",
        )


def refused(message: str, remedy: str = "Try again from the start.") -> LogInRefusedError:
    """Why a log-in was refused."""
    return LogInRefusedError(message, remedy=remedy)


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
    captures: bool


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
        content = [secrets.token_hex(16), owner, found.shown, found.is_admin, found.captures]
        return self._sessions.dumps(content), found.shown

    def identify(self, headers: Headers, _peer: "Peer") -> Actor | None:
        """The person of a session's cookie."""
        found = self._session(headers)
        if found is None:
            return None
        session_id, owner, shown, is_admin, *captures = found[0]  # of old sessions, four
        return Actor(
            owner=owner,
            name=shown,
            is_admin=is_admin,
            captures=any(captures),
            csrf=self._changes.get_signature(session_id).decode(),
            has_session=True,
        )

    def log_out(self, headers: Headers) -> None:
        """Ends the session of these headers, if they have one, for every copy of its cookie."""
        found = self._session(headers)
        if found is not None:
            self._ended.end(found[0][0], over_s=found[1] + LIFETIME_S)

    def _session(self, headers: Headers) -> tuple[tuple[Any, ...], float] | None:
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
    capture_groups = set(settings.capture_groups)

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
        return Account(
            id=claims["sub"],
            shown=_shown(claims),
            is_admin=is_admin,
            captures=bool(groups & capture_groups),
        )

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
