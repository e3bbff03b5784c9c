"""`roofline watch`: sends each capture that appears in a folder, and prints its link."""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from roofline.cli import sharing
from roofline.cli.options import add_of
from roofline.cli.output import print_bytes
from roofline.errors import RooflineError
from roofline.importers.source import CAPTURE_ENDINGS

if TYPE_CHECKING:
    from roofline.api.servers import Receiver, Upload
    from roofline.importers.xspace.captures import Captured

# Hosts of one run write into one folder; files with other endings are a run each.
_OF_ONE_RUN = (".xplane.pb", ".xplane.pb.gz")
Stamp = tuple[int, int]
"""Size in bytes and time of the last change, in ns."""


def add_watch(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline watch`."""
    parser.description = (
        "Send each capture that appears in a folder, or below it, to a server, and print its link."
        " XPlane files of one folder are hosts of one run, but for captures of one host one after"
        " the other; any other file is a run of its own. All"
        " get one title, so that they form a series; pages that follow it show each at once."
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder that profilers write to")
    sharing.add_server(parser)
    parser.add_argument(
        "--title", default="", help="title of all runs; the folder's name if not given"
    )
    parser.add_argument(
        "--tag", action="append", default=[], help="word to find them by; may be repeated"
    )
    add_of(parser)
    parser.add_argument("--all", action="store_true", help="send what is there already, too")
    parser.add_argument(
        "--every",
        type=float,
        default=2.0,
        metavar="S",
        help="look this often; a file is sent when it was the same twice (%(default)s)",
    )
    parser.set_defaults(run=_watch)


@dataclass(slots=True)
class Watched:
    """A folder: which captures are sent, and how the others looked the last time."""

    folder: Path
    _done: dict[Path, Stamp] = field(default_factory=dict)
    _before: dict[Path, Stamp] = field(default_factory=dict)
    _hosts: dict[tuple[Path, Stamp], "Captured"] = field(default_factory=dict)

    def skip_present(self) -> None:
        """Leaves out what is there now, until it changes."""
        self._done = self._present()

    def ready(self) -> list[tuple[Path, ...]]:
        """The files of each run that is whole: no file of it changed since the last call."""
        present = self._present()
        steady = {path for path, stamp in present.items() if self._before.get(path) == stamp}
        self._before = present
        new = {path for path, stamp in present.items() if self._done.get(path) != stamp}
        return [run for run in self._runs(present) if new & set(run) and steady >= set(run)]

    def sent(self, run: tuple[Path, ...]) -> None:
        """Does not offer `run` again, as long as it stays as it was."""
        self._done.update({path: self._before[path] for path in run})

    def _runs(self, present: dict[Path, Stamp]) -> Iterator[tuple[Path, ...]]:
        hosts: dict[Path, list[Path]] = {}
        for path in sorted(present):
            if path.name.endswith(_OF_ONE_RUN):
                hosts.setdefault(path.parent, []).append(path)
            else:
                yield (path,)
        for paths in hosts.values():
            yield from self._captures(paths, present)

    def _captures(
        self, paths: Sequence[Path], present: dict[Path, Stamp]
    ) -> Iterator[tuple[Path, ...]]:
        """The files of one folder by capture."""
        if len(paths) == 1:
            yield (paths[0],)
            return
        from roofline.importers.xspace.captures import captures_of  # loads slowly

        found = [self._captured(path, present[path]) for path in paths]
        for run in captures_of(found):
            yield tuple(paths[at] for at in run)

    def _captured(self, path: Path, stamp: Stamp) -> "Captured":
        key = path, stamp
        if key not in self._hosts:
            self._hosts[key] = _read_captured(path)
        return self._hosts[key]

    def _present(self) -> dict[Path, Stamp]:
        return dict(_stamped(self.folder))


def _stamped(folder: Path) -> Iterator[tuple[Path, Stamp]]:
    for path in folder.rglob("*"):
        try:
            stat = path.stat()
        except OSError:  # it went while we looked
            continue
        if path.name.endswith(CAPTURE_ENDINGS) and path.is_file() and stat.st_size > 0:
            yield path, (stat.st_size, stat.st_mtime_ns)


def _read_captured(path: Path) -> "Captured":
    """The host and the time of a capture; unknown of a file that is packed or not whole."""
    from roofline.importers.source import SourceFile  # loads slowly, as does the reader
    from roofline.importers.xspace.captures import Captured
    from roofline.importers.xspace.planes import captured_of

    try:
        return captured_of(SourceFile(path))
    except (OSError, RooflineError):
        return Captured("")


def _watch(given: argparse.Namespace) -> None:
    from roofline.api.servers import Receiver, Upload, read_token

    folder: Path = given.folder
    if not folder.is_dir():
        raise RooflineError(f"{folder} is not a folder.", remedy="Name the folder to watch.")
    receiver = Receiver(given.server, read_token(given.token_file))
    title = given.title or folder.resolve().name
    watched = Watched(folder)
    if not given.all:
        watched.skip_present()
    _say(f"Watching {folder} for captures; they are sent to {given.server} as “{title}”.")
    while True:
        for run in watched.ready():
            upload = Upload(files=run, title=title, tags=tuple(given.tag))
            if _sent(upload, receiver, given.of):
                watched.sent(run)
        time.sleep(max(0.1, given.every))


def _sent(upload: "Upload", receiver: "Receiver", of: str | None) -> bool:
    """Sends a run; false where the server could not be reached, so that it is tried again."""
    from roofline.api.servers import send, with_of

    try:
        (profile,) = send(upload, receiver, wait_s=60.0)
    except RooflineError as error:
        is_unreachable = isinstance(error.__cause__, OSError)
        again = " It is tried again." if is_unreachable else ""
        _say(f"{upload.files[0].name} was not sent: {error.message} {error.remedy}{again}")
        return not is_unreachable
    _say(with_of(str(profile["url"]), of))
    return True


def _say(text: str) -> None:
    print_bytes(f"{text}\n".encode("utf-8", "replace"))
