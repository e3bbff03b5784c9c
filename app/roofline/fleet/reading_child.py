"""The child that reads one file of a run to partials; `children.forkserver` forks it for `readers`.

It writes each partial and its names to files in the folder `into`, and answers with their names.
"""

import errno
from dataclasses import asdict
from pathlib import Path

from roofline.children.messages import Body, Say
from roofline.children.sandbox import limit_memory
from roofline.errors import UploadRejectedError
from roofline.importers import registry
from roofline.importers.intake.archives import UnpackLimits
from roofline.model.outer_limits import ImportLimits
from roofline.pods.folders import HostFile
from roofline.pods.partial import Partial
from roofline.pods.reading import read_file
from roofline.pods.report import Unreadable


def prepare() -> None:
    """Compiles what reads files, once for all children."""
    registry.warm_up()


def read(body: Body, _say: Say) -> Body:
    """The `entries` of the file at `path`: a partial, or why there is none, for each host in it.

    Raises `UploadRejectedError` where the file cannot be read.
    """
    limits, into = ImportLimits(**body["limits"]), Path(body["into"])
    path = Path(body["path"])
    try:
        size_bytes = path.stat().st_size
        entries = read_file(
            HostFile(**body["file"]),
            path,
            digest=body["digest"],
            scratch=into,
            limits=UnpackLimits(
                max_bytes=limits.max_unpacked_bytes,
                max_files=limits.max_unpacked_files,
                max_ratio=limits.max_expansion_ratio,
            ),
            # Mapped files count as address space, so the limit grows with what was unpacked.
            unpacked=lambda more_bytes: limit_memory(limits, size_bytes + more_bytes),
        )
        return {"entries": [_written(one, into / str(k)) for k, one in enumerate(entries)]}
    except OSError as error:
        if error.errno == errno.ENOMEM:  # a limit of this machine, which says nothing of the file
            raise
        reason = (error.strerror or str(error)).lower()
        raise UploadRejectedError(f"It cannot be read: {reason}.", remedy="Try again.") from error


def _written(entry: Partial | Unreadable, into: Path) -> Body:
    if isinstance(entry, Unreadable):
        return {"unreadable": asdict(entry)}
    into.with_suffix(".names").write_bytes(entry.names.content)
    into.with_suffix(".partial").write_bytes(entry.content())
    return {"partial": into.name}
