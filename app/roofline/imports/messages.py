"""What the server tells the child of an import: what to read, where to write, which limits."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLimits:
    """What one import may use. `memory_bytes` is address space beyond the size of the files."""

    memory_bytes: int
    cpu_seconds: int
    wall_seconds: float
    max_unpacked_bytes: int
    max_unpacked_files: int
    max_expansion_ratio: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """One import for a child: `files` are (name, path, bytes); results go to `results`.

    `digests` are the SHA-256 of the files to import, of those that are in `files` or in archives
    there; `None` for all. `keep_free_bytes` of the disk with `folder` stay free.
    """

    profile_id: str
    created_at: str
    files: tuple[tuple[str, Path, int], ...]
    digests: tuple[str, ...] | None
    folder: Path
    results: Path
    limits: ImportLimits
    keep_free_bytes: int = 0
