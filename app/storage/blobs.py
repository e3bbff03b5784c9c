"""Raw bytes, found by their SHA-256: `blobs/ab/abcdef…`. Equal files are kept once."""

import re
from collections.abc import Iterator
from pathlib import Path

from app.storage.durable import move_into, sync_directory

_DIGEST = re.compile(r"[0-9a-f]{64}")


class BlobStore:
    """A folder of immutable files. Callers see to it that nobody removes what they adopt."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, digest: str) -> Path:
        """Where the blob of `digest` (64 hex digits) lies, or would lie."""
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"not a SHA-256 digest: {digest!r}")
        return self._root / digest[:2] / digest

    def adopt(self, staged: Path, digest: str) -> None:
        """Takes over `staged`, already on the disk, whose content has `digest`."""
        target = self.path(digest)
        # A blob of another size was cut by a fault of the disk: the new copy replaces it.
        if target.exists() and target.stat().st_size == staged.stat().st_size:
            staged.unlink()
        else:
            move_into(staged, target)

    def remove(self, digest: str) -> None:
        """Deletes the blob, and its folder when that is the last in it."""
        target = self.path(digest)
        target.unlink(missing_ok=True)
        if target.parent.is_dir():
            sync_directory(target.parent)
            _remove_if_empty(target.parent)

    def digests(self) -> Iterator[str]:
        """Every digest in the store, in no order."""
        for path in self._root.glob("??/*"):
            if _DIGEST.fullmatch(path.name):
                yield path.name


def _remove_if_empty(directory: Path) -> None:
    if not any(directory.iterdir()):
        directory.rmdir()
