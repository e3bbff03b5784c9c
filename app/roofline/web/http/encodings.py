"""Compressed forms of an answer: which one a client takes, and how it is made."""

from functools import lru_cache

from fastapi import Request

_REFUSED = {"q=0", "q=0.0", "q=0.00", "q=0.000"}
# Browsers offer some dozens of characters, the same ones each time.
OFFER_LENGTH = 200


def accepts(request: Request, encoding: str) -> bool:
    """True if the client takes `encoding`, such as "gzip"."""
    offered = request.headers.get("accept-encoding", "")
    if len(offered) > OFFER_LENGTH:  # the last that is whole: one without its weight is none
        offered = offered[:OFFER_LENGTH].rpartition(",")[0]
    return _offers(offered, encoding)


@lru_cache(maxsize=256)
def _offers(offered: str, encoding: str) -> bool:
    for offer in offered.lower().split(","):
        name, _, weight = offer.partition(";")
        if name.strip() in {encoding, "*"}:
            return weight.replace(" ", "") not in _REFUSED
    return False


def accepts_gzip(request: Request) -> bool:
    """True if the client takes gzip."""
    return accepts(request, "gzip")


def best_encoding(request: Request) -> str:
    """The encoding that a page is sent in: "zstd", "gzip" or, as it is, ""."""
    return next((name for name in ("zstd", "gzip") if accepts(request, name)), "")


def matches(request: Request, etag: str) -> bool:
    """True if the client already holds this `etag`."""
    held = request.headers.get("if-none-match", "")
    if not held:
        return False
    return held.strip() == "*" or etag in {
        one.strip().removeprefix("W/") for one in held.split(",")
    }
