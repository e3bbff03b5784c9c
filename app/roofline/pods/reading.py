"""The yield of a file of a run: a partial for each host in it.

A file that cannot be read is listed with the reason, and the others go on.
"""

from collections.abc import Callable
from pathlib import Path

from roofline.errors import RooflineError, UnknownFormatError
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


def _read(source: SourceFile, *, digest: str, is_named: bool) -> Partial | Unreadable | None:
    try:
        profile = import_profile([source])
    except UnknownFormatError as error:
        if not is_named and not source.name.endswith(_CAPTURES):
            return None
        return Unreadable(name=source.name, digest=digest, reason=error.message)
    except RooflineError as error:
        return Unreadable(name=source.name, digest=digest, reason=error.message)
    return partial_of(profile, file_digest=digest)
