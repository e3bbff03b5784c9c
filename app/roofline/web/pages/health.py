"""Answers for monitors: whether the server lives, whether it works, and its numbers."""

from fastapi import APIRouter, Response
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from roofline import __version__
from roofline.errors import StorageFullError, StoreUnavailableError
from roofline.web.parts import Parts

_READ = ["GET", "HEAD"]

router = APIRouter(include_in_schema=False)


@router.api_route("/healthz", methods=_READ)
async def health() -> dict[str, str]:
    """Answers while the process lives: from the loop itself, without a thread."""
    return {"status": "ok", "version": __version__}


@router.api_route("/readyz", methods=_READ)
def ready(parts: Parts) -> dict[str, str]:
    """Answers 200 while profiles can be read and stored, 503 with the reason otherwise."""
    if parts.streams.is_closing:
        raise StoreUnavailableError("The server is stopping.", remedy="Ask another one.")
    try:
        parts.instance.check()
    except StorageFullError as error:  # this question has one answer for "no"
        raise StoreUnavailableError(error.message, remedy=error.remedy) from error
    return {"status": "ready"}


@router.get("/metrics")
def metrics(parts: Parts) -> Response:
    """The numbers, in Prometheus's text format."""
    return Response(parts.metrics.text(), media_type=CONTENT_TYPE_LATEST)
