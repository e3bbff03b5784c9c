"""Compressed forms of an answer: which one a client takes, and how it is made."""

import gzip
import hashlib
from functools import lru_cache

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

_REFUSED = {"q=0", "q=0.0", "q=0.00", "q=0.000"}
# Browsers offer some dozens of characters, the same ones each time.
OFFER_LENGTH = 200
_LEVEL = 5  # of gzip: a tenth larger than at 9, in a third of the time


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


async def sent_json(request: Request, content: bytes) -> Response:
    """A JSON document, gzip where the client takes it; 304 where it holds it."""
    is_packed = accepts(request, "gzip")
    headers = {
        "etag": f'"{hashlib.sha256(content).hexdigest()[:32]}{"-gz" if is_packed else ""}"',
        "cache-control": "private, no-cache",
        "vary": "accept-encoding",
    }
    if matches(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    if is_packed:
        headers["content-encoding"] = "gzip"
        content = await run_in_threadpool(gzip.compress, content, _LEVEL, mtime=0)
    return Response(content, headers=headers, media_type="application/json")
