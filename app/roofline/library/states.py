"""The states of a profile: being imported, ready, or failed."""

from dataclasses import dataclass

from roofline.errors import RooflineError
from roofline.imports.children import Progress
from roofline.storage.records import Manifest, ProfileId, StoredFile, Visibility, WaitsFor
from roofline.storage.results import ResultFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Importing:
    """A profile whose import, or whose analysis by newer code, is under way.

    `waits_for` says what it cannot begin without, and `needs_bytes` how much of a disk.
    """

    id: ProfileId
    title: str
    progress: Progress
    elapsed_s: float
    files: tuple[StoredFile, ...]
    uploader: str | None
    visibility: Visibility
    waits_for: WaitsFor | None = None
    needs_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A profile that can be read; `page` is the result the page needs."""

    manifest: Manifest
    page: ResultFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A profile that could not be imported, and why.

    `can_retry` is true where the files are kept and are not what was wrong.
    """

    id: ProfileId
    title: str
    error: RooflineError
    files: tuple[StoredFile, ...]
    uploader: str | None
    visibility: Visibility
    can_retry: bool


State = Importing | Ready | Failed
