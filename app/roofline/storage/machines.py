"""Measurements of machines that people sent: none of them ever changes, so no peak does."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import orjson
from sqlalchemy import delete, func, select

from roofline.errors import BadEditError
from roofline.model.plain_data import alike
from roofline.storage.database import Database, insert_new
from roofline.storage.tables import machine

MOST_MACHINES = 500
MOST_OF_ONE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMachine:
    """One measurement. `device` is as profiles choose it, `measured:HOST/DEVICE-ID`; `owner` is
    what a profile remembers of its uploader, `document` as `roofline calibrate --export` writes it,
    with `sent_by`."""

    id: str
    device: str
    owner: str
    created_at: str
    document: str

    @property
    def entry(self) -> Mapping[str, Any]:
        """The document."""
        found: Mapping[str, Any] = orjson.loads(self.document)
        return found


class SentMachines:
    """The measurements in `database`. For any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self) -> list[SentMachine]:
        """All of them, the newest first."""
        ordered = select(machine).order_by(machine.c.created_at.desc(), machine.c.id)
        return [alike(SentMachine, row) for row in self._database.rows(ordered)]

    def get(self, machine_id: str) -> SentMachine | None:
        """The one of this id."""
        with self._database.read() as connection:
            row = connection.execute(select(machine).where(machine.c.id == machine_id)).first()
        return None if row is None else alike(SentMachine, row)

    def entry(self, device: str) -> Mapping[str, Any] | None:
        """The measurement of this machine, as `roofline calibrate` wrote it."""
        found = self.get(device.rpartition("-")[2])
        return found.entry if found is not None and found.device == device else None

    def add(self, new: SentMachine) -> None:
        """Keeps it, unless it is there. Raises `BadEditError` where there are too many."""
        of_one = machine.c.owner == new.owner
        with self._database.write() as connection:
            for most, whose in ((MOST_OF_ONE, of_one), (MOST_MACHINES, machine.c.id.is_not(None))):
                count = select(func.count()).select_from(machine).where(whose)
                if connection.execute(count).scalar_one() >= most:
                    raise BadEditError(
                        f"A server keeps {MOST_MACHINES} measurements, {MOST_OF_ONE} of a person.",
                        remedy="Remove those that are no longer used, on the page /devices.",
                    )
            connection.execute(insert_new(connection, machine).values(asdict(new)))

    def remove(self, machine_id: str) -> None:
        """Removes it; nothing happens where there is none."""
        self._database.change(delete(machine).where(machine.c.id == machine_id))
