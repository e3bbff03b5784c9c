"""The places that a server may read for people, and the new runs that it finds there.

A server must not lend its credentials: without a prefix it reads no bucket and no folder. Which
store answers for a bucket (`?endpoint=…`) is the prefix's to say, and not the user's. `RunWatch`
lists the prefixes now and then, and imports new runs by a rule. Nothing is written there.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path

from roofline.children.messages import Body
from roofline.errors import NotAllowedError, RooflineError, SettingsError, UploadRejectedError
from roofline.imports.run_process import RunProcess
from roofline.library.upkeep import OnThread
from roofline.storage import buckets

_log = logging.getLogger("roofline.runs")


@dataclass(frozen=True, slots=True)
class RunPlaces:
    """The prefixes of ROOFLINE_BUCKETS: addresses of buckets or folders, and paths."""

    prefixes: tuple[str, ...]

    @classmethod
    def of(cls, prefixes: Sequence[str]) -> "RunPlaces":
        """Raises `SettingsError` for a prefix that is neither an address nor a whole path."""
        for one in prefixes:
            if not buckets.is_address(one) and not one.startswith("/"):
                raise SettingsError(
                    f"ROOFLINE_BUCKETS has {one[:80]!r}, which is not an address or a whole path.",
                    remedy="Write s3://bucket/prefix, gs://…, az://… or /mnt/folder.",
                )
        return cls(tuple(prefixes))

    def allowed(self, place: str) -> str:
        """`place` as it is read.

        Raises `NotAllowedError` where no prefix has it, and `UploadRejectedError` for what cannot
        be a place.
        """
        text = place.strip()
        if not text.isprintable():
            raise UploadRejectedError(
                "The address has characters that no address has.",
                remedy="Leave out line breaks and other control characters.",
            )
        for prefix in self.prefixes:
            if (found := _below(prefix, text)) is not None:
                return found
        raise NotAllowedError(
            f"This server does not read {buckets.shown(text)}.",
            remedy=f"It reads what is below {', '.join(map(buckets.shown, self.prefixes))}."
            if self.prefixes
            else "Ask its operator to name the place in ROOFLINE_BUCKETS, or send the files with"
            " `roofline push`.",
        )


def _below(prefix: str, place: str) -> str | None:
    """`place` with the options of `prefix`, if it is below it."""
    if buckets.is_address(prefix):
        return _object_below(prefix, place)
    return _path_below(Path(prefix), place.removeprefix("file://"))


def _object_below(prefix: str, place: str) -> str | None:
    if not buckets.is_address(place):
        return None
    buckets.check(place)
    given, known = buckets.parse(place), buckets.parse(prefix)
    if given.options:
        raise UploadRejectedError(
            "The address has options behind its question mark.",
            remedy="Leave them out: the server knows which store it reads.",
        )
    folder = known.key.rstrip("/") + "/" if known.key else ""
    if given.bucket != known.bucket or not f"{given.key.rstrip('/')}/".startswith(folder):
        return None
    options = f"?{known.options}" if known.options else ""
    return f"{given.bucket}/{given.key}{options}"


def _path_below(prefix: Path, place: str) -> str | None:
    """Links are followed before the paths are compared; patterns are not taken on a server."""
    if not place.startswith("/"):
        return None
    path = Path(place).resolve()
    is_pattern = has_magic(place) and not path.exists()
    return str(path) if path.is_relative_to(prefix.resolve()) and not is_pattern else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFound:
    """A folder with captures of hosts; `newest_at` is when its last file was written, Unix seconds.

    `is_complete` is true once its listing was the same in two rounds. `address` is what a run that
    was imported from there has; `None` where it may not be.
    """

    place: str
    address: str | None
    name: str
    hosts: int
    size_bytes: int
    newest_at: float
    mark: str
    is_complete: bool


class RunWatch(OnThread):
    """Lists `prefixes` each `every_s`; `add` imports a place whose address has `rule`, once.

    `address_of` is that of a run which is imported from a place.
    """

    def __init__(
        self,
        prefixes: Sequence[str],
        *,
        every_s: float | None,
        rule: str,
        start_process: Callable[[], RunProcess],
        add: Callable[[str], None],
        address_of: Callable[[str], str],
    ) -> None:
        super().__init__()
        self._prefixes, self._every_s, self._rule = prefixes, every_s, rule
        self._start_process, self._add = start_process, add
        self._address_of = address_of
        self._found: tuple[RunFound, ...] = ()

    @property
    def found(self) -> tuple[RunFound, ...]:
        """The runs of the last round, the newest first."""
        return self._found

    def start(self) -> None:
        """Begins to list, where the server is set to."""
        if self._every_s is not None and self._prefixes:
            self._begin_thread("run watch", self._work)

    def look(self) -> None:
        """One round: lists every prefix, and imports what is complete and has the rule."""
        with closing(self._start_process()) as process:
            listed = [one for prefix in self._prefixes for one in self._below(process, prefix)]
        before = {one.place: one.mark for one in self._found}
        found = {
            one["place"]: RunFound(
                **one,
                address=self._allowed(one["place"]),
                is_complete=before.get(one["place"]) == one["mark"],
            )
            for one in listed
        }
        self._found = tuple(sorted(found.values(), key=lambda one: (-one.newest_at, one.place)))
        for one in self._found:
            if one.is_complete and self._rule and fnmatchcase(one.place, self._rule):
                self._add(one.place)

    def _allowed(self, place: str) -> str | None:
        """The address of a place; a link may lead out of what this server reads."""
        try:
            return self._address_of(place)
        except RooflineError:
            return None

    def _below(self, process: RunProcess, prefix: str) -> list[Body]:
        try:
            return process.find(prefix)
        except RooflineError as error:
            _log.warning("a prefix is not listed: %s", error.message)
            return []

    def _work(self) -> None:
        while True:
            try:
                self.look()
            except RooflineError as error:
                _log.warning("runs are not looked for: %s", error.message)
            except Exception:  # noqa: BLE001 - the thread must go on, as that of `upkeep`
                _log.exception("looking for runs failed by a fault of the server")
            if self._closing.wait(self._every_s):
                return
