"""Files → profile → analysis: the same calls for imports, notebooks and the terminal."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from roofline.analysis.analyse import analyse
from roofline.analysis.one_host import alone, files_of_host, of_host
from roofline.analysis.other_device import at_running_clock, under_other_peaks
from roofline.analysis.records import AnalysisOptions, RooflineAnalysis
from roofline.analysis.time_range import in_range
from roofline.devices import identification
from roofline.devices.choice import PeakChoice
from roofline.devices.measured import read_machine
from roofline.devices.resolve import resolve
from roofline.errors import CorruptProfileError, UnknownFormatError, UploadRejectedError
from roofline.importers.intake.archives import Unpacked, UnpackLimits, unpack
from roofline.importers.intake.folders import WORKLOAD, exported, files_of_folder
from roofline.importers.registry import formats_read, identify, import_profile, is_mirrored
from roofline.importers.source import Progress, SourceFile, silent
from roofline.model.device import Device
from roofline.model.profile import Diagnostic, Profile, Severity

NAMES_SHOWN = 5


def analyse_files(
    paths: Sequence[Path],
    *,
    xprof_compat: bool = False,
    choice: PeakChoice | None = None,
    range_ps: tuple[float, float] | None = None,
    host: str | None = None,
    dvfs: bool = False,
    progress: Progress = silent,
) -> RooflineAnalysis:
    """The roofline of the files at `paths`, one per host, archives of them, or the folder of a
    workload or of sessions, of which the newest is read.

    `choice` is the device or the peaks to hold the program against, `range_ps` a part of the
    capture's time, `host` one of its hosts. With `dvfs` peaks are those at the clock that ran.
    Raises `RooflineError` with a
    remedy for files that cannot be read.
    """
    with opened_files(paths, progress) as (opened, notes):
        return analyse_sources(
            opened,
            notes=notes,
            xprof_compat=xprof_compat,
            choice=choice,
            range_ps=range_ps,
            host=host,
            dvfs=dvfs,
            progress=progress,
        )


@contextmanager
def opened_files(
    paths: Sequence[Path], progress: Progress = silent
) -> Iterator[tuple[tuple[SourceFile, ...], tuple[Diagnostic, ...]]]:
    """The profile files at `paths`, unpacked for as long as they are read, and what was noted."""
    with tempfile.TemporaryDirectory(prefix="roofline-") as scratch:
        found = [one for path in paths for one in _paths(path)]
        files, said = exported(found, Path(scratch) / "exported")
        opened, notes = open_sources(
            [_source(path) for path in files],
            scratch=Path(scratch) / "unpacked",
            limits=UnpackLimits(),
            progress=progress,
        )
        yield opened, (*notes, *map(exported_note, said))


def open_sources(
    sources: Sequence[SourceFile], *, scratch: Path, limits: UnpackLimits, progress: Progress
) -> tuple[tuple[SourceFile, ...], tuple[Diagnostic, ...]]:
    """The profile files in `sources`, archives unpacked below `scratch`, and what was skipped.

    Files that no importer reads are skipped if they came from an archive that also holds profiles,
    and beside the tables of a workload: logs and pictures of rocprof-compute.
    """
    unpacked = unpack(
        sources, into=scratch, limits=limits, progress=lambda fraction: progress("unpack", fraction)
    )
    beside = ".csv" if any(fnmatch(file.source.name, WORKLOAD) for file in unpacked) else ""
    kept = tuple(
        file
        for file in unpacked
        if (file.archive is None and file.source.name.endswith(beside)) or _is_profile(file.source)
    )
    skipped = [file for file in unpacked if file not in kept]
    if not kept and skipped:
        raise _no_profile(skipped)
    notes = (_skipped_note(skipped),) if skipped else ()
    return tuple(file.source for file in kept), notes


def analyse_sources(
    sources: Sequence[SourceFile],
    *,
    notes: tuple[Diagnostic, ...] = (),
    xprof_compat: bool = False,
    choice: PeakChoice | None = None,
    range_ps: tuple[float, float] | None = None,
    host: str | None = None,
    dvfs: bool = False,
    progress: Progress,
) -> RooflineAnalysis:
    """The roofline of `sources`; `notes` join the profile's own diagnostics.

    `choice` is the device or the peaks that the user holds the program against, `range_ps` a part
    of the capture's time, `host` one of its hosts. With `dvfs` peaks are those at the clock that
    ran. Raises
    `MixedUploadError` for files that are not one profile: its groups number the `sources`.
    """
    profile, device = read_profile(
        sources, notes=notes, xprof_compat=xprof_compat, choice=choice, host=host, progress=progress
    )
    if range_ps is not None:
        profile = in_range(profile, *range_ps)
    if dvfs:
        profile, device = at_running_clock(profile, device)
    return analyse(profile, device, AnalysisOptions(xprof_compat=xprof_compat))


def read_profile(
    sources: Sequence[SourceFile],
    *,
    notes: tuple[Diagnostic, ...] = (),
    xprof_compat: bool = False,
    choice: PeakChoice | None = None,
    host: str | None = None,
    progress: Progress,
) -> tuple[Profile, Device]:
    """The profile of `sources` and the device to hold it against; as `analyse_sources`."""
    # XProf joins whatever it is given.
    told_apart = None if xprof_compat else identification

    def imported(files: Sequence[SourceFile]) -> Profile:
        return import_profile(
            files, xprof_compat=xprof_compat, progress=progress, machines=told_apart
        )

    profile = imported(sources)
    files = None if host is None else files_of_host(profile, host)
    if host is not None and files is not None:
        kept = [source for source in sources if source.name in files]
        profile = alone(imported(kept), profile, host)
    elif host is not None:
        profile = of_host(profile, host)
    progress("analyse", 0.0)
    # XProf knows no catalogue, so its numbers are those of the profile's own peaks.
    profile = replace(profile, diagnostics=(*profile.diagnostics, *notes))
    machine = read_machine()
    own = resolve(profile.device, catalogue=not xprof_compat, machine=machine)
    if choice is None or choice.is_empty:
        return profile, own
    if xprof_compat:
        return profile, resolve(profile.device, choice=choice, catalogue=False, machine=machine)
    return under_choice(profile, own, choice)


def under_choice(profile: Profile, own: Device, choice: PeakChoice) -> tuple[Profile, Device]:
    """`profile`, whose peaks are those of `own`, and the device that was chosen for it."""
    device = resolve(profile.device, choice=choice, machine=read_machine())
    return under_other_peaks(profile, own, device)


def analysis_as_xprof(sources: Sequence[SourceFile], profile: Profile) -> RooflineAnalysis:
    """The analysis of `sources` with XProf's numbers, mistakes included, as `xprof_compat`.

    `profile` is what was read of them, and is read again only where XProf reads the format, too.
    """
    if any(is_mirrored(source) for source in sources):
        return analyse_sources(sources, xprof_compat=True, progress=silent)
    device = resolve(profile.device, catalogue=False, machine=read_machine())
    return analyse(profile, device, AnalysisOptions(xprof_compat=True))


def exported_note(said: str) -> Diagnostic:
    """The note of what was done with a report before it was read."""
    return Diagnostic(severity=Severity.INFO, code="exported-reports", message=said)


def _paths(path: Path) -> list[Path]:
    """The file at `path`, or those of the workload or of the newest session in the folder there.

    What the profiler leaves beside them (statistics, logs) is not read.
    """
    if not path.is_dir():
        return [path]
    found = files_of_folder(path)
    return [one for one in found if one.suffix != ".csv" or _is_profile(_source(one))]


def _source(path: Path) -> SourceFile:
    try:
        path.open("rb").close()
    except OSError as error:
        raise UploadRejectedError(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}.",
            remedy="Check the path and its permissions.",
        ) from error
    return SourceFile(path)


def _is_profile(source: SourceFile) -> bool:
    try:
        identify(source)
    except (UnknownFormatError, UploadRejectedError):
        return False
    except CorruptProfileError:  # a profile, but damaged: to be named, not skipped
        return True
    return True


def _no_profile(skipped: Sequence[Unpacked]) -> UnknownFormatError:
    from roofline.importers.intake.wrong_files import packed_document, refused

    formats = formats_read()
    document = packed_document([file.source.name for file in skipped])
    if document is not None:
        return UnknownFormatError(
            f"{skipped[0].archive} is {document.what}, not a profile.",
            remedy=document.instead or f"Formats read: {formats}.",
        )
    if len(skipped) == 1:
        found = refused(skipped[0].source, formats)
        return UnknownFormatError(f"In {skipped[0].archive}: {found.message}", remedy=found.remedy)
    return UnknownFormatError(
        f"{skipped[0].archive} holds no profile, only {_names(skipped)}.",
        remedy=f"Formats read: {formats}. Pack the files as the profiler wrote them.",
    )


def _skipped_note(skipped: Sequence[Unpacked]) -> Diagnostic:
    return Diagnostic(
        severity=Severity.INFO,
        code="skipped-files",
        message=f"Files that are not profiles were skipped: {_names(skipped)}.",
        count=len(skipped),
    )


def _names(files: Sequence[Unpacked]) -> str:
    shown = ", ".join(file.source.name for file in files[:NAMES_SHOWN])
    more = len(files) - NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
