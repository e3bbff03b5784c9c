"""Which engine reads the hosts of a run, and where their partials are kept."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from roofline.errors import SettingsError
from roofline.fleet.engine import Engine
from roofline.fleet.kept import KeptPartials
from roofline.fleet.limits import import_limits
from roofline.fleet.local import LocalEngine
from roofline.fleet.receipts import HostFile
from roofline.pods.fetching import FoundObject, Source
from roofline.settings import Settings
from roofline.storage.places import open_blobs

if TYPE_CHECKING:
    from roofline.fleet.dask_connection import Certificates

ENGINES = ("local", "dask")
_KEPT = "kept-partials"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """An engine by its name.

    `workers` is how many files are read at the same time; `None` leaves it to the engine.
    `scheduler` or `scheduler_file` name a Dask cluster that the user runs.
    """

    engine: str = "local"
    workers: int | None = None
    scheduler: str | None = None
    scheduler_file: Path | None = None


@contextmanager
def open_engine(choice: EngineChoice, settings: Settings, place: str) -> Iterator[Engine]:
    """The engine, which ends with the block; it keeps partials at `place`.

    Raises `SettingsError` for a choice that does not fit together.
    """
    engine = _engine(choice, settings, place)
    try:
        yield engine
    finally:
        engine.close()


def _engine(choice: EngineChoice, settings: Settings, place: str) -> Engine:
    workers, limits = choice.workers or os.cpu_count() or 1, import_limits(settings)
    named = choice.scheduler or choice.scheduler_file
    if choice.engine == "local":
        if named:
            raise SettingsError(
                "The engine local has no scheduler.", remedy="Use --engine dask with it."
            )
        return LocalEngine(open_kept(place), limits, workers=workers)
    if named and choice.workers:
        raise SettingsError(
            "A cluster has its own workers.",
            remedy="Leave --workers out, or --scheduler and --scheduler-file.",
        )
    # Loads Dask, which only runs on a cluster need.
    from roofline.fleet.dask_connection import Cluster
    from roofline.fleet.dask_engine import DaskEngine

    address = choice.scheduler
    if not named and not choice.workers:
        address = settings.dask_scheduler
    cluster = Cluster(
        address=address,
        scheduler_file=choice.scheduler_file,
        workers=workers,
        certificates=_certificates(settings),
    )
    return DaskEngine(cluster, place, limits)


def _certificates(settings: Settings) -> "Certificates | None":
    from roofline.fleet.dask_connection import Certificates

    files = (settings.dask_ca, settings.dask_cert, settings.dask_key)
    if not any(files):
        return None
    if settings.dask_ca is None or settings.dask_cert is None or settings.dask_key is None:
        raise SettingsError(
            "TLS needs ROOFLINE_DASK_CA, ROOFLINE_DASK_CERT and ROOFLINE_DASK_KEY together.",
            remedy="Set all three, or none of them.",
        )
    return Certificates(
        authority=settings.dask_ca, certificate=settings.dask_cert, key=settings.dask_key
    )


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
