"""The process that reads the hosts of a run for a server: started, asked, and killed.

It lists buckets, reads files through an engine and writes what is said of the run. The server
itself loads neither importers nor NumPy, and its memory does not grow with hosts.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from roofline.children.messages import FAILED, Body, Message
from roofline.children.program import Program, ProgramLost, ProgramStopped
from roofline.children.sandbox import needed_environment
from roofline.errors import ImportStoppedError, UploadRejectedError, error_from
from roofline.fleet.engine import EngineChoice
from roofline.model import outer_limits
from roofline.model.outer_limits import END_S, ImportLimits

PROGRAM = "roofline.imports.run_program"
_CREDENTIALS = {"s3": "AWS_", "gs": "GOOGLE_", "az": "AZURE_"}
# How to reach a store from a network that has a door of its own.
_WAYS_OUT = frozenset({"ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"})
_AUTHORITIES = frozenset({"SSL_CERT_DIR", "SSL_CERT_FILE"})


_LOCAL = EngineChoice()
FEWER_FILES = "Name a folder that has fewer files below it."


class RunProcess:
    """One such process, which keeps partials at `place` (see `storage.blobs`).

    It has the credentials of that place and of those in `reads`, and no others of this process.
    """

    def __init__(
        self,
        place: str,
        limits: ImportLimits,
        workers: int,
        *,
        reads: Sequence[str] = (),
        engine: EngineChoice = _LOCAL,
    ) -> None:
        options = {
            "place": place,
            "limits": asdict(limits),
            "workers": workers,
            "engine": asdict(engine),
        }
        self._program = Program(
            PROGRAM,
            json.dumps(options),
            environment=lambda: reading_environment([place, *reads]),
        )
        self._program.start()
        self._folders = [one for one in reads if one.startswith("/")]

    def listing(self, address: str, join_s: float | None) -> Body:
        """The `files` of a run at an address, and a `note` of how they were found.

        On this machine links are left out that lead to a file outside all places that are read.
        Raises `UploadRejectedError` beyond the limits of a listing; its time ends this process.
        """
        asked = {"address": address, "join_s": join_s, "folders": self._folders}
        return self._list({"do": "list", **asked})

    def find(self, prefix: str) -> list[Body]:
        """The folders with captures of hosts below a prefix, the newest first."""
        return list(self._list({"do": "find", "prefix": prefix})["runs"])

    def _list(self, request: Mapping[str, object]) -> Body:
        limits = outer_limits.LISTING
        return self._ask({**request, "limits": asdict(limits)}, within_s=limits.wall_seconds)

    def read(self, files: Sequence[Mapping[str, object]]) -> Iterator[Body]:
        """A receipt for each of the files, in the order in which they are done."""
        for message in self._messages({"do": "read", "files": list(files)}):
            if not message.is_last:
                yield message.body

    def write_document(self, receipts: Sequence[str], target: Path) -> None:
        """Writes what is said of the hosts with these receipts, as JSON, to `target`."""
        self._ask({"do": "write", "receipts": list(receipts), "target": str(target)})

    def write_op(self, receipts: Sequence[str], op: str, target: Path) -> None:
        """Writes the times of one operation on each host, as JSON, to `target`."""
        self._ask({"do": "op", "receipts": list(receipts), "op": op, "target": str(target)})

    def file_with(self, receipts: Sequence[str], digest: str) -> str | None:
        """The SHA-256 of the file that holds the capture with this one; `None` if none does."""
        found = self._ask({"do": "file", "receipts": list(receipts), "digest": digest})["digest"]
        return None if found is None else str(found)

    def fetch(self, file: Mapping[str, object], target: Path) -> None:
        """Writes the bytes of one file to `target`."""
        self._ask({"do": "fetch", "file": dict(file), "target": str(target)})

    def drop_unneeded_names(self, grace_s: float) -> int:
        """Removes names of operations that no kept partial needs, once they are so old."""
        return int(self._ask({"do": "drop names", "grace_s": grace_s})["dropped"])

    def kill(self) -> None:
        """Ends it from any thread: the thread that waits for an answer gets an error."""
        self._program.close()

    def close(self) -> None:
        """Ends it, with what it has under way on a cluster; a second call does nothing."""
        self._program.close(within_s=END_S)

    def _ask(self, request: Mapping[str, object], *, within_s: float | None = None) -> Body:
        *_, last = self._messages(request, within_s)
        return last.body

    def _messages(
        self, request: Mapping[str, object], within_s: float | None = None
    ) -> Iterator[Message]:
        """The answers to a request. Raises the `RooflineError` that it ends with."""
        try:
            asked = self._program.ask(request)
            while (message := asked.next(within_s)) is not None:
                if message.kind == FAILED:
                    raise error_from(message.body["error"])
                yield message
                if message.is_last:
                    return
            self.kill()
            raise UploadRejectedError(
                f"Listing this place took longer than {within_s:,.0f} s and was stopped.",
                remedy=FEWER_FILES,
            )
        except (ProgramLost, ProgramStopped) as error:
            is_stopped = isinstance(error, ProgramStopped)
            what = "was stopped" if is_stopped else "was ended by the operating system"
            raise ImportStoppedError(
                f"Reading the run {what}.", remedy="It goes on with what was not read yet."
            ) from error


def reading_environment(places: Sequence[str]) -> dict[str, str]:
    """The variables of this process for one that reads `places` and nothing else.

    Credentials are those of the stores that `places` name: not those of databases, of this server's
    users, or of other stores.
    """
    schemes = {place.partition("://")[0] for place in places if "://" in place}
    prefixes = tuple(_CREDENTIALS[one] for one in sorted(schemes & _CREDENTIALS.keys()))
    found = needed_environment()
    if not prefixes:
        return found
    for name, value in os.environ.items():
        is_way = name.upper() in _WAYS_OUT or name in _AUTHORITIES
        if is_way or name.startswith(prefixes):
            found[name] = value
    return found
