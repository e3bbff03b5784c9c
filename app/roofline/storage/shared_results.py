"""Results where this process reads them, and packed where other machines find them.

Each machine has results in its data folder. Where raw files are elsewhere, in an object store, the
results of each profile lie beside them as one tar file, for the folders of other machines.
"""

import hashlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

from roofline.storage import statements
from roofline.storage.blobs import BlobInfo, BlobStore
from roofline.storage.database import Database
from roofline.storage.records import PackedResults
from roofline.storage.results import DamagedResultError, ResultStore
from roofline.storage.staging import StagingArea

FOLDER = "results"
_PACKED = "results.tar"
_log = logging.getLogger("roofline.store")


class SharedResults:
    """The results of `local`, shared through `blobs` unless these lie in the same folder `root`."""

    def __init__(
        self, root: Path, local: ResultStore, blobs: BlobStore, database: Database
    ) -> None:
        self._local = local
        self._blobs = blobs
        self._database = database
        self.is_shared = blobs.folder != root

    def show(self, profile_id: str, area: StagingArea) -> None:
        """Keeps what the page needs, here; the child still writes the exports."""
        self._local.adopt(profile_id, area.results)

    def keep(self, profile_id: str, area: StagingArea) -> PackedResults | None:
        """Keeps the results in `area` that are not kept yet; where others find them, if need be."""
        if not area.results.is_dir():
            self._local.complete(profile_id, area.exports)
            return None
        if area.exports.is_dir():
            self._local.join(area.results, area.exports)
        packed = self._pack(profile_id, area) if self.is_shared else None
        self._local.adopt(profile_id, area.results)
        return packed

    def is_intact(self, profile_id: str) -> bool:
        """Reads the results, here and packed; false if there are any and they are damaged."""
        with self._database.read() as connection:
            packed = statements.packed_results(connection, profile_id, self._local.version)
        if packed is not None and packed.sha256 is not None and not self._is_whole(packed):
            return False
        return self._local.is_intact(profile_id)

    def _is_whole(self, packed: PackedResults) -> bool:
        digest = hashlib.sha256()
        try:
            for chunk in self._blobs.open(packed.key):
                digest.update(chunk)
        except FileNotFoundError:
            return True  # not there: computed again on the next request
        return digest.hexdigest() == packed.sha256

    def obtain(self, profile_id: str, new_area: Callable[[], StagingArea]) -> bool:
        """Sees to it that results are in the data folder; false when they must be computed.

        Those that others keep for it are checked: damaged ones are removed.
        """
        if self._local.has(profile_id):
            return True
        if self._local.is_outdated(profile_id):
            return False
        with self._database.read() as connection:
            packed = statements.packed_results(connection, profile_id, self._local.version)
        if packed is None or self._blobs.head(packed.key) is None:
            return False
        try:
            self._fetch(profile_id, packed.key, new_area())
        except (DamagedResultError, FileNotFoundError):
            _log.warning("packed results are damaged or gone; they are computed again")
            self._blobs.delete(packed.key)
            return False
        return self._local.has(profile_id)

    def _fetch(self, profile_id: str, key: str, area: StagingArea) -> None:
        try:
            packed = area.root / _PACKED
            with packed.open("xb") as file:
                file.writelines(self._blobs.open(key))
            self._local.adopt_packed(profile_id, packed, area.results)
        finally:
            area.discard()

    def remove(self, profile_id: str) -> None:
        """Deletes the results of a profile, everywhere."""
        self._local.remove(profile_id)
        if self.is_shared:
            for found in list(self._blobs.list(f"{FOLDER}/{profile_id}/")):
                self._blobs.delete(found.key)

    def profile_ids(self, *, before: float) -> set[str]:
        """Profiles that have results here; those that others find only if older than `before`."""
        return set(self._local.profile_ids()) | {
            info.key.split("/")[1] for info in self._packed() if info.modified_at <= before
        }

    def _packed(self) -> Iterator[BlobInfo]:
        return self._blobs.list(f"{FOLDER}/") if self.is_shared else iter(())

    def _pack(self, profile_id: str, area: StagingArea) -> PackedResults:
        key = f"{FOLDER}/{profile_id}/{self._local.version}.tar"
        packed = area.root / _PACKED
        self._local.pack(area.results, packed)
        self._blobs.put(key, packed)
        with packed.open("rb") as file:
            return PackedResults(key=key, sha256=hashlib.file_digest(file, "sha256").hexdigest())
