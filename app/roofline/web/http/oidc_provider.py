"""The sign-in provider of mode `oidc`: discovery, codes for tokens, and what an ID token says.

Authlib writes and reads the messages of OAuth and checks the claims of ID tokens, joserfc their
signatures. The provider is first asked when somebody logs in: a server starts without it.

Sources: OpenID Connect Core 1.0 (3.1), Discovery 1.0, RP-Initiated Logout 1.0; RFC 7636 (PKCE),
RFC 9207 (`iss` in answers).
"""

import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from roofline.errors import LogInRefusedError, ProviderUnavailableError

if TYPE_CHECKING:
    from authlib.integrations.requests_client import OAuth2Session
    from joserfc.jwk import KeySet

    from roofline.settings import Settings

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
