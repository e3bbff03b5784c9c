"""Which database raw files belong to: so that a server with a wrong setting removes nothing."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from roofline.storage import statements
from roofline.storage.blobs import BlobStore
from roofline.storage.database import Database
from roofline.storage.raw import RawStore

_MARK = "blobs/instance"


class BlobOwner:
    """The mark beside raw files that names their database. `scratch` is a folder to write in."""

    def __init__(self, database: Database, blobs: BlobStore, raw: RawStore, scratch: Path) -> None:
        self._database = database
        self._blobs = blobs
        self._raw = raw
        self._scratch = scratch

    def is_this_database(self) -> bool:
        """True if these raw files belong to this database; false if another database owns them,
        so that none may be deleted.

        Files without a mark are ours if we know one of them, or if there are none. An upload stores
        its file before its row: ask once before the first upload, so that there is a mark.
        """
        with self._database.read() as connection:
            mine = statements.instance_id(connection).encode()
        if self._blobs.head(_MARK) is not None:
            return b"".join(self._blobs.open(_MARK)) == mine
        found = [digest for digest, _ in self._raw.list()]
        with self._database.read() as connection:
            known = statements.referenced(connection)
        if found and not known.intersection(found):
            return False
        self._write(mine)
        return True

    def _write(self, mine: bytes) -> None:
        with NamedTemporaryFile(dir=self._scratch, prefix=".") as file:
            file.write(mine)
            file.flush()
            os.fsync(file.fileno())
            self._blobs.put(_MARK, Path(file.name))
