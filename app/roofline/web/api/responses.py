"""OpenAPI's words on responses that more than one route gives."""

from typing import Any

from roofline.web.bodies import UploadErrorBody
from roofline.web.http.errors import ErrorBody

Responses = dict[int | str, dict[str, Any]]

NOT_THERE: Responses = {
    404: {"model": ErrorBody, "description": "There is no such profile."},
}
NOT_READY: Responses = {
    **NOT_THERE,
    409: {"model": ErrorBody, "description": "The profile is still being imported."},
}
NO_SUCH_VIEW: Responses = {
    **NOT_READY,
    400: {"model": ErrorBody, "description": "A device, a peak or a range means nothing."},
    503: {"model": ErrorBody, "description": "The server is busy; see `Retry-After`."},
}
NOT_YOURS: Responses = {
    403: {"model": ErrorBody, "description": "The profile is somebody else's."},
    **NOT_THERE,
}
BAD_NOTE: Responses = {
    400: {"model": ErrorBody, "description": "The profile has no such point, or too many notes."},
}
NO_ROOM: Responses = {
    507: {"model": ErrorBody, "description": "The uploader has no room for it, or the disk."},
}
BAD_FILE: Responses = {
    400: {
        "model": UploadErrorBody,
        "description": "The upload is empty, malformed, a bad archive, or several profiles.",
    },
    413: {"model": ErrorBody, "description": "The upload is too large."},
    415: {"model": ErrorBody, "description": "The format is not read."},
    422: {"model": ErrorBody, "description": "The profile is damaged, incomplete or too large."},
    429: {"model": ErrorBody, "description": "Too many uploads; see `Retry-After`."},
    507: {"model": ErrorBody, "description": "The server's disk is full."},
}


def sent_as(*media_types: str) -> dict[str, Any]:
    """A response that is a file."""
    file = {"schema": {"type": "string", "format": "binary"}}
    return {"content": dict.fromkeys(media_types, file)}
