"""Which importer reads a file: recognised by content, by exactly one importer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Protocol, runtime_checkable

from roofline.errors import (
    CorruptProfileError,
    FileGroup,
    MixedUploadError,
    RooflineError,
    UploadRejectedError,
)
from roofline.importers import (
    generic,
    nsight_compute,
    nsight_systems,
    pytorch,
    rocprof_compute,
    rocprofiler_sdk,
    xprof_export,
    xspace,
)
from roofline.importers.intake import grouping
from roofline.importers.intake.grouping import Machines
from roofline.importers.shared.join_kernels import with_counters
from roofline.importers.shared.next_steps import with_next_steps
from roofline.importers.source import (
    Progress,
    SourceFile,
    is_reencoded,
    reencoded_error,
    silent,
)
from roofline.model.device import ReportedDevice
from roofline.model.profile import Profile


class Importer(Protocol):
    """A format: a module with these names.

    `LABEL` names it on the page, `READS` says in errors which of its files are read.
    """

    FORMAT_ID: str
    LABEL: str
    READS: str

    def recognises(self, source: SourceFile) -> bool:
        """True if the head of `source` is this format. Never raises, ignores the file name."""

    def read(self, sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
        """The profile in `sources`, one file per host. The registry adds the format's names."""


@runtime_checkable
class MirrorsXprof(Protocol):
    """A format that XProf reads, too, with mistakes of its own."""

    def read_as_xprof(self, sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
        """The profile in `sources` with XProf's mistakes, for exact comparison with its output."""


IMPORTERS: tuple[Importer, ...] = (
    xspace,
    nsight_compute,
    nsight_systems,
    xprof_export,
    rocprof_compute,
    rocprofiler_sdk,
    pytorch,
    generic,
)
_WITH_KERNELS = (
    "roofline.importers.nsight_systems.reader",
    "roofline.importers.pytorch.job",
    "roofline.importers.xspace.cpu",
    "roofline.importers.xspace.gpu",
    "roofline.importers.xspace.reader",
    "roofline.importers.xspace.tpu",
)
# Tables without single kernels: their files are never joined with those of other formats.
_TABLES: frozenset[Importer] = frozenset({xprof_export, generic})
# Formats whose files are whole alone; others are folders, or roofs and kernels in two files.
_READ_ALONE: tuple[Importer, ...] = (xspace, nsight_compute, nsight_systems, pytorch)


def identify(source: SourceFile) -> Importer:
    """The importer that recognises `source`, or `UnknownFormatError` saying what it is instead.

    Raises `CorruptProfileError` for a binary file that was rewritten as text on its way.
    """
    if source.size_bytes == 0:
        raise UploadRejectedError(
            f"{source.name} is empty.", remedy="Capture or export the profile again."
        )
    if is_reencoded(source.head):
        raise reencoded_error(source.name)
    for importer in IMPORTERS:
        if importer.recognises(source):
            return importer
    # Loads slowly, and most files are profiles.
    from roofline.importers.intake.wrong_files import refused

    raise refused(source, formats_read())


def is_mirrored(source: SourceFile) -> bool:
    """Whether XProf reads the format of `source`, too, so that it is read with XProf's mistakes."""
    return isinstance(identify(source), MirrorsXprof)


def formats_read() -> str:
    """All formats that are read, as a list in a sentence."""
    return ", ".join(importer.READS for importer in IMPORTERS)


def warm_up(*, is_for_wheel: bool = False) -> None:
    """Load the readers that have kernels; compile these where this machine never did: a minute.

    For a wheel they are compiled for every CPU of this machine's kind, into the package.
    """
    from roofline.importers import kernels  # loads slowly, as do the readers

    for module in _WITH_KERNELS:
        import_module(module)
    (kernels.write_portable_kernels if is_for_wheel else kernels.load_kernels)()


def import_profile(
    sources: Sequence[SourceFile],
    *,
    xprof_compat: bool = False,
    progress: Progress = silent,
    machines: Machines | None = None,
) -> Profile:
    """One profile from the files of one upload: several files are the hosts of one program.

    A capture and a report of its kernels make one profile too. Raises `MixedUploadError` for other
    mixtures: of formats, of files of which some cannot be read, and of devices, which `machines`
    tells apart. `xprof_compat` keeps XProf's mistakes in the formats that XProf reads.
    """
    if not sources:
        raise UploadRejectedError("There is no file to read.", remedy="Choose a profile file.")
    progress("recognise", 0.0)
    upload = _Upload(sources, xprof_compat=xprof_compat, progress=progress, machines=machines)
    progress("recognise", 1.0)
    try:
        return upload.profile()
    except CorruptProfileError:
        # Libraries that parse say of memory that ran out that the content makes no sense.
        bytearray(_LEAST_MEMORY)
        raise


_LEAST_MEMORY = 16 << 20
"""Bytes that must be left where an error about the content is accepted; else `MemoryError`."""


def _fit_of_timeline(profile: Profile) -> tuple[bool, bool, int]:
    """What makes a profile that which says when work ran: a timeline, kernels that no counting of
    their work slowed, and many of them."""
    kernels = profile.kernels
    is_slowed = (
        kernels is not None and kernels.work is not None and bool(kernels.work.cost_known.any())
    )
    return profile.timeline is not None, not is_slowed, 0 if kernels is None else len(kernels)


def _without_kernels(profile: Profile) -> Profile:
    """`profile` with what its single kernels tell of the commands that complete it."""
    return replace(with_next_steps(profile), kernels=None)


class _Upload:
    """The files of one upload by the format that reads them, in the order of the upload."""

    def __init__(
        self,
        sources: Sequence[SourceFile],
        *,
        xprof_compat: bool,
        progress: Progress,
        machines: Machines | None,
    ) -> None:
        self._sources = sources
        self._xprof_compat = xprof_compat
        self._progress = progress
        self._machines = machines
        self._found: dict[Importer, list[int]] = {}
        unknown: list[grouping.Examined] = []
        for number, source in enumerate(sources):
            try:
                self._found.setdefault(identify(source), []).append(number)
            except RooflineError as error:
                if len(sources) == 1:
                    raise
                unknown.append(grouping.Examined(number, source.name, error=error))
        if unknown:
            raise self._without(unknown)

    def profile(self) -> Profile:
        """The profile of all files."""
        if len(self._found) == 1:
            return _without_kernels(self._of_one_format(next(iter(self._found))))
        if not _TABLES.isdisjoint(self._found):
            raise self._which_one("they are not one profile")
        if (roofs := self._roofs_of_databases()) is not None:
            profile = self._of_one_format(rocprofiler_sdk)
            self._refuse_other_machines(
                {rocprofiler_sdk: profile, rocprof_compute: replace(profile, device=roofs)}
            )
            from roofline.importers.shared.join_cells import with_roofs  # loads slowly

            return _without_kernels(with_roofs(profile, roofs))
        read = {importer: self._of_one_format(importer) for importer in self._found}
        self._refuse_other_machines(read)
        if set(read) == {xspace, nsight_compute}:
            joined = with_counters(read[xspace], read[nsight_compute])
            if joined is None:
                raise self._which_one(
                    "no kernel whose FLOPs the report knows has the name of an operation of the"
                    " capture"
                )
            return joined
        return self._with_cells(read)

    def _roofs_of_databases(self) -> ReportedDevice | None:
        """The roofs that a workload's benchmark measured, beside databases of its passes."""
        if set(self._found) != {rocprof_compute, rocprofiler_sdk}:
            return None
        sources = [self._sources[k] for k in self._found[rocprof_compute]]
        return rocprof_compute.roofs_alone(sources)

    def _with_cells(self, read: Mapping[Importer, Profile]) -> Profile:
        """The one profile that has a timeline with what the others counted of its kernels."""
        from roofline.importers.shared.join_cells import (  # loads slowly
            NotOneProgramError,
            with_cells,
        )

        by_fit = sorted(read.values(), key=_fit_of_timeline, reverse=True)
        program, *others = by_fit
        try:
            for counted in others:
                program = replace(with_cells(program, counted), kernels=program.kernels)
        except NotOneProgramError as error:
            raise self._which_one(str(error)) from error
        return _without_kernels(program)

    def _refuse_other_machines(self, read: Mapping[Importer, Profile]) -> None:
        machines = self._machines
        devices = [profile.device for profile in read.values()]
        if machines is not None and any(machines.differ(devices[0], one) for one in devices[1:]):
            labels = {of: machines.label(profile.device) for of, profile in read.items()}
            raise grouping.different_machines(self._by_format(labels))

    def _read(self, importer: Importer, sources: Sequence[SourceFile] | None = None) -> Profile:
        sources = sources or [self._sources[k] for k in self._found[importer]]
        if self._xprof_compat and isinstance(importer, MirrorsXprof):
            profile = importer.read_as_xprof(sources, progress=self._progress)
        else:
            profile = importer.read(sources, progress=self._progress)
        label = f"{importer.LABEL} {profile.format_detail}".strip()
        return replace(profile, format_id=importer.FORMAT_ID, format_label=label)

    def _of_one_format(self, importer: Importer) -> Profile:
        """The profile of files of one format. Raises `MixedUploadError` if they do not fit."""
        try:
            profile = self._read(importer)
        except MixedUploadError as error:  # its groups number the files of this format
            at = self._found[importer]
            groups = [
                one._replace(numbers=tuple(at[number] for number in one.numbers))
                for one in error.groups
            ]
            raise MixedUploadError(error.message, remedy=error.remedy, groups=groups) from None
        except RooflineError as error:
            mixed = self._partly_unreadable(importer)
            if mixed is None:
                raise
            raise mixed from error
        machines = self._machines
        if machines is None or grouping.is_one_machine(profile, machines):
            return profile
        numbers = self._found[importer]
        files = grouping.devices_of(profile, numbers, [self._sources[k] for k in numbers])
        groups = grouping.by_device(files or self._examined(importer), machines)
        raise grouping.different_machines(groups)

    def _partly_unreadable(self, importer: Importer) -> MixedUploadError | None:
        """Which files can be read and which cannot; `None` where that holds for all of them."""
        if len(self._found[importer]) == 1 or importer not in _READ_ALONE:
            return None
        files = self._examined(importer)
        unreadable = grouping.unreadable(files)
        if len(unreadable) in (0, len(files)):
            return None
        groups = grouping.by_device(files, self._machines)
        if len(groups) > 1:
            return grouping.different_machines(groups, unreadable)
        return grouping.some_unreadable(groups, unreadable)

    def _examined(self, importer: Importer) -> list[grouping.Examined]:
        numbers = self._found[importer]
        sources = [self._sources[k] for k in numbers]
        return grouping.examine(numbers, sources, lambda source: self._read(importer, [source]))

    def _by_format(self, labels: Mapping[Importer, str] | None = None) -> list[FileGroup]:
        """The files by format, under `labels` or the formats' own."""
        return [
            FileGroup(
                label=(labels or {}).get(importer, importer.LABEL),
                files=tuple(self._sources[k].name for k in numbers),
                numbers=tuple(numbers),
            )
            for importer, numbers in self._found.items()
        ]

    def _without(self, unknown: Sequence[grouping.Examined]) -> RooflineError:
        """The error for an upload of which no importer recognises `unknown`."""
        if not self._found:
            error = unknown[0].error
            assert error is not None
            return error
        return grouping.some_unreadable(self._by_format(), grouping.unreadable(unknown))

    def _which_one(self, why: str) -> MixedUploadError:
        groups = self._by_format()
        return MixedUploadError(
            f"These files are of different formats, and {why}: {grouping.named(groups)}.",
            remedy="Which one do you want to open? Upload that one alone. You can combine files of "
            "one format, or the timeline of a program (XSpace, PyTorch, Nsight Systems, rocprofv3) "
            "with what Nsight Compute or rocprof-compute counted of the same program.",
            groups=groups,
        )
