"""The messages between the server and the child of an import: what to import, and how far it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.model.outer_limits import ImportLimits

# Each phase with its weight in the progress of the whole, as measured on 5 million events.
PHASES = {
    "queued": 0.0,
    "unpack": 0.1,
    "recognise": 0.02,
    "read": 0.7,
    "analyse": 0.12,
    "store": 0.06,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """One import for a child: `files` are (name, path, bytes).

    What the page needs goes to the folder `results`, all other results to `exports`.

    `notes` say what was done with files before.

    `digests` are the SHA-256 of the files to import, of those that are in `files` or in archives
    there; `None` for all. `keep_free_bytes` of the disk with `folder` stay free.
    """

    profile_id: str
    created_at: str
    files: Sequence[tuple[str, str, int]]
    digests: Sequence[str] | None
    folder: str
    results: str
    exports: str
    limits: ImportLimits
    keep_free_bytes: int = 0
    notes: Sequence[str] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Where the files are."""
        return tuple(path for _, path, _ in self.files)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "ImportRequest":
        """The request with these fields, as `asdict` gives them."""
        return cls(**{**fields, "limits": ImportLimits(**fields["limits"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an import is: the phase, its fraction and that of the whole, 0 to 1."""

    phase: str
    fraction: float
    overall: float


def progress_at(phase: str, fraction: float) -> Progress:
    """The progress when `fraction` of `phase` is done."""
    names = list(PHASES)
    before = sum(PHASES[name] for name in names[: names.index(phase)])
    overall = min(1.0, before + PHASES[phase] * fraction)
    return Progress(phase=phase, fraction=fraction, overall=overall)
