"""Which files a run has. Loads no reader: what gives files out does not read them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Protocol, TypeVar

from roofline.errors import UploadRejectedError
from roofline.pods.folders import folders_among, name_of, outside

XSPACE_SUFFIX = ".xplane.pb"


class Named(Protocol):
    """A file somewhere, by the last part of its path or key."""

    @property
    def name(self) -> str:
        """The last part."""


AnyNamed = TypeVar("AnyNamed", bound=Named)


@dataclass(frozen=True, slots=True)
class Found:
    """A file of a run; `is_named` is true where the user named it, not only its folder.

    With `is_folder` all files of the folder are one host (see `pods.folders`). `called` is its name
    where that is not the last part of the path.
    """

    path: Path
    is_named: bool
    called: str = ""
    is_folder: bool = False

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.called or self.path.name


def files_of(paths: Sequence[Path]) -> list[Found]:
    """The files at `paths`, those in and below folders, and those of patterns with `*`.

    A folder with XSpace captures is a folder of JAX's or TensorFlow's profiler: its other files
    are results. Raises `UploadRejectedError` where there is none, and as `folders_among` does.
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
        return _hosts(captures_among(files))
    if path.exists() or not has_magic(str(path)):
        return [_one(path, is_named=True)]
    matching = [Path(one) for one in sorted(glob(str(path), recursive=True))]
    return [one for each in captures_among(matching) for one in _in_folder_or_plain(each)]


def _in_folder_or_plain(path: Path) -> list[Found]:
    return _at(path) if path.is_dir() else [_one(path, is_named=False)]


def _one(path: Path, *, is_named: bool) -> Found:
    return Found(path, is_named=is_named, called=name_of(str(path.absolute())))


def _hosts(files: Sequence[Path]) -> list[Found]:
    """The files, and in place of those of one host their folder."""
    texts = [str(one.absolute()) for one in files]
    folders = folders_among(texts)
    plain = [_one(Path(one), is_named=False) for one in outside(folders, texts)]
    whole = [Found(Path(one), False, name_of(one), is_folder=True) for one in folders]
    return sorted([*plain, *whole], key=lambda one: one.path)


def captures_among(files: Sequence[AnyNamed]) -> list[AnyNamed]:
    """The captures of hosts, where files of a profiler tell them from its results; else all."""
    return [one for one in files if one.name.endswith(XSPACE_SUFFIX)] or list(files)


def digest_of(path: Path) -> str:
    """The SHA-256 of the file at `path`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
