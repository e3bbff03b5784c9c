"""Profiles in folders of this machine, as the tools of `roofline mcp` name them, and the programs
that these tools may reach: those in networks that their user allowed."""

import ipaddress
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from roofline.api.agents import LATEST
from roofline.api.agents.answers import quoted
from roofline.api.agents.reading import Reading, digest_of
from roofline.api.captures import capture_remote
from roofline.api.comparing import budget_of, read_baseline
from roofline.api.profiles import open_profile
from roofline.compare.gate.baseline import Baseline
from roofline.compare.gate.budget import Budget
from roofline.errors import BadViewError, CaptureFailedError, ProfileNotFoundError, RooflineError
from roofline.importers.source import CAPTURE_ENDINGS, Progress, silent

_KEPT = 4  # profiles in memory
_LOOKED_AT = 20_000  # files below the folders
_TRIED = 20

Key = tuple[str, int, int]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
LOOPBACK = ("127.0.0.0/8", "::1/128")


@dataclass(frozen=True, slots=True)
class Capture:
    """A file that may be a profile, by its path below a root, and when it changed last."""

    name: str
    changed_s: float


@dataclass(slots=True)
class Folders:
    """Captures below `roots`; nothing outside of them is read, whatever links lead to, and programs
    are recorded in the networks `allowed` alone."""

    roots: Sequence[Path]
    allowed: Sequence[Network] = ()
    progress: Progress = silent
    _open: dict[Key, Reading] = field(default_factory=dict)
    _turn: threading.Lock = field(default_factory=threading.Lock)  # tools run on threads

    def captures(self) -> list[Capture]:
        """Every capture, the newest first."""
        found = [one for root in self.roots for one in self._below(root)]
        return sorted(found, key=lambda one: -one.changed_s)

    def found(self, query: str, limit: int) -> tuple[list[Sequence[str]], int]:
        """When each changed, its name, and "-": files have no title."""
        every = [one for one in self.captures() if query.lower() in one.name.lower()]
        rows = [(time_text(one.changed_s), quoted(one.name), "-") for one in every[:limit]]
        return [*rows], len(every)

    def open(self, name: str) -> Reading:
        """The profile with this name, or the `latest` that can be read; analysed once while its
        file is the same.

        Raises `ProfileNotFoundError` for what is not below a root, and `RooflineError` for what
        cannot be read.
        """
        if name == LATEST:
            return self._latest()
        path = self.path(name)
        stat = path.stat()
        key = (str(path), stat.st_size, stat.st_mtime_ns)
        with self._turn:
            if key not in self._open:
                while len(self._open) >= _KEPT:
                    del self._open[next(iter(self._open))]
                profile = open_profile(path, progress=self.progress)
                self._open[key] = Reading(profile, self._name(path), digest_of(path))
            return self._open[key]

    def baseline(self, name: str) -> Baseline:
        """The baseline in the file of this name. Raises `RooflineError`."""
        return read_baseline(self.path(name), [])

    def budget(self) -> Budget:
        """The limits of `roofline.toml` where the tools were started, else the default ones."""
        return budget_of(None)

    def capture(self, address: str, duration_ms: int) -> Reading:
        """A recording of the program at this address; its file is not kept."""
        found = capture_remote(pinned(address, self.allowed), duration_ms=duration_ms)
        return Reading(found, address)

    def path(self, name: str) -> Path:
        """The file or folder of this name below a root. Raises `ProfileNotFoundError`."""
        for root in self.roots if "\0" not in name else ():
            path = (root / name).resolve()
            if path.exists() and path.is_relative_to(root.resolve()) and not _has_links(path):
                return path
        raise ProfileNotFoundError(
            f"No capture “{name[:200]}” is in the folders of this server.",
            remedy="find() lists them; `roofline mcp FOLDER` opens another folder.",
        )

    def _name(self, path: Path) -> str:
        root = next(one.resolve() for one in self.roots if path.is_relative_to(one.resolve()))
        return str(path.relative_to(root))

    def _latest(self) -> Reading:
        """The newest that is a profile: other files have such endings, too."""
        for one in self.captures()[:_TRIED]:
            with suppress(RooflineError):
                return self.open(one.name)
        raise BadViewError(
            f"None of the newest {_TRIED} files is a profile.",
            remedy="Name one that find() lists, or make one: `roofline record -- PROGRAM`.",
        )

    def _below(self, root: Path) -> Iterator[Capture]:
        left = _LOOKED_AT
        for folder, folders, names in os.walk(root):
            folders[:] = [one for one in folders if not one.startswith((".", "node_modules"))]
            for name in names:
                left -= 1
                path = Path(folder, name)
                if name.endswith(CAPTURE_ENDINGS) and not path.is_symlink():
                    with suppress(FileNotFoundError):  # it went while we looked
                        yield Capture(str(path.relative_to(root)), path.stat().st_mtime)
            if left < 0:
                return


def _has_links(folder: Path) -> bool:
    """True for a folder whose links could lead outside, which its reader would follow."""
    return any(path.is_symlink() for path in folder.rglob("*"))


def time_text(unix_s: float) -> str:
    """A time in UTC, to the second."""
    return datetime.fromtimestamp(unix_s, UTC).isoformat(timespec="seconds")


def networks(texts: Sequence[str]) -> list[Network]:
    """The networks that these texts name, and loopback. Raises `BadViewError` for another text."""
    try:
        return [ipaddress.ip_network(one, strict=False) for one in (*LOOPBACK, *texts)]
    except ValueError as error:
        raise BadViewError(
            f"--allow-capture: {error}.",
            remedy="Write a network such as 10.0.0.0/24, or an address.",
        ) from error


def pinned(address: str, allowed: Sequence[Network]) -> str:
    """`HOST:PORT` with the address that HOST has now, so that no later look-up leads elsewhere.

    Raises `CaptureFailedError` where any address of HOST is outside of `allowed`.
    """
    host, _, port = address.rpartition(":")
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise CaptureFailedError(f"“{address[:200]}” is not HOST:PORT.", remedy="Write HOST:PORT.")
    try:
        found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise CaptureFailedError(
            f"{host[:200]} has no address: {error}.", remedy="Check the name."
        ) from error
    every = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    for one in every:
        plain = getattr(one, "ipv4_mapped", None) or one
        if not any(plain in network for network in allowed if network.version == plain.version):
            raise CaptureFailedError(
                f"{host[:200]} is not an address that may be captured.",
                remedy="Allow its network where the tools are started: --allow-capture NET.",
            )
    return f"[{every[0]}]:{port}" if every[0].version == 6 else f"{every[0]}:{port}"
