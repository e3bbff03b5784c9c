"""Sessions of mode `token`: a cookie that proves the token was entered, without being the token.

Nothing is stored on the server. The cookie holds a random id, a name and the time, signed by
itsdangerous with a key derived from the token: a changed token ends every session that it opened.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from itsdangerous import (
    BadData,
    Signer,
    TimestampSigner,
    URLSafeTimedSerializer,
    base64_decode,
)

COOKIE = "roofline_session"
LIFETIME_S = 30 * 24 * 3600


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
        self._keys = {False: _key(token), True: _key(admin_token)}
        self._clock = clock

    def open(self, name: str, *, is_admin: bool) -> str:
        """The cookie's value for a new session."""
        text = {"id": secrets.token_hex(16), "name": name}
        signed: str | bytes = self._serializer(is_admin=is_admin).dumps(text)
        return signed if isinstance(signed, str) else signed.decode()

    def read(self, value: str) -> Session | None:
        """The session of a cookie; `None` if it is forged, damaged or over."""
        for is_admin in (True, False):
            try:
                text = self._serializer(is_admin=is_admin).loads(value, max_age=LIFETIME_S)
            except BadData:
                continue
            return Session(id=text["id"], name=text["name"], is_admin=is_admin)
        return None

    def csrf(self, session: Session) -> str:
        """What this session's browser must send along with every change."""
        key = self._keys[session.is_admin]
        signer = Signer(key, salt="csrf", digest_method=hashlib.sha256)
        return base64_decode(signer.get_signature(session.id)).hex()

    def _serializer(self, *, is_admin: bool) -> URLSafeTimedSerializer:
        # Of their own salt: equal tokens would make a member's session an admin's otherwise.
        return URLSafeTimedSerializer(
            self._keys[is_admin],
            salt="admin session" if is_admin else "session",
            signer=_Signer,
            signer_kwargs={"clock": self._clock, "digest_method": hashlib.sha256},
        )


class _Signer(TimestampSigner):
    """Signs with the time of `clock`, in seconds since 1970."""

    def __init__(self, *arguments: Any, clock: Callable[[], float], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._clock = clock

    def get_timestamp(self) -> int:
        """Now."""
        return int(self._clock())


def _key(secret: str) -> bytes:
    """A key of its own for sessions; without a secret a random one, so no signature fits."""
    if not secret:
        return secrets.token_bytes(32)
    return hmac.new(secret.encode(), b"roofline session key", hashlib.sha256).digest()
