"""Statements on the regular check of the store: how far it is, and what it found damaged."""

from collections.abc import Iterable

from sqlalchemy import Connection, delete, select

from roofline.model.plain_data import alike
from roofline.storage.database import insert_new
from roofline.storage.records import ScrubState, timestamp
from roofline.storage.tables import damage, scrub


def note_damage(connection: Connection, digest: str) -> None:
    """Notes that a raw file is damaged or missing; when that was found first, stays."""
    values = {"sha256": digest, "found_at": timestamp()}
    connection.execute(insert_new(connection, damage).values(values))


def forget_damage(connection: Connection, digests: Iterable[str]) -> bool:
    """Notes that raw files are whole again, or gone; true if one had been found damaged."""
    gone = delete(damage).where(damage.c.sha256.in_(list(digests)))
    return connection.execute(gone).rowcount > 0


def damaged_files(connection: Connection) -> dict[str, str]:
    """Digests of the raw files that are known to be damaged, and when that was found."""
    rows = connection.execute(select(damage).order_by(damage.c.sha256))
    return {row.sha256: row.found_at for row in rows}


def scrub_states(connection: Connection) -> tuple[ScrubState, ...]:
    """How far the check of each part is that has begun."""
    rows = connection.execute(select(scrub).order_by(scrub.c.part))
    return tuple(alike(ScrubState, row) for row in rows)
