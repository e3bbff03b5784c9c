"""The yield of a file of a run: a partial for each host in it.

A file that cannot be read is listed with the reason, and the others go on. The files of a packed
workload folder of rocprof-compute are one host.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from roofline.errors import IncompleteProfileError, RooflineError, UnknownFormatError
from roofline.importers import rocprof_compute
from roofline.importers.intake.archives import UnpackLimits, unpack
from roofline.importers.registry import import_profile
from roofline.importers.source import SourceFile
from roofline.pods.files import XSPACE_SUFFIX, Found, digest_of
from roofline.pods.from_profile import partial_of
from roofline.pods.packed import SUFFIX, is_packed
from roofline.pods.packed import unpack as unpack_partial
from roofline.pods.partial import Partial
from roofline.pods.report import Unreadable

# In a folder, other files that no importer recognises are not captures of hosts.
_CAPTURES = (XSPACE_SUFFIX, ".json", ".json.gz", ".ncu-rep", SUFFIX)


def nothing(_size_bytes: int) -> None:
    """Takes note of nothing."""


def read_file(
    file: Found,
    *,
    digest: str,
    scratch: Path,
    limits: UnpackLimits,
    unpacked: Callable[[int], None] = nothing,
) -> list[Partial | Unreadable]:
    """The partial of a file, or why there is none; one for each file of an archive.

    A file of a folder or archive that is not a capture gives nothing. `digest` is the SHA-256 of
    the file. Archives are unpacked into the empty folder `scratch`; `unpacked` is told how many
    bytes there are afterwards.
    """
    source = SourceFile(file.path)
    if is_packed(file.path):
        return [_unpacked(source, digest)]
    try:
        opened = unpack([source], into=scratch / "unpacked", limits=limits)
    except RooflineError as error:
        return [Unreadable(name=source.name, digest=digest, reason=error.message)]
    unpacked(sum(one.source.size_bytes for one in opened))
    parts = [one.source for one in opened if rocprof_compute.recognises(one.source)]
    if len(parts) > 1:
        return [_workload(parts, name=source.name, digest=digest)]
    own = {file.path: digest}
    found = [
        _read(
            one.source,
            digest=own.get(one.source.path) or digest_of(one.source.path),
            is_named=file.is_named and len(opened) == 1,
        )
        for one in opened
    ]
    return [one for one in found if one is not None]


def _unpacked(source: SourceFile, digest: str) -> Partial | Unreadable:
    """The partial that a host has sent in place of its file."""
    try:
        return unpack_partial(source.path.read_bytes())
    except ValueError as error:
        return Unreadable(name=source.name, digest=digest, reason=str(error))


def _workload(parts: Sequence[SourceFile], *, name: str, digest: str) -> Partial | Unreadable:
    """The partial of a workload folder that was packed into the archive `name`."""
    try:
        profile = import_profile(parts)
    except RooflineError as error:
        return Unreadable(name=name, digest=digest, reason=error.message)
    if len(profile.hosts) > 1:
        reason = (
            f"{name} holds {len(profile.hosts)} ranks: pack the folder of each rank on its own."
        )
        return Unreadable(name=name, digest=digest, reason=reason)
    found = partial_of(profile, file_digest=digest)
    host = profile.hosts[0].hostname or name
    return replace(found, header=replace(found.header, host=host, file_name=name))


def _read(source: SourceFile, *, digest: str, is_named: bool) -> Partial | Unreadable | None:
    try:
        profile = import_profile([source])
    except UnknownFormatError as error:
        if not is_named and not source.name.endswith(_CAPTURES):
            return None
        return Unreadable(name=source.name, digest=digest, reason=error.message)
    except IncompleteProfileError as error:
        # Beside the counters of a workload folder lies what describes the machine.
        if not is_named and rocprof_compute.recognises(source):
            return None
        return Unreadable(name=source.name, digest=digest, reason=error.message)
    except RooflineError as error:
        return Unreadable(name=source.name, digest=digest, reason=error.message)
    return partial_of(profile, file_digest=digest)
