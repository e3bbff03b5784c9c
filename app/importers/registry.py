"""Which importer reads a file: recognised by content, by exactly one importer."""

from collections.abc import Callable, Sequence
from typing import Protocol

from app.errors import UnknownFormatError, UploadRejectedError
from app.importers import nsight_compute, rocprof_compute, xprof_export, xspace
from app.importers.source import SourceFile
from app.model.profile import Profile

Progress = Callable[[str, float], None]
"""Told the phase ("recognise", "read", "analyse") and the fraction of it that is done, 0 to 1."""


class Importer(Protocol):
    """A format: a module with these names."""

    FORMAT_ID: str
    LABEL: str

    def recognises(self, source: SourceFile) -> bool:
        """True if the head of `source` is this format. Never raises, ignores the file name."""

    def read(
        self, sources: Sequence[SourceFile], *, xprof_compat: bool, progress: Progress
    ) -> Profile:
        """The profile in `sources`, one file per host."""


IMPORTERS: tuple[Importer, ...] = (xspace, nsight_compute, xprof_export, rocprof_compute)


def _silent(_phase: str, _fraction: float) -> None:
    pass


def identify(source: SourceFile) -> Importer:
    """The importer that recognises `source`, or `UnknownFormatError` listing the formats read."""
    if source.size_bytes == 0:
        raise UploadRejectedError(
            f"{source.name} is empty.", remedy="Capture or export the profile again."
        )
    for importer in IMPORTERS:
        if importer.recognises(source):
            return importer
    formats = ", ".join(importer.LABEL for importer in IMPORTERS)
    raise UnknownFormatError(
        f"{source.name} is not a profile this server can read.",
        remedy=f"Formats read: {formats}. Upload the file as the profiler wrote it.",
    )


def import_profile(
    sources: Sequence[SourceFile],
    *,
    xprof_compat: bool = False,
    progress: Progress = _silent,
) -> Profile:
    """One profile from the files of one upload: several files are the hosts of one program.

    `xprof_compat` keeps XProf's oddities, for exact comparison with its output.
    """
    if not sources:
        raise UploadRejectedError("There is no file to read.", remedy="Choose a profile file.")
    progress("recognise", 0.0)
    importers = {identify(source) for source in sources}
    progress("recognise", 1.0)
    if len(importers) > 1:
        labels = " and ".join(sorted(importer.LABEL for importer in importers))
        raise UploadRejectedError(
            f"These files are of different formats: {labels}.",
            remedy="Upload them one by one; several files of one format are hosts of one profile.",
        )
    return importers.pop().read(sources, xprof_compat=xprof_compat, progress=progress)
