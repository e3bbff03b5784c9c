"""Which files a run has, and what one of them gives: a partial for each host in it.

A file that cannot be read is listed with the reason, and the others go on.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Protocol, TypeVar

from roofline.errors import RooflineError, UnknownFormatError, UploadRejectedError
from roofline.importers.intake.archives import UnpackLimits, unpack
from roofline.importers.registry import import_profile
from roofline.importers.source import SourceFile
from roofline.pods.from_profile import partial_of
from roofline.pods.packed import SUFFIX, is_packed
from roofline.pods.packed import unpack as unpack_partial
from roofline.pods.partial import Partial
from roofline.pods.report import Unreadable

_XSPACE = ".xplane.pb"
# In a folder, other files that no importer recognises are not captures of hosts.
_CAPTURES = (_XSPACE, ".json", ".json.gz", ".ncu-rep", SUFFIX)


class Named(Protocol):
    """A file somewhere, by the last part of its path or key."""

    @property
    def name(self) -> str:
        """The last part."""


AnyNamed = TypeVar("AnyNamed", bound=Named)


@dataclass(frozen=True, slots=True)
class Found:
    """A file of a run; `is_named` is true where the user named it, not only its folder."""

    path: Path
    is_named: bool

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name


def nothing(_size_bytes: int) -> None:
    """Takes note of nothing."""


def files_of(paths: Sequence[Path]) -> list[Found]:
    """The files at `paths`, those in and below folders, and those of patterns with `*`.

    A folder with XSpace captures is a folder of JAX's or TensorFlow's profiler: its other files
    are results. Raises `UploadRejectedError` where there is none.
    """
    found = [one for path in paths for one in _at(path)]
    if not found:
        names = ", ".join(str(path) for path in paths)
        raise UploadRejectedError(
            f"There are no files in {names}.", remedy="Name the folder that the profiler wrote."
        )
    return found


def _at(path: Path) -> list[Found]:
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.is_file())
        return [Found(one, is_named=False) for one in captures_among(files)]
    if path.exists() or not has_magic(str(path)):
        return [Found(path, is_named=True)]
    matching = [Path(one) for one in sorted(glob(str(path), recursive=True))]
    return [one for each in captures_among(matching) for one in _in_folder_or_plain(each)]


def _in_folder_or_plain(path: Path) -> list[Found]:
    return _at(path) if path.is_dir() else [Found(path, is_named=False)]


def captures_among(files: Sequence[AnyNamed]) -> list[AnyNamed]:
    """The captures of hosts, where files of a profiler tell them from its results; else all."""
    return [one for one in files if one.name.endswith(_XSPACE)] or list(files)


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


def digest_of(path: Path) -> str:
    """The SHA-256 of the file at `path`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
