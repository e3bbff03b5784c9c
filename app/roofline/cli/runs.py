"""`roofline analyze --engine …`: the hosts of one run against each other."""

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roofline.cli import sharing
from roofline.cli.output import print_bytes
from roofline.errors import ExtraMissingError, UploadRejectedError
from roofline.model.plain_data import taken

if TYPE_CHECKING:
    from roofline.api.servers import Receiver, ServerLink
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
    from roofline.web.offline.report import run_file

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


TRIES = 5
FIRST_PAUSE_S = 1.0
_ASKED_S = 30.0
# The server, or a proxy in front of it, cannot take it now.
_LATER = frozenset({429, 502, 503, 504})


def add_import(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline import`."""
    parser.description = (
        "Have a server read a run of many hosts from a bucket or a mounted folder, and print the"
        " link. Without an address the run waits for `roofline push`. See docs/runs.md."
    )
    parser.add_argument("address", nargs="?", help="s3://bucket/folder/, gs://…, az://… or /mnt/…")
    parser.add_argument(
        "--join",
        type=seconds,
        metavar="TIME",
        help="sessions below the address are one run if they begin at most this apart and share no"
        " host: 120s, 5m",
    )
    parser.add_argument("--hosts", type=int, metavar="N", help="the run is complete with N hosts")
    parser.add_argument("--title", default="", help="name to show")
    parser.add_argument("--visibility", choices=sharing.VISIBILITIES, help="as of uploads")
    parser.add_argument("--wait", action="store_true", help="return when all hosts are read")
    parser.add_argument(
        "--json", action="store_true", help="print the whole answer, with the delete token"
    )
    sharing.add_server(parser)
    parser.set_defaults(run=_import)


def add_push(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline push`."""
    parser.description = (
        "Add files of hosts to a run on a server, from where they were captured. A file that the"
        " run has already is not added again: repeat the command if it fails."
    )
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="captures of hosts, or folders"
    )
    parser.add_argument("--run", dest="run_id", required=True, metavar="ID", help="id or link")
    parser.add_argument(
        "--partial",
        action="store_true",
        help="send what the run needs of each file instead of the file: 47 kB for 60 MB",
    )
    parser.add_argument("--close", action="store_true", help="no more hosts come")
    sharing.add_server(parser)
    parser.set_defaults(run=_push)


def _import(given: argparse.Namespace) -> None:
    import json

    link = _link(given)
    wish = {
        "uri": given.address,
        **taken(given, "join", "hosts", "title", "visibility"),
    }
    made = link.send("POST", "/api/v1/runs", {k: v for k, v in wish.items() if v is not None})
    if given.wait:
        state = _waited(link, str(made["id"]))
        made |= {name: state[name] for name in made.keys() & state.keys()}
        if state["state"] == "failed":
            from roofline.errors import UploadRejectedError

            raise UploadRejectedError(
                str(state.get("reason", "The run could not be read.")), remedy=str(made["url"])
            )
    text = json.dumps(made, indent=2) if given.json else str(made["url"])
    print_bytes(f"{text}\n".encode())


def _waited(link: "ServerLink", run_id: str) -> dict[str, Any]:
    """The run when it is not read any more; each question waits on the server."""
    while True:
        path = f"/api/v1/runs/{run_id}?wait={_ASKED_S:g}"
        state = link.ask("GET", path, timeout_s=_ASKED_S + 60)
        if state["state"] != "reading":
            return state


def _push(given: argparse.Namespace) -> None:
    from urllib.parse import quote

    run_id = given.run_id.partition("/r/")[2].partition("?")[0] or given.run_id
    path = f"/api/v1/runs/{quote(run_id, safe='')}"
    link = _link(given)
    added = total = 0
    for file in given.files:
        with files_to_send(file, is_partial=given.partial) as sent:
            total += len(sent)
            for one in sent:
                added += int(_sent(link, f"{path}/hosts", one)["added"])
    if given.close:
        link.send("POST", f"{path}/close")
    print_bytes(f"added {added} of {total}\n".encode())


def send_run(files: Sequence[Path], receiver: "Receiver", *, title: str, visibility: str) -> str:
    """Sends the hosts of one run, and returns its link."""
    from roofline.api.servers import ServerLink

    link = ServerLink(receiver)
    wish = {"hosts": len(files), "title": title, "visibility": visibility}
    made = link.send("POST", "/api/v1/runs", {k: v for k, v in wish.items() if v})
    path = f"/api/v1/runs/{made['id']}"
    for file in files:
        _sent(link, f"{path}/hosts", file)
    link.send("POST", f"{path}/close")
    return str(made["url"])


def _link(given: argparse.Namespace) -> "ServerLink":
    from roofline.api.servers import Receiver, ServerLink, read_token

    return ServerLink(Receiver(given.server, read_token(given.token_file)))


def _sent(link: "ServerLink", path: str, file: Path) -> dict[str, Any]:
    """The answer to one file, which is sent again while the server cannot take it."""
    from roofline.api.servers import TIMEOUT_S, Upload, form_of, refusal
    from roofline.errors import UploadRejectedError

    for left in reversed(range(TRIES)):
        body, headers = form_of(Upload(files=(file,)))
        try:
            status, answer = link.answer(
                "POST", path, body=body, headers=headers, timeout_s=TIMEOUT_S
            )
        except UploadRejectedError:  # there was no answer
            if not left:
                raise
        else:
            if status < HTTPStatus.BAD_REQUEST:
                return answer
            if status not in _LATER or not left:
                raise refusal(status, answer)
        time.sleep(FIRST_PAUSE_S * 2 ** (TRIES - 1 - left))
    raise AssertionError


@contextmanager
def files_to_send(file: Path, *, is_partial: bool) -> Iterator[list[Path]]:
    """The file, or the partials of the hosts in it; of a folder the files, and partials of the
    hosts that are a folder each."""
    if not is_partial and not file.is_dir():
        yield [file]
        return
    from roofline.errors import UploadRejectedError
    from roofline.pods.folders import files_of

    if not file.exists():
        raise UploadRejectedError(f"{file} cannot be read.", remedy="Check the path.")
    with tempfile.TemporaryDirectory(prefix="roofline-") as folder:
        made = []
        for number, one in enumerate(files_of([file])):
            if is_partial or one.is_folder:
                made += _partials(one, Path(folder) / str(number))
            else:
                made.append(one.path)
        yield made


def _partials(found: "HostFile", scratch: Path) -> list[Path]:
    """Files with the partials of the hosts in a file, or of the host that is a folder."""
    from roofline.errors import UploadRejectedError
    from roofline.importers.intake.archives import UnpackLimits
    from roofline.pods.fetching import fetch_folder
    from roofline.pods.folders import digest_of
    from roofline.pods.partial import SUFFIX, pack
    from roofline.pods.reading import read_file
    from roofline.pods.report import Unreadable

    scratch.mkdir()
    path = found.path
    if found.is_folder:
        path = scratch / "packed"
        fetch_folder(found.address, path)
    read = read_file(found, path, digest=digest_of(path), scratch=scratch, limits=UnpackLimits())
    made = []
    for number, one in enumerate(read):
        if isinstance(one, Unreadable):
            raise UploadRejectedError(
                f"{one.name} has no partial: {one.reason}", remedy="Send the file itself."
            )
        part = f".{number}" if len(read) > 1 else ""
        made.append(scratch / f"{found.name.replace('/', '-')}{part}{SUFFIX}")
        made[-1].write_bytes(pack(one))
    return made
