"""Unix seconds as the API writes times."""

from datetime import UTC, datetime

DAY_S = 24 * 3600.0


def moment(seconds: float) -> str:
    """ISO 8601 in UTC, to the second: 2026-01-31T12:00:00Z."""
    found = datetime.fromtimestamp(seconds, UTC)
    return found.isoformat(timespec="seconds").replace("+00:00", "Z")
