"""Secrets of share links: random, in the address, and stored as digests."""

import hashlib
import secrets

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
