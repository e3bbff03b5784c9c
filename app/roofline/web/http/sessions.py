"""Sessions of mode `token`: a cookie that proves the token was entered, without being the token.

The cookie holds a random id and a name, with the time, signed by itsdangerous with a key derived
from the token: a changed token ends every session that it opened. The server stores only the
sessions that ended before their time (`storage/revocable.py`).
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any

from itsdangerous import BadSignature, Signer, URLSafeTimedSerializer

COOKIE = "roofline_session"
LIFETIME_S = 30 * 24 * 3600
SIGNING: dict[str, Any] = {"key_derivation": "hmac", "digest_method": hashlib.sha256}


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One browser that entered a token; `name` is what its user wants to be called.

    `opened_s` is when that was, in Unix seconds.
    """

    id: str
    opened_s: float
    name: str
    is_admin: bool


class Sessions:
    """Opens and reads sessions. Both arguments are secrets; an empty one opens nothing."""

    def __init__(self, token: str, admin_token: str) -> None:
        self._keys = {False: _Keys(token, "member")}
        if admin_token:
            self._keys[True] = _Keys(admin_token, "admin")

    def open(self, name: str, *, is_admin: bool) -> str:
        """The cookie's value for a new session."""
        return self._keys[is_admin].cookies.dumps([secrets.token_hex(16), name])

    def read(self, value: str) -> Session | None:
        """The session of a cookie; `None` if it is forged, damaged or over."""
        for is_admin, keys in self._keys.items():
            try:
                content, opened = keys.cookies.loads(
                    value, max_age=LIFETIME_S, return_timestamp=True
                )
            except BadSignature:
                continue
            session_id, name = content
            return Session(id=session_id, opened_s=opened.timestamp(), name=name, is_admin=is_admin)
        return None

    def csrf(self, session: Session) -> str:
        """The token that this session's browser must send along with every change."""
        return self._keys[session.is_admin].changes.get_signature(session.id).decode()


class _Keys:
    """The signers of one role, by one secret: of cookies, and of the tokens of changes."""

    def __init__(self, secret: str, role: str) -> None:
        salt = f"roofline {role} session"
        self.cookies = URLSafeTimedSerializer(secret, salt=salt, signer_kwargs=SIGNING)
        self.changes = Signer(secret, salt=f"roofline {role} csrf", **SIGNING)


def local_path(address: str) -> str:
    """`address` if it is a path on this server: a log-in must not lead elsewhere."""
    is_path = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_path and address.isprintable() and address.isascii() else "/"
