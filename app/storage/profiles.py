"""Which profiles there are: one manifest each, `profiles/<id>.json`. The manifest is the commit.

Order of writes, so that a crash at any time leaves no half profile: blobs, results, manifest.
Order of deletion: manifest, results, blobs. What a crash leaves in between belongs to no manifest
and is swept at the next start. All manifests are held in memory; one server owns a data folder.
"""

import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NewType

import orjson

from app.storage.blobs import BlobStore
from app.storage.durable import explained_writes, sync_directory, write_whole
from app.storage.results import ResultStore
from app.storage.staging import StagedFile

ProfileId = NewType("ProfileId", str)

SCHEMA = 1


def new_profile_id() -> ProfileId:
    """An id nobody can guess (128 bits): who has the link may see the profile."""
    return ProfileId(secrets.token_urlsafe(16))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """One raw file of a profile; `name` is what the user called it."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What lists show of a profile; `bound_*` and `efficiency_ratio` are `None` when unknown."""

    device: str
    device_kind: str
    core_count: int
    core_word: str
    host_count: int
    op_count: int
    bound_by: str | None
    bound_kind: str | None
    bound_token: str | None
    efficiency_ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One profile as stored. `created_at` is ISO 8601 in UTC; `sample` names a bundled file."""

    id: ProfileId
    title: str
    created_at: str
    format: str
    files: tuple[StoredFile, ...]
    summary: Summary
    sample: str | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes of all its files."""
        return sum(file.size_bytes for file in self.files)


class ProfileStore:
    """Manifests, and the blobs and results that belong to them."""

    def __init__(self, root: Path, version: str) -> None:
        self._root = root / "profiles"
        self.blobs = BlobStore(root / "blobs")
        self.results = ResultStore(root / "derived", version)
        self.damaged: tuple[Path, ...] = ()
        self._manifests: dict[str, Manifest] = {}
        # Commit and removal exclude each other: a removal must not take a blob just adopted.
        self._lock = threading.RLock()

    def load(self) -> None:
        """Reads every manifest; those that cannot be read are listed in `damaged`."""
        read = {path: _read_manifest(path) for path in self._root.glob("*.json")}
        with self._lock:
            self._manifests = {found.id: found for found in read.values() if found is not None}
            self.damaged = tuple(path for path, found in read.items() if found is None)

    def sweep(self) -> int:
        """Removes blobs and results that belong to no manifest; how many.

        Does nothing while a manifest cannot be read: its blobs would look like nobody's.
        """
        with self._lock:
            if self.damaged:
                return 0
            blobs = set(self.blobs.digests()) - self._referenced()
            results = set(self.results.profile_ids()) - set(self._manifests)
            for digest in blobs:
                self.blobs.remove(digest)
            for profile_id in results:
                self.results.remove(profile_id)
            return len(blobs) + len(results)

    def get(self, profile_id: str) -> Manifest | None:
        """The manifest, or `None` when there is no such profile."""
        return self._manifests.get(profile_id)

    def recent(self, limit: int) -> tuple[Manifest, ...]:
        """The newest `limit` manifests, newest first."""
        with self._lock:
            ordered = sorted(self._manifests.values(), key=lambda m: m.created_at, reverse=True)
        return tuple(ordered[:limit])

    def sample(self, key: str) -> Manifest | None:
        """The profile made from the bundled sample `key`, if it was opened before."""
        with self._lock:
            return next((m for m in self._manifests.values() if m.sample == key), None)

    def commit(self, manifest: Manifest, files: Sequence[StagedFile], results: Path) -> None:
        """Makes a profile of staged files and results. Once this returns it survives a crash."""
        with self._lock, explained_writes():
            try:
                for file in files:
                    self.blobs.adopt(file.path, file.sha256)
                self.results.adopt(manifest.id, results)
                write_whole(self._path(manifest.id), orjson.dumps(_to_json(manifest)))
                self._manifests[manifest.id] = manifest
            finally:
                if manifest.id not in self._manifests:
                    self._remove_unshared(manifest)

    def replace_results(self, profile_id: ProfileId, results: Path) -> bool:
        """Moves results in that were computed again; false if the profile has gone meanwhile."""
        with self._lock, explained_writes():
            if profile_id not in self._manifests:
                return False
            self.results.adopt(profile_id, results)
            return True

    def remove(self, profile_id: str) -> bool:
        """Deletes a profile and what only it needs; false when there is none."""
        with self._lock:
            manifest = self._manifests.pop(profile_id, None)
            if manifest is None:
                return False
            self._path(manifest.id).unlink(missing_ok=True)
            sync_directory(self._root)
            self._remove_unshared(manifest)
            return True

    def _remove_unshared(self, manifest: Manifest) -> None:
        self.results.remove(manifest.id)
        for digest in {file.sha256 for file in manifest.files} - self._referenced():
            self.blobs.remove(digest)

    def _referenced(self) -> set[str]:
        return {file.sha256 for m in self._manifests.values() for file in m.files}

    def _path(self, profile_id: str) -> Path:
        return self._root / f"{profile_id}.json"


def _to_json(manifest: Manifest) -> dict[str, Any]:
    return {"schema": SCHEMA, **asdict(manifest)}


def _read_manifest(path: Path) -> Manifest | None:
    try:
        return _from_json(orjson.loads(path.read_bytes()))
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return None


def _from_json(data: Mapping[str, Any]) -> Manifest:
    """The manifest of `data`; `KeyError` or `TypeError` if it is of another schema or damaged."""
    if data["schema"] != SCHEMA:
        raise TypeError(f"schema {data['schema']} is newer than this server's {SCHEMA}")
    return Manifest(
        id=ProfileId(data["id"]),
        title=data["title"],
        created_at=data["created_at"],
        format=data["format"],
        files=tuple(StoredFile(**file) for file in data["files"]),
        summary=Summary(**data["summary"]),
        sample=data["sample"],
    )
