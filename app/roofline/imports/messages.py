"""The server's message to the child of an import: the files, the folder, the limits."""

from dataclasses import dataclass
from pathlib import Path

from roofline.children.sandbox import ImportLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """One import for a child: `files` are (name, path, bytes).

    What the page needs goes to the folder `results`, all other results to `exports`.

    `digests` are the SHA-256 of the files to import, of those that are in `files` or in archives
    there; `None` for all. `keep_free_bytes` of the disk with `folder` stay free.
    """

    profile_id: str
    created_at: str
    files: tuple[tuple[str, Path, int], ...]
    digests: tuple[str, ...] | None
    folder: Path
    results: Path
    exports: Path
    limits: ImportLimits
    keep_free_bytes: int = 0
