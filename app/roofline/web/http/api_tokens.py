"""API tokens in requests: the person behind one, and what it allows.

| scope    | allows                                                               |
|----------|----------------------------------------------------------------------|
| `read`   | everything that changes nothing                                      |
| `upload` | also uploads, and changes of profiles that its owner may change      |
| `share`  | also links that show a profile without a log-in                      |
| `capture` | captures of programs, and nothing else that changes; of administrators |
| `admin`  | also what administrators may do; only they can make such a token     |

No token can make or revoke tokens. In mode `token` a digest is keyed with the secret that opened
the session of its maker: like sessions, tokens end when that secret is changed.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from roofline.errors import BadEditError, NotAllowedError
from roofline.storage.revocable import ApiTokens, Scope
from roofline.web.http.access import Actor, Identify, bearer_token, shown_owner

if TYPE_CHECKING:
    from roofline.settings import Settings
    from roofline.web.http.forwarded import Peer

PREFIX = "rfl_"
TOKENS_PATH = "/api/v1/tokens"
CAPTURES_PATH = "/api/v1/captures"
_LINKS = re.compile(r"/api/v1/profiles/.*/links(/.*)?", re.DOTALL)
# Changes nothing, although it is a POST.
_COMPUTES = frozenset({"/api/v1/estimate"})


class TokenHolders:
    """The people behind API tokens; `was_admin` tells of people that a provider vouches for."""

    def __init__(
        self, settings: "Settings", tokens: ApiTokens, was_admin: Callable[[str], bool]
    ) -> None:
        self._tokens = tokens
        proxy_admins = frozenset(settings.admins)
        self._is_admin = was_admin if settings.auth == "oidc" else proxy_admins.__contains__
        # True: of those whose session was opened with the admins' secret.
        self._keys = {False: settings.token.get_secret_value() if settings.token else settings.auth}
        if settings.admin_token is not None:
            self._keys[True] = settings.admin_token.get_secret_value()

    def identify(self, given: str) -> Actor | None:
        """The owner of a token, with the rights of its scope; `None` for one that is not valid."""
        for is_of_admins, key in self._keys.items():
            found = self._tokens.find(_digest(key, given))
            if found is not None:
                is_admin = is_of_admins or self._is_admin(found.owner)
                return Actor(
                    owner=found.owner,
                    name=f"{shown_owner(found.owner)} (token {found.name})".strip(),
                    is_admin=found.scope == "admin" and is_admin,
                    captures=found.scope == "capture" and is_admin,
                    scope=found.scope,
                    token_id=found.id,
                )
        return None

    def new(self, maker: Actor) -> tuple[str, str]:
        """A secret for `maker`, and its digest, which alone is stored.

        Raises `BadEditError` for a sender who is not one person.
        """
        if not maker.owner:
            raise BadEditError(
                "A token belongs to a person, and the shared token names none.",
                remedy="Log in with a browser, and make the token there.",
            )
        token = PREFIX + secrets.token_urlsafe(32)
        key = self._keys.get(maker.is_admin, self._keys[False])
        return token, _digest(key, token)


def known_by_token(holders: TokenHolders, otherwise: Identify) -> Identify:
    """Finds the sender by an API token if the request carries one, `otherwise` without."""

    def identify(headers: Headers, peer: "Peer") -> Actor | None:
        given = bearer_token(headers)
        if given is not None and given.startswith(PREFIX):
            return holders.identify(given)
        return otherwise(headers, peer)

    return identify


def refusal_to_token(scope: Scope, path: str) -> NotAllowedError | None:
    """Why a token of this scope may not change anything at `path`, or `None`."""
    if path.startswith(TOKENS_PATH):
        return NotAllowedError(
            "Tokens are made and revoked by people, not with a token.",
            remedy="Log in with a browser, and open /tokens.",
        )
    if path in _COMPUTES or path == TOOLS_PATH:
        return None
    if scope == "read":
        return NotAllowedError(
            "This token may read, and change nothing.",
            remedy="Use a token with the scope `upload`.",
        )
    if scope != "admin" and (scope == "capture") != path.startswith(CAPTURES_PATH):
        return NotAllowedError(
            "This token does not capture programs."
            if path.startswith(CAPTURES_PATH)
            else "This token captures programs, and changes nothing else.",
            remedy="Use a token with another scope.",
        )
    if scope == "upload" and _LINKS.fullmatch(path):
        return NotAllowedError(
            "This token may neither make nor revoke share links: they show a profile to people"
            " without a log-in.",
            remedy="Use a token with the scope `share`.",
        )
    return None


def _digest(key: str, token: str) -> str:
    return hmac.digest(key.encode(), token.encode(), hashlib.sha256).hex()


TOOLS_PATH = "/mcp"  # sent by POST; what changes something asks for its sender's right itself
LINK_FOLDER = "/l/"


def new_share_token() -> tuple[str, str]:
    """A secret for the address of a link (256 random bits), and its digest."""
    token = secrets.token_urlsafe(32)
    return token, share_digest(token)


def share_digest(token: str) -> str:
    """The digest that is stored of a secret."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def share_path(token: str) -> str:
    """The path that a link begins with."""
    return f"{LINK_FOLDER}{token}"
