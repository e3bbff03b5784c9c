"""`roofline analyze --engine …`: the hosts of one run against each other."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from roofline.errors import ExtraMissingError, UploadRejectedError

if TYPE_CHECKING:
    from roofline.fleet.engine import Receipt
    from roofline.pods.folders import HostFile
    from roofline.pods.report import RunReport

ENGINES = ("local", "dask")
FORMATS = ("text", "json", "html")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """The options of `analyze` that are for runs of many hosts."""
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        help="hold the hosts of one run against each other: files, the folder that holds them, or"
        " its address, such as s3://bucket/folder/; see docs/runs.md. Formats: text, json, html",
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="with --engine local: read so many files at once"
    )
    parser.add_argument(
        "--join",
        type=seconds,
        metavar="TIME",
        help="with --engine: sessions of one place are one run if they begin at most this apart"
        " and share no host: 120s, 5m",
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="with --engine dask: tls://HOST:PORT of a cluster"
    )
    parser.add_argument(
        "--scheduler-file",
        type=Path,
        metavar="F",
        help="with --engine dask: the file that the scheduler of a cluster writes",
    )
    parser.add_argument(
        "--partials",
        metavar="PLACE",
        help="with --engine: keep what was read of each host there: a folder, or an address such as"
        " s3://bucket/prefix; otherwise in the data folder",
    )


def analyse_run(given: argparse.Namespace) -> bytes:
    """The report of the run whose hosts' files are named, or in the folders that are.

    Raises `ExtraMissingError` without the libraries of the extra `fleet`.
    """
    try:
        return _report(given)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "roofline":
            raise
        raise ExtraMissingError.of("fleet") from error


def _report(given: argparse.Namespace) -> bytes:
    from roofline.exports.run_report import render_run
    from roofline.fleet.choosing import open_engine, own_place, reduce_receipts
    from roofline.fleet.engine import EngineChoice
    from roofline.fleet.kept import open_kept, prune
    from roofline.pods.fetching import sources_of
    from roofline.settings import Settings

    if given.format not in FORMATS:
        raise UploadRejectedError(
            f"A run of many hosts cannot be written as {given.format}.",
            remedy=f"Choose one of these formats: {', '.join(FORMATS)}.",
        )
    files = _joined(given.files, given.join) if given.join is not None else sources_of(given.files)
    settings = Settings.from_env()
    place = _place(given.partials) or own_place(settings)
    choice = EngineChoice(
        engine=given.engine,
        workers=given.workers,
        scheduler=given.scheduler,
        scheduler_file=given.scheduler_file and str(given.scheduler_file),
    )
    with open_engine(choice, settings, place) as engine:
        receipts = list(engine.submit(files).receipts())
    _note_repeated(receipts)
    run = reduce_receipts(receipts, open_kept(place))
    if given.partials is None and not all(one.was_kept for one in receipts):
        prune(place)
    return _page(run) if given.format == "html" else render_run(run, given.format)


def _page(run: "RunReport") -> bytes:
    """The page of the run as one file."""
    from roofline.exports.run_report import run_record
    from roofline.web.pages.report import run_file

    count = len(run.hosts)
    return run_file(run_record(run), f"Run of {count:,} {'host' if count == 1 else 'hosts'}")


def seconds(text: str) -> float:
    """`120s`, `5m` or `2h` in seconds; a number alone is seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time: write 120s, 5m or 2h")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def _joined(places: Sequence[str], join_s: float) -> "list[HostFile]":
    """The files at each place; sessions of one capture are put together, and it is said."""
    from roofline.pods.folders import HostFile
    from roofline.pods.listing import list_run

    files: list[HostFile] = []
    for place in places:
        found = list_run(place, join_s=join_s)
        if found.note:
            sys.stderr.write(f"roofline: {found.note}\n")
        files += [HostFile.of(one, is_named=False) for one in found.files]
    return files


def _place(named: str | None) -> str | None:
    """The place as an address."""
    if named is None or "://" in named:
        return named
    return f"file://{Path(named).expanduser().absolute()}"


def _note_repeated(receipts: "Sequence[Receipt]") -> None:
    """Say how many files count once: the report itself does not depend on them."""
    digests = [one.digest for one in receipts if one.partials]
    repeated = len(digests) - len(set(digests))
    if repeated:
        sys.stderr.write(f"roofline: equal files count once; left out: {repeated}.\n")
