"""Which files a run has, which folders are one host, and the names of hosts that only a path tells.

A workload of rocprof-compute is a folder with several tables. rocprofv3 runs a program once for
each group of counters, and writes a folder for each of these passes. JAX and TensorFlow write
sessions: `LOG_DIR/plugins/profile/SESSION/HOST.xplane.pb`. Nothing here reads a file's content.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import Protocol, TypeVar

from roofline.errors import UploadRejectedError
from roofline.storage import buckets
from roofline.storage.buckets import Listed

# A folder with this table is a workload of rocprof-compute, which its importer reads whole.
_WORKLOAD = "pmc_perf*.csv"
_PASSES = re.compile(r"(?P<folder>.+)/(?P<number>(?:pmc|pass)_\d+)/.+\.json")
_PASS = re.compile(r"(?:pmc|pass)_\d+")
# The folder of rocprof-compute that is named after the part: `MI200`, `MI300X_A1`.
_PART = re.compile(r"MI\d{2,3}\w*")
_RANK = re.compile(r"(?<![A-Za-z])rank[-_ ]?(\d{1,7})(?!\d)", re.IGNORECASE)
# So many folders above a file may say its rank.
_NEAR = 3
_CAPTURES = (".json", ".json.gz", ".ncu-rep")
ROCPROFV3 = "_results.json"
XSPACE_SUFFIX = ".xplane.pb"
_SESSION = re.compile(r"(?:.*/)?plugins/profile/(?P<session>[^/]+)/(?P<host>[^/]+)\.xplane\.pb")
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFile:
    """One file of a run.

    `address` is a path or an address such as `s3://bucket/key`; `version` is the ETag or generation
    of an object. `digest` is the SHA-256 of the content where it is known, else empty. `is_named`
    is true where the user named the file, not only its folder. The address of a folder whose files
    are one host ends with `/`.
    """

    address: str
    name: str
    size_bytes: int
    is_named: bool
    version: str = ""
    digest: str = ""

    @classmethod
    def of(cls, listed: Listed, *, is_named: bool) -> "HostFile":
        """One of a listing as a file of a run."""
        return cls(
            address=listed.address,
            name=name_of(path_of(listed.address)),
            size_bytes=listed.size_bytes,
            is_named=is_named,
            version=listed.version,
        )

    @property
    def is_folder(self) -> bool:
        """True where the files of a folder are one host."""
        return is_folder(self.address)

    @property
    def path(self) -> Path:
        """Its place, if it is on this machine."""
        return Path(self.address)


def is_folder(address: str) -> bool:
    """True for the address, or path, of a folder whose files are one host."""
    return path_of(address).endswith("/")


def path_of(address: str) -> str:
    """The path, or the key in its bucket."""
    return buckets.parse(address).key if buckets.is_address(address) else address


def on_disk(path: Path) -> Listed:
    """The file at `path`, as a listing has it."""
    known = path.stat()
    return Listed(str(path.absolute()), str(known.st_mtime_ns), known.st_size, known.st_mtime)


def hosts_among(files: Sequence[Listed], *, refuse: bool = True) -> list[Listed]:
    """The files of a listing, and in place of those of one host their folder. Raises as
    `folders_among`."""
    by_path = {path_of(one.address): one for one in files}
    folders = folders_among(list(by_path), refuse=refuse)
    whole = [as_one(folder, [by_path[one] for one in own]) for folder, own in folders.items()]
    plain = [by_path[path] for path in outside(folders, list(by_path))]
    return sorted([*plain, *whole], key=lambda one: one.address) if whole else list(files)


def as_one(folder: str, members: Sequence[Listed]) -> Listed:
    """The folder with this path or key; its version changes with that of any of its files."""
    address = members[0].address
    identities = "".join(sorted(one.identity for one in members))
    return Listed(
        buckets.parse(address).of(folder) if buckets.is_address(address) else folder,
        hashlib.sha256(identities.encode()).hexdigest(),
        sum(one.size_bytes for one in members),
        max(one.modified_at for one in members),
    )


def listed_folder(path: Path) -> Listed:
    """The folder on this machine, as a listing has it."""
    folder = f"{path.absolute()}/"
    return as_one(folder, members_of(folder))


def members_of(address: str) -> list[Listed]:
    """The files there are now in a folder whose files are one host; none where it is gone."""
    if buckets.is_address(address):
        found = buckets.list_objects(address)
    else:
        found = [on_disk(one) for one in sorted(Path(address).rglob("*")) if one.is_file()]
    by_path = {path_of(one.address): one for one in found}
    own = folders_among(list(by_path)).get(path_of(address), [])
    return [by_path[one] for one in sorted(own)]


def folders_among(paths: Sequence[str], *, refuse: bool = True) -> dict[str, list[str]]:
    """The folders that are one host each, with a `/` at the end, and their files among `paths`.

    Raises `UploadRejectedError` for passes of several processes in one folder, if it is to `refuse`
    them: nothing tells which belong together.
    """
    workloads = {_folder(path) for path in paths if PurePosixPath(path).match(_WORKLOAD)}
    found: dict[str, list[str]] = {}
    passes: dict[str, dict[str, list[str]]] = {}
    for path in paths:
        if path.endswith(".csv") and _folder(path) in workloads:
            found.setdefault(_folder(path), []).append(path)
        elif (one := _PASSES.fullmatch(path)) is not None:
            numbers = passes.setdefault(f"{one['folder']}/", {})
            numbers.setdefault(one["number"], []).append(path)
    return found | _joined(passes, refuse=refuse)


def outside(folders: Mapping[str, Sequence[str]], paths: Sequence[str]) -> list[str]:
    """Those of `paths` that may be hosts of their own beside the `folders`: what else lies in a
    folder of one host describes it."""
    held = {path for members in folders.values() for path in members}
    return [
        path
        for path in paths
        if path not in held
        and (path.endswith(_CAPTURES) or not any(above in folders for above in _above(path)))
    ]


def _above(path: str) -> Iterator[str]:
    """The folders that a path lies in."""
    at = path.rfind("/")
    while at > 0:
        yield path[: at + 1]
        at = path.rfind("/", 0, at)


def _folder(path: str) -> str:
    return path.rpartition("/")[0] + "/"


def _joined(passes: dict[str, dict[str, list[str]]], *, refuse: bool) -> dict[str, list[str]]:
    """The files of each folder with several passes, one file for each pass."""
    found = {}
    for folder, numbers in passes.items():
        if len(numbers) < 2:
            continue
        is_mixed = any(len(files) > 1 for files in numbers.values())
        if is_mixed and refuse:
            raise UploadRejectedError(
                f"{name_of(folder)} holds {len(numbers)} passes of several processes: which of"
                " them belong together is not known.",
                remedy="Let each rank write a folder of its own: rocprofv3 -d out/rank_%rank% …",
            )
        if not is_mixed:
            found[folder] = [path for files in numbers.values() for path in files]
    return found


def name_of(path: str) -> str:
    """The name of the host at a path: its last part, with the folder where that tells more.

    Ranks often write files of one name into folders of their own.
    """
    *folders, name = [part for part in path.split("/") if part] or [""]
    near = [one for one in reversed(folders[-_NEAR:]) if not _PASS.fullmatch(one)]
    of_rank = next((one for one in near if _RANK.search(one)), "")
    if path.endswith("/"):
        is_named = _RANK.search(name) is not None or not (of_rank or _PART.fullmatch(name))
        return name if is_named else of_rank or next(iter(near), name)
    above = of_rank or (next(iter(near), "") if name.endswith(ROCPROFV3) else "")
    return f"{above}/{name}" if above and not _RANK.search(name) else name


def above_ranks(path: str) -> str | None:
    """The folder that holds those of ranks, where a file or folder lies in one of them."""
    folders = path.split("/")[:-1]
    for k in reversed(range(max(len(folders) - _NEAR, 0), len(folders))):
        if _RANK.search(folders[k]):
            return "/".join([*folders[:k], ""])
    return None


def rank_of(name: str) -> int | None:
    """The rank in the name of a host's file or folder, as in `rank_3/trace.json`."""
    found = _RANK.findall(name)
    return int(found[-1]) if found else None


class Named(Protocol):
    """A file somewhere, by the last part of its path or key."""

    @property
    def name(self) -> str:
        """The last part."""


AnyNamed = TypeVar("AnyNamed", bound=Named)


def files_of(paths: Sequence[Path]) -> list[HostFile]:
    """The files at `paths`, those in and below folders, and those of patterns with `*`.

    A missing one has no bytes. A folder with XSpace captures is a folder of JAX's or TensorFlow's
    profiler: its other files are results. Raises `UploadRejectedError` where there is none, and as
    `folders_among` does.
    """
    found = [one for path in paths for one in _at(path)]
    if not found:
        names = ", ".join(str(path) for path in paths)
        raise UploadRejectedError(
            f"There are no files in {names}.", remedy="Name the folder that the profiler wrote."
        )
    return found


def _at(path: Path) -> list[HostFile]:
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.is_file())
        return _hosts(captures_among(files))
    if path.exists() or not has_magic(str(path)):
        return [_plain(path, is_named=True)]
    matching = captures_among([Path(one) for one in sorted(glob(str(path), recursive=True))])
    return [
        host
        for one in matching
        for host in (_at(one) if one.is_dir() else [_plain(one, is_named=False)])
    ]


def _plain(path: Path, *, is_named: bool) -> HostFile:
    address = str(path.absolute())
    size_bytes = path.stat().st_size if path.is_file() else 0
    return HostFile(
        address=address, name=name_of(address), size_bytes=size_bytes, is_named=is_named
    )


def _hosts(files: Sequence[Path]) -> list[HostFile]:
    """The files, and in place of those of one host their folder."""
    texts = [str(one.absolute()) for one in files]
    folders = folders_among(texts)
    plain = [_plain(Path(one), is_named=False) for one in outside(folders, texts)]
    whole = [HostFile.of(listed_folder(Path(one)), is_named=False) for one in folders]
    return sorted([*plain, *whole], key=lambda one: one.path)


def captures_among(files: Sequence[AnyNamed]) -> list[AnyNamed]:
    """The captures of hosts, where files of a profiler tell them from its results; else all."""
    return [one for one in files if one.name.endswith(XSPACE_SUFFIX)] or list(files)


def digest_of(path: Path) -> str:
    """The SHA-256 of the file at `path`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def session_of(path: str) -> str | None:
    """The session that the file at a path, or with a key, belongs to; `None` for other files."""
    found = _SESSION.fullmatch(path)
    return None if found is None else found["session"]


def check_one_session(paths: Sequence[str]) -> None:
    """Raises `UploadRejectedError` where files are of several sessions."""
    names = sorted({name for path in paths if (name := session_of(path)) is not None})
    if len(names) > 1:
        raise UploadRejectedError(
            f"There are {len(names)} sessions: {some_of(names)}.",
            remedy="Name one of them, or put sessions of one capture together with --join 120s.",
        )


def some_of(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
