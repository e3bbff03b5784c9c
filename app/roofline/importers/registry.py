"""Which importer reads a file: recognised by content, by exactly one importer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from roofline.errors import UploadRejectedError
from roofline.importers import (
    generic,
    nsight_compute,
    pytorch,
    rocprof_compute,
    xprof_export,
    xspace,
)
from roofline.importers.shared.join_counters import with_counters
from roofline.importers.source import SourceFile
from roofline.model.profile import Profile

Progress = Callable[[str, float], None]
"""Told the phase ("recognise", "read", "analyse") and the fraction of it that is done, 0 to 1."""

_NAMES_SHOWN = 3


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


IMPORTERS: tuple[Importer, ...] = (
    xspace,
    nsight_compute,
    xprof_export,
    rocprof_compute,
    pytorch,
    generic,
)


def silent(_phase: str, _fraction: float) -> None:
    """Progress that nobody watches."""


def identify(source: SourceFile) -> Importer:
    """The importer that recognises `source`, or `UnknownFormatError` saying what it is instead."""
    if source.size_bytes == 0:
        raise UploadRejectedError(
            f"{source.name} is empty.", remedy="Capture or export the profile again."
        )
    for importer in IMPORTERS:
        if importer.recognises(source):
            return importer
    # Most files are profiles: nobody waits for the names of all the others.
    from roofline.importers.intake.wrong_files import refused

    raise refused(source, ", ".join(importer.LABEL for importer in IMPORTERS))


def import_profile(
    sources: Sequence[SourceFile],
    *,
    xprof_compat: bool = False,
    progress: Progress = silent,
) -> Profile:
    """One profile from the files of one upload: several files are the hosts of one program.

    A capture and a report of its kernels make one profile too; other mixtures are refused.
    `xprof_compat` keeps XProf's oddities, for exact comparison with its output.
    """
    if not sources:
        raise UploadRejectedError("There is no file to read.", remedy="Choose a profile file.")
    progress("recognise", 0.0)
    found = _by_importer(sources)
    progress("recognise", 1.0)

    def read(importer: Importer) -> Profile:
        return importer.read(found[importer], xprof_compat=xprof_compat, progress=progress)

    if len(found) == 1:
        return read(next(iter(found)))
    if set(found) == {xspace, nsight_compute}:
        joined = with_counters(read(xspace), read(nsight_compute))
        if joined is not None:
            return joined
    raise _which_one(found)


def _by_importer(sources: Sequence[SourceFile]) -> dict[Importer, list[SourceFile]]:
    """The files by who reads them, in the order of the upload."""
    found: dict[Importer, list[SourceFile]] = {}
    for source in sources:
        found.setdefault(identify(source), []).append(source)
    return found


def _which_one(found: Mapping[Importer, Sequence[SourceFile]]) -> UploadRejectedError:
    named = " and ".join(
        f"{importer.LABEL} ({', '.join(file.name for file in files[:_NAMES_SHOWN])}"
        + (", …)" if len(files) > _NAMES_SHOWN else ")")
        for importer, files in found.items()
    )
    why = (
        "no kernel whose FLOPs the report knows has the name of an operation of the capture"
        if set(found) == {xspace, nsight_compute}
        else "they are not one profile"
    )
    return UploadRejectedError(
        f"These files are of different formats, and {why}: {named}.",
        remedy="Which one do you want to open? Upload that one alone. Together go several files "
        "of one format, or a capture of XSpace and the Nsight Compute report of its kernels.",
    )
