"""The yield of a file of a run: a partial for each host in it.

A file that cannot be read is listed with the reason, and the others go on. The files of a folder
that is one host (`pods.folders`) come as an archive, as those of a packed workload folder of
rocprof-compute do.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from roofline.errors import IncompleteProfileError, RooflineError, UnknownFormatError
from roofline.importers import rocprof_compute, rocprofiler_sdk
from roofline.importers.intake.archives import Unpacked, UnpackLimits, unpack
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
    source = SourceFile(file.path, file.name)
    if is_packed(file.path):
        return [_unpacked(source, digest)]
    try:
        opened = unpack([source], into=scratch / "unpacked", limits=limits)
    except RooflineError as error:
        return [Unreadable(name=source.name, digest=digest, reason=error.message)]
    unpacked(sum(one.source.size_bytes for one in opened))
    if parts := _parts_of_one(opened, is_folder=file.is_folder):
        return [_whole(parts, name=source.name, digest=digest)]
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


def _parts_of_one(opened: Sequence[Unpacked], *, is_folder: bool) -> list[SourceFile]:
    """The files that are one host together; none where each is one by itself."""
    sources = [one.source for one in opened]
    parts = [one for one in sources if rocprof_compute.recognises(one)]
    if is_folder:
        parts = parts or [one for one in sources if rocprofiler_sdk.recognises(one)]
        return parts or sources
    return parts if len(parts) > 1 else []


def _whole(parts: Sequence[SourceFile], *, name: str, digest: str) -> Partial | Unreadable:
    """The partial of the files of one host, which are the folder or archive `name`."""
    try:
        profile = import_profile(parts)
    except RooflineError as error:
        return Unreadable(name=name, digest=digest, reason=error.message)
    working = [one for one in profile.hosts if one.core_count]
    if len(working) > 1:
        reason = f"{name} holds {len(working)} ranks: each needs a folder of its own."
        return Unreadable(name=name, digest=digest, reason=reason)
    (host, *_) = working or profile.hosts
    return partial_of(replace(profile, hosts=(replace(host, file_name=name),)), file_digest=digest)


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
