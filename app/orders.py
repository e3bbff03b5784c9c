"""What the server and the child of an import say to each other: the order, and errors as JSON."""

from dataclasses import dataclass
from pathlib import Path

from app.errors import RooflineError


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
class WorkOrder:
    """One import for a child: `files` are (name, path, bytes); results go to `results`."""

    profile_id: str
    created_at: str
    files: tuple[tuple[str, Path, int], ...]
    folder: Path
    results: Path
    limits: ImportLimits


def describe(error: RooflineError) -> dict[str, str]:
    """`error` as a child sends it."""
    return {"code": error.code, "message": error.message, "remedy": error.remedy}


def error_from(fields: dict[str, str]) -> RooflineError:
    """The error a child described by `code`, `message` and `remedy`."""
    kinds = _subclasses(RooflineError)
    kind = next((kind for kind in kinds if kind.code == fields["code"]), RooflineError)
    return kind(fields["message"], remedy=fields["remedy"])


def _subclasses(kind: type[RooflineError]) -> list[type[RooflineError]]:
    return [kind, *(deeper for sub in kind.__subclasses__() for deeper in _subclasses(sub))]
