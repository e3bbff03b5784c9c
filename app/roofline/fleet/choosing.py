"""Which engine reads the hosts of a run, and where their partials are kept."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from roofline.fleet.engine import Engine
from roofline.fleet.kept import KeptPartials
from roofline.fleet.limits import import_limits
from roofline.fleet.local import LocalEngine
from roofline.fleet.receipts import HostFile
from roofline.pods.fetching import FoundObject, Source
from roofline.settings import Settings
from roofline.storage.places import open_blobs

ENGINES = ("local",)
_KEPT = "kept-partials"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """An engine by its name. `workers` is how many files are read at the same time; `None` leaves
    it to the engine."""

    engine: str = "local"
    workers: int | None = None


@contextmanager
def open_engine(choice: EngineChoice, settings: Settings, place: str) -> Iterator[Engine]:
    """The engine, which ends with the block; it keeps partials at `place`."""
    workers = choice.workers or os.cpu_count() or 1
    engine = LocalEngine(open_kept(place), import_limits(settings), workers=workers)
    try:
        yield engine
    finally:
        engine.close()


def own_place(settings: Settings) -> str:
    """Where the command line keeps partials if nothing else is asked for: in the data folder."""
    return f"file://{settings.data_dir.expanduser().absolute() / _KEPT}"


def open_kept(place: str) -> KeptPartials:
    """The partials at `place`: `file:///folder`, `s3://…`, `gs://…` or `az://…`.

    Raises `SettingsError` if it cannot be one.
    """
    return KeptPartials(open_blobs(place, Path()))


def host_files(sources: Sequence[Source]) -> list[HostFile]:
    """Files of this machine and objects as files of a run; a missing one has no bytes."""
    return [_host_file(one) for one in sources]


def _host_file(source: Source) -> HostFile:
    if isinstance(source, FoundObject):
        listed = source.listed
        return HostFile(
            address=listed.address,
            name=listed.name,
            size_bytes=listed.size_bytes,
            is_named=source.is_named,
            version=listed.version,
        )
    return HostFile(
        address=str(source.path.absolute()),
        name=source.name,
        size_bytes=source.path.stat().st_size if source.path.is_file() else 0,
        is_named=source.is_named,
    )
