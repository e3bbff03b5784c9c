"""The audit table: each action with its person, profile, address and time. Rows are only added.

A change is written before it is answered. Reads are written some seconds later, and repeated reads
of one profile by one person are one row within `SAME_READ_S`: otherwise they would be a write
for each request.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field

from cachetools import TTLCache
from sqlalchemy import insert, select

from roofline.errors import RooflineError
from roofline.storage.database import Database
from roofline.storage.records import timestamp
from roofline.storage.tables import audit

SAME_READ_S = 600.0
# Entries that wait for a database which cannot be written.
MOST_WAITING = 100_000
READS_REMEMBERED = 50_000
BATCH = 1_000
_log = logging.getLogger("roofline.store")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One action of a person. `subject` is the id of a profile or token, empty for others.

    `at` is ISO 8601 in UTC.
    """

    action: str
    person: str
    address: str = ""
    subject: str = ""
    details: str = ""
    at: str = field(default_factory=timestamp)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedEntry(AuditEntry):
    """An entry as stored; a later one has a higher number."""

    number: int


class AuditLog:
    """The audit table in `database`. For any thread."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._waiting: deque[AuditEntry] = deque(maxlen=MOST_WAITING)
        self._reads: TTLCache[tuple[str, str, str], bool] = TTLCache(
            READS_REMEMBERED, SAME_READ_S, timer=clock
        )
        self._reads_lock, self._lock = threading.Lock(), threading.Lock()

    def write(self, entry: AuditEntry) -> None:
        """Writes `entry`; where the database cannot be written now, with the next `flush`.

        What the entry is about has been done: an error would say that it was not.
        """
        self._waiting.append(entry)
        try:
            self.flush()
        except RooflineError as error:
            _log.warning("the audit table waits: %s", error.message)

    def note_read(self, action: str, person: str, address: str, subject: str) -> None:
        """Notes that a person read something, to be written with the next `flush`."""
        key = (person, subject, action)
        with self._reads_lock:
            if key in self._reads:
                return
            self._reads[key] = True
        entry = AuditEntry(action=action, person=person, address=address, subject=subject)
        self._waiting.append(entry)

    def flush(self) -> None:
        """Writes what waits, in its order."""
        with self._lock:
            found = list(self._waiting)
            if not found:
                return
            with self._database.write() as connection:
                connection.execute(insert(audit), [asdict(one) for one in found])
            for _ in found:
                self._waiting.popleft()

    def entries(self, *, after: int = 0, since: str = "") -> Iterator[NumberedEntry]:
        """Entries with a higher number than `after`, not before `since`, the oldest first."""
        self.flush()
        while rows := self._rows(after, since):
            yield from rows
            after = rows[-1].number

    def _rows(self, after: int, since: str) -> list[NumberedEntry]:
        wanted = select(audit).where(audit.c.number > after, audit.c.at >= since)
        ordered = wanted.order_by(audit.c.number).limit(BATCH)
        with self._database.read() as connection:
            return [NumberedEntry(**row._mapping) for row in connection.execute(ordered)]
