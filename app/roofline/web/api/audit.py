"""The audit table: an action is a row of it and a line of the log; it is read as JSON lines."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import orjson
import structlog
from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from roofline.errors import NotAllowedError
from roofline.storage.audit import AuditEntry
from roofline.web.api.responses import sent_as
from roofline.web.http.guard import ID_CHARACTERS_LOGGED, actor_of, peer_of_request
from roofline.web.parts import Parts, parts_of

JSON_LINES = "application/x-ndjson"

router = APIRouter(prefix="/api/v1", tags=["server"])
_audit = structlog.get_logger("roofline.audit")


def log_action(
    request: Request, action: str, subject: str = "", *, person: str = "", details: str = ""
) -> None:
    """Writes down that this request's sender, or `person`, did `action`. May block.

    `subject` is the id of a profile or token. It stands whole in the table, which administrators
    read, and not in the log: links are secrets.
    """
    person = person or actor_of(request).name
    address = peer_of_request(request).address
    shown = subject[:ID_CHARACTERS_LOGGED]
    _audit.info(action, by=person, address=address, profile=shown, details=details)
    entry = AuditEntry(
        action=action, person=person, address=address, subject=subject, details=details
    )
    parts_of(request).instance.store.audit.write(entry)


@router.get("/audit", response_class=StreamingResponse, responses={200: sent_as(JSON_LINES)})
def audit_table(
    request: Request,
    parts: Parts,
    after: Annotated[
        int, Query(ge=0, le=2**53, description="Only entries with a higher number.")
    ] = 0,
    since: Annotated[str, Query(max_length=40, description="ISO 8601 in UTC, or its start.")] = "",
) -> StreamingResponse:
    """The audit table as JSON lines, the oldest entry first; for administrators.

    Uploads, edits, deletions, restorations, downloads, shares, tokens, log-ins and reads. Repeated
    reads of a profile by one person are one entry in ten minutes.
    """
    if not actor_of(request).is_admin:
        raise NotAllowedError(
            "Only an administrator can read the audit table.", remedy="Ask one of them."
        )
    log_action(request, "read audit")
    entries = parts.instance.store.audit.entries(after=after, since=since)
    lines: Iterator[bytes] = (orjson.dumps(asdict(one)) + b"\n" for one in entries)
    return StreamingResponse(lines, media_type=JSON_LINES)
