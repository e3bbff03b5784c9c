"""Files of one upload: which belong together, which cannot be read."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from roofline.errors import FileGroup, MixedUploadError, RooflineError, UnreadableFile
from roofline.importers.source import SourceFile
from roofline.model.device import ReportedDevice
from roofline.model.profile import Profile

_NAMES_SHOWN = 3


class Machines(Protocol):
    """The knowledge of devices: whether two differ, and what people call one."""

    def differ(self, one: ReportedDevice, other: ReportedDevice) -> bool:
        """True where two files certainly ran on different devices."""

    def label(self, reported: ReportedDevice) -> str:
        """The device's name for people."""


class Examined(NamedTuple):
    """One file of the upload: its place, and its device or why it cannot be read."""

    number: int
    name: str
    device: ReportedDevice | None = None
    error: RooflineError | None = None


def examine(
    numbers: Sequence[int], sources: Sequence[SourceFile], read: Callable[[SourceFile], Profile]
) -> list[Examined]:
    """Each file read alone: what its device is, or why it cannot be read."""
    result = []
    for number, source in zip(numbers, sources, strict=True):
        try:
            result.append(Examined(number, source.name, device=read(source).device))
        except RooflineError as error:
            result.append(Examined(number, source.name, error=error))
    return result


def devices_of(
    profile: Profile, numbers: Sequence[int], sources: Sequence[SourceFile]
) -> list[Examined] | None:
    """The files of a profile with the devices of its hosts; `None` where names repeat."""
    names = [source.name for source in sources]
    if len(set(names)) < len(names):
        return None
    devices = {host.file_name: host.device for host in profile.hosts}
    return [Examined(k, name, devices.get(name)) for k, name in zip(numbers, names, strict=True)]


def is_one_machine(profile: Profile, machines: Machines) -> bool:
    """False where two files of `profile` certainly ran on different devices."""
    devices = [host.device for host in profile.hosts if host.device is not None]
    return not any(
        machines.differ(device, other) for k, device in enumerate(devices) for other in devices[:k]
    )


def by_device(files: Sequence[Examined], machines: Machines | None) -> list[FileGroup]:
    """Readable files by device; one whose device is not known joins the first group it can."""
    groups: list[list[Examined]] = []
    for file in files:
        if file.error is not None:
            continue
        home = next((group for group in groups if not _differs(file, group, machines)), None)
        if home is None:
            groups.append([file])
        else:
            home.append(file)
    return [_group(_label(group, machines), group) for group in groups]


def unreadable(files: Sequence[Examined]) -> list[UnreadableFile]:
    """The files that cannot be read, with their own errors."""
    return [
        UnreadableFile(
            file.name, file.number, file.error.code, file.error.message, file.error.remedy
        )
        for file in files
        if file.error is not None
    ]


def different_machines(
    groups: Sequence[FileGroup], unreadable_files: Sequence[UnreadableFile] = ()
) -> MixedUploadError:
    """The error for files of several devices."""
    return MixedUploadError(
        f"These files are of different machines, so they are not one profile: {named(groups)}."
        + "".join(
            f" {unreadable_file.message}" for unreadable_file in unreadable_files[:_NAMES_SHOWN]
        ),
        remedy="Make one profile of each group: upload the files of one machine together.",
        groups=groups,
        unreadable=unreadable_files,
    )


def some_unreadable(
    groups: Sequence[FileGroup], unreadable_files: Sequence[UnreadableFile]
) -> MixedUploadError:
    """The error for files of which some cannot be read. Its texts are those of the first."""
    first, *others = unreadable_files
    readable = sum(len(group.files) for group in groups)
    count = len(unreadable_files) + readable
    more = f" {len(others):,} more of the {count:,} files cannot be read either." if others else ""
    names = _listed([unreadable_file.name for unreadable_file in unreadable_files])
    return MixedUploadError(
        f"{first.message}{more}",
        remedy=f"{first.remedy} Or go on without {names}: the other "
        + ("file" if readable == 1 else f"{readable:,} files")
        + " of the upload can be read.",
        groups=groups,
        unreadable=unreadable_files,
    )


def named(groups: Sequence[FileGroup]) -> str:
    """The groups in a sentence: "TPU v6e (a.xplane.pb) and Tesla V100 (b.xplane.pb, …)"."""
    return " and ".join(f"{group.label} ({_listed(group.files)})" for group in groups)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES_SHOWN]) + (", …" if len(names) > _NAMES_SHOWN else "")


def _differs(file: Examined, group: Sequence[Examined], machines: Machines | None) -> bool:
    if machines is None or file.device is None:
        return False
    others = (other.device for other in group if other.device is not None)
    return any(machines.differ(file.device, other) for other in others)


def _label(group: Sequence[Examined], machines: Machines | None) -> str:
    """The first device that has a name: a file may not know its own."""
    first = next((f.device for f in group if f.device is not None and f.device.name), None)
    if first is None:
        return "unknown device"
    return first.name if machines is None else machines.label(first)


def _group(label: str, files: Sequence[Examined]) -> FileGroup:
    return FileGroup(label, tuple(f.name for f in files), tuple(f.number for f in files))
