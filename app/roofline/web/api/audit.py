"""The audit log: a line per change of a profile and per download, with the person."""

import structlog
from fastapi import Request

from roofline.web.http.guard import ID_CHARACTERS_LOGGED, actor_of, peer_of_request

_audit = structlog.get_logger("roofline.audit")


def log_action(request: Request, action: str, profile_id: str) -> None:
    """Writes down that this request's sender did `action`."""
    _audit.info(
        action,
        by=actor_of(request).name,
        address=peer_of_request(request).address,
        profile=profile_id[:ID_CHARACTERS_LOGGED],
    )
