"""RunWatch: lists the configured prefixes now and then, and imports new runs by a rule.

A run is complete when its listing is the same in two rounds. Only what is below the prefixes of
ROOFLINE_BUCKETS is listed, and nothing is written there.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from roofline.errors import RooflineError
from roofline.imports.run_process import Answer, RunProcess

_log = logging.getLogger("roofline.runs")


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


class RunWatch:
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
        self._prefixes, self._every_s, self._rule = prefixes, every_s, rule
        self._start_process, self._add = start_process, add
        self._address_of = address_of
        self._found: tuple[RunFound, ...] = ()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def found(self) -> tuple[RunFound, ...]:
        """The runs of the last round, the newest first."""
        return self._found

    def start(self) -> None:
        """Begins to list, where the server is set to."""
        self._closing.clear()
        if self._every_s is not None and self._prefixes:
            self._thread = threading.Thread(target=self._work, name="run watch", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Ends the thread; does nothing where there is none."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def look(self) -> None:
        """One round: lists every prefix, and imports what is complete and has the rule."""
        process = self._start_process()
        try:
            listed = [one for prefix in self._prefixes for one in self._below(process, prefix)]
        finally:
            process.close()
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

    def _below(self, process: RunProcess, prefix: str) -> list[Answer]:
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
