"""From the settings to the engine that reads a run, from places to its files, from receipts to its
report."""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

from roofline.errors import SettingsError
from roofline.fleet.engine import Engine, EngineChoice, Receipt
from roofline.fleet.kept import KeptPartials, open_kept
from roofline.fleet.local import LocalEngine
from roofline.model.outer_limits import ImportLimits
from roofline.pods.partial import spool
from roofline.pods.reduce import reduce_run
from roofline.pods.report import RunReport, Unreadable
from roofline.pods.workers import OpOnHost, op_on_hosts
from roofline.settings import Settings

_KEPT = "kept-partials"


@contextmanager
def open_engine(choice: EngineChoice, settings: Settings, place: str) -> Iterator[Engine]:
    """The engine, which ends with the block; it keeps partials at `place`.

    Raises `SettingsError` for a choice that does not fit together.
    """
    if choice.engine == "dask" and not (choice.scheduler or choice.scheduler_file):
        choice = replace(choice, scheduler=settings.dask_scheduler)
    with closing(start_engine(choice.certified(settings), place, settings.import_limits)) as engine:
        yield engine


def start_engine(choice: EngineChoice, place: str, limits: ImportLimits) -> Engine:
    """The engine, for the caller to close. Raises as `open_engine`."""
    named = choice.scheduler or choice.scheduler_file
    if choice.engine == "local":
        if named:
            raise SettingsError(
                "The engine local has no scheduler.", remedy="Use --engine dask with it."
            )
        return LocalEngine(open_kept(place), limits, workers=choice.workers or os.cpu_count() or 1)
    if not named:
        raise SettingsError(
            "The engine dask has no scheduler.",
            remedy="Name one with --scheduler, --scheduler-file or ROOFLINE_DASK_SCHEDULER, or use"
            " --engine local, which has a reader for each processor of this machine.",
        )
    if choice.workers:
        raise SettingsError(
            "A cluster has its own workers.",
            remedy="Leave --workers out, or --scheduler and --scheduler-file.",
        )
    # Loads Dask, which only runs on a cluster need.
    from roofline.fleet.dask_connection import cluster_of
    from roofline.fleet.dask_engine import DaskEngine

    return DaskEngine(cluster_of(choice), place, limits)


def own_place(settings: Settings) -> str:
    """Where the command line keeps partials if nothing else is asked for: in the data folder."""
    return f"file://{settings.data_dir.expanduser().absolute() / _KEPT}"


def op_of_receipts(receipts: Iterable[Receipt], kept: KeptPartials, op: str) -> list[OpOnHost]:
    """The operation with this id on each host. Raises as `reduce_receipts`."""
    partials = (kept.partial(key) for receipt in receipts for key in receipt.partials)
    return op_on_hosts(partials, op)


def file_with(receipts: Iterable[Receipt], kept: KeptPartials, digest: str) -> str | None:
    """The SHA-256 of the file that holds the capture with this one: itself, or an archive.

    `None` where no file does. Raises as `reduce_receipts`.
    """
    for receipt in receipts:
        if any(kept.partial(key).header.file_digest == digest for key in receipt.partials):
            return receipt.digest
    return None


def reduce_receipts(receipts: Iterable[Receipt], kept: KeptPartials) -> RunReport:
    """The document of the run whose files gave `receipts`; their order does not count.

    Raises `ValueError` where a partial of a receipt is missing in `kept`.
    """
    with spool() as found:
        unreadable: list[Unreadable] = []
        for receipt in receipts:
            unreadable += receipt.unreadable
            for key in receipt.partials:
                found.add(kept.partial(key))
        return reduce_run(found.partials(), unreadable, release=found.release)
