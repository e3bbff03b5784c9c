"""Sessions of mode `token`: a cookie that proves the token was entered, without being the token.

Nothing is stored on the server. The cookie holds a random id, a name and the time, signed with a
key derived from the token: a changed token ends every session that it opened.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

COOKIE = "roofline_session"
LIFETIME_S = 30 * 24 * 3600
_VERSION = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One browser that entered a token; `name` is what its user wants to be called."""

    id: str
    name: str
    is_admin: bool


class Sessions:
    """Opens and reads sessions. Both arguments are secrets; an empty one opens nothing."""

    def __init__(
        self, token: str, admin_token: str, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._keys = {False: _key(token), True: _key(admin_token) if admin_token else None}
        self._clock = clock

    def open(self, name: str, *, is_admin: bool) -> str:
        """The cookie's value for a new session."""
        role = "admin" if is_admin else "member"
        named = base64.urlsafe_b64encode(name.encode()).decode()
        text = ".".join([_VERSION, role, str(int(self._clock())), secrets.token_hex(16), named])
        return f"{text}.{self._sign(text, is_admin=is_admin)}"

    def read(self, value: str) -> Session | None:
        """The session of a cookie; `None` if it is forged, damaged or over."""
        text, _, signature = value.rpartition(".")
        parts = text.split(".")
        if len(parts) != 5 or parts[0] != _VERSION or not value.isascii():
            return None
        _, role, opened_at, session_id, named = parts
        is_admin = role == "admin"
        if not hmac.compare_digest(signature, self._sign(text, is_admin=is_admin)):
            return None
        # From here on the text is ours.
        if self._clock() - int(opened_at) > LIFETIME_S:
            return None
        return Session(id=session_id, name=_decoded(named), is_admin=is_admin)

    def csrf(self, session: Session) -> str:
        """What this session's browser must send along with every change."""
        return self._sign(f"csrf.{session.id}", is_admin=session.is_admin)

    def _sign(self, text: str, *, is_admin: bool) -> str:
        key = self._keys[is_admin]
        if key is None:  # no admin token: no signature can be right
            return secrets.token_hex(32)
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _key(secret: str) -> bytes:
    return hmac.new(secret.encode(), b"roofline session key", hashlib.sha256).digest()


def _decoded(named: str) -> str:
    try:
        return base64.urlsafe_b64decode(named).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
